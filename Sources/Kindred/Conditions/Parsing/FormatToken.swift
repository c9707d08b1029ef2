/// A word of a condition's format string and where it begins.
struct FormatToken: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A key, or a keyword: which of them depends on where it stands.
        case word(String)
        /// A key that was written with `#` before it, so that it is never a keyword.
        case key(String)
        /// `@count` and other collection operators, without the `@`.
        case collectionOperator(String)
        case string(String)
        case integer(Int64)
        /// A number with a fraction or an exponent, or too large for 64 bits, as it was written.
        case decimal(String)
        case placeholder(Placeholder)
        case symbol(Symbol)
        case end
    }

    /// What an argument must be.
    enum Placeholder: Sendable, Equatable {
        case any, keyPath, integer, number, string
    }

    enum Symbol: String, Sendable, CaseIterable {
        case equal = "=", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
        case and = "&&", or = "||", not = "!"
        case plus = "+", minus = "-", times = "*", divide = "/", power = "**"
        case leftParenthesis = "(", rightParenthesis = ")", leftBrace = "{", rightBrace = "}"
        case leftBracket = "[", rightBracket = "]", comma = ",", dot = "."
    }

    let kind: Kind
    /// Characters from the beginning of the format string, from 1.
    let position: Int
}

extension FormatToken: CustomStringConvertible {
    /// The token as an error's sentence names it; a string's content is not shown, for it may be a value.
    var description: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .key(let key): "\"#\(key)\""
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
