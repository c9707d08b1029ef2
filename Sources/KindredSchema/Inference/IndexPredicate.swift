/// Reads the condition of a partial index, as `pg_get_expr` writes it.
enum IndexPredicate {
    private enum Token: Equatable {
        case word(String)
        case quoted(String)
    }

    /// Returns the columns that the condition requires to be NOT NULL, or nil if it requires anything else.
    ///
    /// Understands `(a IS NOT NULL)` and `((a IS NOT NULL) AND ("b" IS NOT NULL))`.
    static func notNullColumns(_ predicate: String) -> [String]? {
        guard let tokens = tokens(of: predicate) else { return nil }
        var columns: [String] = []
        var rest = tokens[...]
        while true {
            switch rest.popFirst() {
            case .word(let name), .quoted(let name): columns.append(name)
            case nil: return nil
            }
            guard rest.starts(with: [.word("IS"), .word("NOT"), .word("NULL")]) else { return nil }
            rest = rest.dropFirst(3)
            if rest.isEmpty { return columns }
            guard rest.popFirst() == .word("AND") else { return nil }
        }
    }

    /// Splits a condition into words without parentheses; nil if it has anything else.
    private static func tokens(of predicate: String) -> [Token]? {
        var tokens: [Token] = []
        var rest = predicate.unicodeScalars[...]
        while let first = rest.first {
            if first == " " || first == "(" || first == ")" {
                rest.removeFirst()
            } else if first == "\"" {
                guard let name = quotedName(&rest) else { return nil }
                tokens.append(.quoted(name))
            } else {
                let word = rest.prefix { $0.properties.isAlphabetic || $0 == "_" || $0 == "$" || $0.isASCIIDigit }
                if word.isEmpty { return nil }
                tokens.append(.word(String(word)))
                rest = rest[word.endIndex...]
            }
        }
        return tokens
    }

    private static func quotedName(_ rest: inout Substring.UnicodeScalarView) -> String? {
        rest.removeFirst()
        var name = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            guard next == "\"" else {
                name.append(next)
                continue
            }
            guard rest.first == "\"" else { return String(name) }
            rest.removeFirst()
            name.append("\"")
        }
        return nil
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIDigit: Bool {
        (0x30...0x39).contains(value)
    }
}
