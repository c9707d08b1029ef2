/// The expression of a policy, as `pg_get_expr` writes it, with the calls in it that every row repeats.
struct PolicyText {
    /// The functions called outside of subqueries.
    let calls: [String]
    /// The text with each of these calls in a subquery of its own.
    let wrapped: String

    /// Functions whose result is the same for all rows of a statement: settings, and the schema `auth`.
    private static func isSteady(_ name: String) -> Bool {
        name == "current_setting" || name.hasPrefix("auth.")
    }

    init(_ text: String) {
        var calls: [String] = []
        var wrapped = ""
        var rest = Substring(text)
        while let first = rest.first {
            if first == "'" || first == "\"" {
                wrapped += Self.quoted(&rest, first)
            } else if first == "(", Self.isSubquery(rest) {
                wrapped += Self.parenthesized(&rest)
            } else if Self.isPartOfName(first) {
                let name = rest.prefix { Self.isPartOfName($0) || $0 == "." }
                rest = rest[name.endIndex...]
                guard rest.first == "(", Self.isSteady(String(name)) else {
                    wrapped += name
                    continue
                }
                let arguments = Self.parenthesized(&rest)
                if Self.areConstant(arguments) {
                    calls.append(String(name))
                    wrapped += "( SELECT \(name)\(arguments))"
                } else {
                    wrapped += name + arguments
                }
            } else {
                wrapped.append(rest.removeFirst())
            }
        }
        self.calls = calls
        self.wrapped = wrapped
    }

    /// Whether arguments name no column, so that they are the same for each row.
    private static func areConstant(_ arguments: String) -> Bool {
        var rest = Substring(arguments)
        while let first = rest.first {
            if first == "'" {
                _ = quoted(&rest, first)
            } else if rest.hasPrefix("::") {
                // A type may have several words.
                rest = rest.dropFirst(2).drop { isPartOfName($0) || $0 == " " }
            } else if isPartOfName(first) {
                let word = rest.prefix(while: isPartOfName)
                guard ["true", "false"].contains(word) || word.allSatisfy(\.isNumber) else { return false }
                rest = rest[word.endIndex...]
            } else if first == "\"" {
                return false
            } else {
                rest.removeFirst()
            }
        }
        return true
    }

    static func isPartOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$"
    }

    private static func isSubquery(_ text: Substring) -> Bool {
        text.dropFirst().drop(while: \.isWhitespace).prefix(6).uppercased() == "SELECT"
    }

    /// Takes a text up to the parenthesis that closes the first one.
    static func parenthesized(_ rest: inout Substring) -> String {
        var taken = ""
        var depth = 0
        while let first = rest.first {
            if first == "'" || first == "\"" {
                taken += quoted(&rest, first)
                continue
            }
            if first == "(" { depth += 1 }
            if first == ")" { depth -= 1 }
            taken.append(rest.removeFirst())
            if depth == 0 { break }
        }
        return taken
    }

    /// Takes a text or a name up to its closing quote.
    static func quoted(_ rest: inout Substring, _ quote: Character) -> String {
        var taken = String(rest.removeFirst())
        while let next = rest.first {
            taken.append(rest.removeFirst())
            // A doubled one begins the next piece, which is taken the same way.
            if next == quote { break }
        }
        return taken
    }
}
