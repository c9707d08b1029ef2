import KindredPostgres

/// A token of a condition's format string, with its position.
struct FormatToken: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A key, or a keyword, depending on its position.
        case word(String)
        /// A key written with `#`, which is never a keyword.
        case key(String)
        /// `$pet`, without the `$`: a member in SUBQUERY.
        case variable(String)
        /// `@count` and other collection operators, without the `@`.
        case collectionOperator(String)
        case string(String)
        case integer(Int64)
        /// A number with a fraction or an exponent, or too large for 64 bits, as written.
        case decimal(String)
        case placeholder(Placeholder)
        case symbol(Symbol)
        case end
    }

    /// The required type of an argument.
    enum Placeholder: Sendable, Equatable {
        case any, keyPath, integer, number, string
    }

    enum Symbol: String, Sendable {
        case equal = "=", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
        case and = "&&", or = "||", not = "!"
        case plus = "+", minus = "-", times = "*", divide = "/", power = "**"
        case leftParenthesis = "(", rightParenthesis = ")", leftBrace = "{", rightBrace = "}"
        case leftBracket = "[", rightBracket = "]", comma = ",", dot = "."
    }

    /// A reserved word; case does not matter.
    enum Keyword: String, Sendable {
        case and = "AND", or = "OR", not = "NOT", anyOf = "ANY", someOf = "SOME", allOf = "ALL", noneOf = "NONE"
        case between = "BETWEEN", isIn = "IN", like = "LIKE", matches = "MATCHES", search = "SEARCH", beginsWith =
            "BEGINSWITH"
        case endsWith = "ENDSWITH", contains = "CONTAINS", yes = "YES", no = "NO", isTrue = "TRUE", isFalse = "FALSE"
        case subquery = "SUBQUERY"
        case null = "NULL", `nil` = "NIL", itself = "SELF", always = "TRUEPREDICATE", never = "FALSEPREDICATE"
    }

    let kind: Kind
    /// The keyword of a `.word`, where one is allowed.
    let keyword: Keyword?
    /// The position in the format string, in characters from 1.
    let position: Int

    init(_ kind: Kind, position: Int) {
        self.kind = kind
        self.position = position
        keyword = if case .word(let word) = kind { Keyword(word) } else { nil }
    }
}

extension FormatToken.Keyword {
    /// Whether the word is a value.
    var isValue: Bool {
        switch self {
        case .yes, .no, .isTrue, .isFalse, .null, .nil, .itself: true
        default: false
        }
    }

    /// Whether the word is a condition, or the prefix of a condition.
    var isPrefix: Bool {
        switch self {
        case .not, .always, .never, .anyOf, .someOf, .allOf, .noneOf: true
        default: false
        }
    }

    private static let lengths = 2...14
    private static let words = Dictionary(
        uniqueKeysWithValues: [
            and, or, not, anyOf, someOf, allOf, noneOf, between, isIn, like, matches, search, beginsWith, endsWith,
            contains,
            yes, no,
            isTrue, isFalse, null, `nil`, itself, always, never, subquery,
        ].map { ($0.rawValue, $0) }
    )

    fileprivate init?(_ word: String) {
        guard Self.lengths.contains(word.utf8.count), let keyword = Self.words[word.uppercased()] else { return nil }
        self = keyword
    }
}

extension FormatToken.Symbol {
    /// The symbol of one character.
    init?(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "=": self = .equal
        case "<": self = .less
        case ">": self = .greater
        case "!": self = .not
        case "+": self = .plus
        case "-": self = .minus
        case "*": self = .times
        case "/": self = .divide
        case "(": self = .leftParenthesis
        case ")": self = .rightParenthesis
        case "{": self = .leftBrace
        case "}": self = .rightBrace
        case "[": self = .leftBracket
        case "]": self = .rightBracket
        case ",": self = .comma
        case ".": self = .dot
        default: return nil
        }
    }
}

extension FormatToken: CustomStringConvertible {
    /// The token in error messages; a string's content is hidden, since it may be a value.
    var description: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .key(let key): "\"#\(key)\""
        case .variable(let name): "\"$\(name)\""
        case .collectionOperator(let name): "\"@\(name)\""
        case .string: "a string"
        case .integer, .decimal: "a number"
        case .placeholder(.any): "%@"
        case .placeholder(.keyPath): "%K"
        case .placeholder: "a placeholder"
        case .symbol(let symbol): "\"\(symbol.rawValue)\""
        case .end: "the end"
        }
    }
}
