import KindredPostgres

/// Splits a condition's format string into tokens.
struct FormatLexer {
    /// The maximum length of a format; long lists belong in arguments.
    static let maximumBytes = 65_536

    private let scalars: [Unicode.Scalar]
    private var index = 0

    private init(_ format: String) {
        scalars = Array(format.unicodeScalars)
    }

    /// Returns the tokens of a format string, `.end` last.
    ///
    /// Throws `KindredError` `.invalidCondition` with the position of an invalid token.
    static func tokens(of format: String) throws -> [FormatToken] {
        guard format.utf8.count <= maximumBytes else {
            throw KindredError(
                .invalidCondition,
                "A condition's format has at most \(maximumBytes) bytes; give long lists as arguments"
            )
        }
        var lexer = FormatLexer(format)
        var tokens: [FormatToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private var current: Unicode.Scalar? { peek(0) }

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        index + distance < scalars.count ? scalars[index + distance] : nil
    }

    private mutating func next() throws -> FormatToken {
        while let scalar = current, scalar.isSpace { index += 1 }
        let start = index
        return FormatToken(try kind(), position: start + 1)
    }

    private mutating func kind() throws -> FormatToken.Kind {
        guard let scalar = current else { return .end }
        switch scalar {
        case "'", "\"": return .string(try string(quote: scalar))
        case "%": return .placeholder(try placeholder())
        case "0"..."9": return try number()
        case "#":
            index += 1
            if let quote = current, quote == "\"" || quote == "'" { return .key(try string(quote: quote)) }
            guard let word = word() else { throw error("a key is expected after #") }
            return .key(word)
        case "@":
            index += 1
            guard let word = word() else { throw error("a collection operator such as @count is expected") }
            return .collectionOperator(word)
        case "$":
            index += 1
            guard let word = word() else { throw error("a variable such as $pet is expected after $") }
            return .variable(word)
        case "." where peek(1)?.isDigit == true: return try number()
        default:
            if let word = word() { return .word(word) }
            return .symbol(try symbol())
        }
    }

    private mutating func word() -> String? {
        guard let first = current, first.beginsKey else { return nil }
        let start = index
        while let scalar = current, scalar.continuesKey { index += 1 }
        let word = scalars[start..<index]
        guard word.allSatisfy(\.isASCII) else {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: word)
            return String(view)
        }
        return unsafe String(unsafeUninitializedCapacity: word.count) { buffer in
            for (offset, scalar) in word.enumerated() {
                unsafe buffer[offset] = UInt8(truncatingIfNeeded: scalar.value)
            }
            return word.count
        }
    }

    private mutating func symbol() throws -> FormatToken.Symbol {
        let first = current ?? " "
        let (symbol, length): (FormatToken.Symbol?, Int) =
            switch (first, peek(1)) {
            case ("=", "="): (.equal, 2)
            case ("!", "="), ("<", ">"): (.notEqual, 2)
            case ("<", "="), ("=", "<"): (.lessOrEqual, 2)
            case (">", "="), ("=", ">"): (.greaterOrEqual, 2)
            case ("&", "&"): (.and, 2)
            case ("|", "|"): (.or, 2)
            case ("*", "*"): (.power, 2)
            default: (FormatToken.Symbol(first), 1)
            }
        guard let symbol else {
            throw error("the character U+\(String(first.value, radix: 16, uppercase: true)) is not expected")
        }
        index += length
        return symbol
    }

    private func error(_ message: String) -> KindredError {
        .invalidFormat(message, at: index + 1)
    }
}

extension FormatLexer {
    private mutating func number() throws -> FormatToken.Kind {
        var text = digits()
        var isDecimal = false
        if current == ".", peek(1)?.isDigit == true {
            index += 1
            text += ".\(digits())"
            isDecimal = true
        }
        if let exponent = current, exponent == "e" || exponent == "E" {
            let isSigned = peek(1) == "+" || peek(1) == "-"
            if peek(isSigned ? 2 : 1)?.isDigit == true {
                text += peek(1) == "-" ? "e-" : "e"
                index += isSigned ? 2 : 1
                text += digits()
                isDecimal = true
            }
        }
        if let scalar = current, scalar.beginsKey { throw error("a number cannot be followed by a letter") }
        if text.hasPrefix(".") { text = "0\(text)" }
        if !isDecimal, let integer = Int64(text) { return .integer(integer) }
        return .decimal(text)
    }

    private mutating func digits() -> String {
        var digits = ""
        while let scalar = current, scalar.isDigit {
            digits.unicodeScalars.append(scalar)
            index += 1
        }
        return digits
    }

    private mutating func string(quote: Unicode.Scalar) throws -> String {
        let start = index
        index += 1
        var string = String.UnicodeScalarView()
        while let scalar = current {
            index += 1
            if scalar == quote { return String(string) }
            string.append(scalar == "\\" ? try escape() : scalar)
        }
        throw KindredError.invalidFormat("the string that begins here is not terminated", at: start + 1)
    }

    private mutating func escape() throws -> Unicode.Scalar {
        guard let scalar = current else { throw error("a string ends in a backslash") }
        index += 1
        switch scalar {
        case "\\", "'", "\"": return scalar
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = current?.hexadecimalValue else { throw error("\\u needs four hexadecimal digits") }
                code = code << 4 | digit
                index += 1
            }
            guard let result = Unicode.Scalar(code) else { throw error("\\u must name a Unicode scalar") }
            return result
        default:
            index -= 1
            throw error("after a backslash one of \\ ' \" n r t u is expected; a backslash itself is written \\\\")
        }
    }

    private mutating func placeholder() throws -> FormatToken.Placeholder {
        index += 1
        // C's length modifiers, which have no effect here.
        let start = index
        while let scalar = current, "hlqzt".unicodeScalars.contains(scalar) { index += 1 }
        guard let conversion = current else { throw error("%@, %K, %d or %f is expected") }
        index += 1
        switch conversion {
        case "@" where index == start + 1: return .any
        case "K" where index == start + 1: return .keyPath
        case "s" where index == start + 1: return .string
        case "d", "i", "u", "D", "U": return .integer
        case "f", "F", "e", "E", "g", "G": return .number
        default:
            index -= 1
            throw error("%@, %K, %d or %f is expected")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }

    // Property look-ups are slow, and nearly all formats are ASCII.
    fileprivate var isSpace: Bool { isASCII ? value == 32 || (9...13).contains(value) : properties.isWhitespace }

    fileprivate var beginsKey: Bool {
        guard isASCII else { return properties.isAlphabetic }
        return ("a"..."z").contains(self) || ("A"..."Z").contains(self) || self == "_"
    }

    fileprivate var continuesKey: Bool {
        if beginsKey || isDigit || self == "$" { return true }
        guard !isASCII else { return false }
        return properties.generalCategory == .nonspacingMark || properties.numericType == .decimal
    }

    fileprivate var hexadecimalValue: UInt32? {
        switch self {
        case "0"..."9": value - 48
        case "a"..."f": value - 87
        case "A"..."F": value - 55
        default: nil
        }
    }
}

extension KindredError {
    /// The error for an invalid format string, with the position in characters from 1.
    static func invalidFormat(_ message: String, at position: Int) -> KindredError {
        KindredError(.invalidCondition, "The condition cannot be read at character \(position): \(message)")
    }
}
