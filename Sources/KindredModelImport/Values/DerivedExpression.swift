import KindredPostgres

/// The expression of a derived attribute, as far as PostgreSQL can keep it in a generated column.
enum DerivedExpression {
    /// The meaning of an expression.
    enum Meaning: Equatable {
        /// Another attribute, whole, upper or lower case: `name`, `uppercase:(name)`.
        case attribute(String, function: String?)
        /// Texts and attributes one behind the other: `first ++ " " ++ last`.
        case concatenation([Part])
        /// The time at which the object is saved: `now()`.
        case now
        /// Something else, with the reason.
        case unknown(String)
    }

    enum Part: Equatable {
        case text(String)
        case attribute(String)
    }

    static func meaning(of expression: String) -> Meaning {
        let text = expression.trimmed
        if text.isEmpty { return .unknown("it has no expression") }
        if text == "now()" { return .now }
        if isName(text) { return .attribute(text, function: nil) }
        for (prefix, function) in [("uppercase:(", "upper"), ("lowercase:(", "lower")] where text.hasPrefix(prefix) {
            let inner = String(text.dropFirst(prefix.count).dropLast()).trimmed
            if text.hasSuffix(")"), isName(inner) { return .attribute(inner, function: function) }
        }
        if text.hasPrefix("canonical:(") {
            return .unknown("PostgreSQL's unaccent() is not immutable, so no generated column can keep \"\(text)\"")
        }
        if text.contains("@") || text.contains(".") && !text.contains("++") {
            return .unknown("a generated column sees its own row only, not \"\(text)\"")
        }
        let parts = split(text)
        guard let parts, parts.count > 1 else { return .unknown("\"\(text)\" is not translated") }
        var found: [Part] = []
        for part in parts {
            if part.count >= 2, let quote = part.first, quote == "\"" || quote == "'", part.last == quote,
                !part.dropFirst().dropLast().contains(where: { $0 == quote || $0 == "\\" })
            {
                found.append(.text(String(part.dropFirst().dropLast())))
            } else if isName(part) {
                found.append(.attribute(part))
            } else {
                return .unknown("\"\(text)\" is not translated")
            }
        }
        return .concatenation(found)
    }

    /// The parts between `++` outside of quotes; nil where a quote is not closed.
    private static func split(_ text: String) -> [String]? {
        var parts: [String] = []
        var part = ""
        var quote: Character?
        var rest = Substring(text)
        while let character = rest.popFirst() {
            if let open = quote {
                part.append(character)
                if character == open { quote = nil }
            } else if character == "+", rest.first == "+" {
                rest.removeFirst()
                parts.append(part.trimmed)
                part = ""
            } else {
                if character == "\"" || character == "'" { quote = character }
                part.append(character)
            }
        }
        return quote == nil ? parts + [part.trimmed] : nil
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

extension String {
    /// Without white space at its ends.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }
}
