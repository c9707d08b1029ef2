import KindredPostgres

extension FormatParser {
    private enum Beginning {
        case parenthesis, negation, sign
        case quantifier(ConditionComparison.Quantifier)
        case constant(Bool)
        case value
    }

    /// An operand: a value, a key, a parenthesis, or one of them with a prefix.
    mutating func operand() throws -> Phrase {
        switch beginning {
        case .parenthesis: return try parenthesis()
        case .negation: return try negation()
        case .sign: return .expression(try signed())
        case .quantifier(let quantifier): return .condition(.comparison(try quantified(quantifier)))
        case .constant(let value):
            advance()
            return .condition(.constant(value))
        case .value: return .expression(try primary())
        }
    }

    private var beginning: Beginning {
        switch current.kind {
        case .symbol(.leftParenthesis): .parenthesis
        case .symbol(.not): .negation
        case .symbol(.minus), .symbol(.plus): .sign
        case .word:
            switch current.keyword {
            case .not: .negation
            case .always: .constant(true)
            case .never: .constant(false)
            case .anyOf, .someOf: quantifier(.anyMember)
            case .allOf: quantifier(.allMembers)
            case .noneOf: quantifier(.noMember)
            default: .value
            }
        default: .value
        }
    }

    private mutating func parenthesis() throws -> Phrase {
        try enter()
        defer { leave() }
        advance()
        let phrase = try phrase(.or)
        try require(.rightParenthesis)
        return phrase
    }

    private mutating func negation() throws -> Phrase {
        try enter()
        defer { leave() }
        advance()
        let phrase = try phrase(.comparison)
        return .condition(.not(try condition(phrase)))
    }

    private mutating func signed() throws -> ConditionExpression {
        var isNegative = false
        while isAt(.minus) || isAt(.plus) {
            if isAt(.minus) { isNegative.toggle() }
            advance()
        }
        let operand = try expression(.sign)
        return isNegative ? negative(operand) : operand
    }

    private func negative(_ expression: ConditionExpression) -> ConditionExpression {
        switch expression {
        case .value(.integer(let integer)) where integer != .min: .value(.integer(-integer))
        case .value(.numeric(let numeric)): numeric.negated.map { .value(.numeric($0)) } ?? .negative(expression)
        default: .negative(expression)
        }
    }

    private func quantifier(_ quantifier: ConditionComparison.Quantifier) -> Beginning {
        // A key may be called `any`: then an operator, a dot or the end follows.
        switch following.kind {
        case .word, .placeholder: Self.operation(following) == nil ? .quantifier(quantifier) : .value
        case .key, .variable, .collectionOperator("through"), .symbol(.leftParenthesis): .quantifier(quantifier)
        default: .value
        }
    }

    private mutating func quantified(_ quantifier: ConditionComparison.Quantifier) throws -> ConditionComparison {
        advance()
        let start = current.position
        let left = try expression(.sum)
        guard case .path(let path) = left, !path.keys.isEmpty else {
            throw KindredError.invalidFormat("after ANY, ALL or NONE a key path is expected", at: start)
        }
        guard let operation = Self.operation(current) else { throw expected("a comparison such as == or LIKE") }
        return try comparison(left, operation, quantifier: quantifier)
    }
}

extension FormatParser {
    private mutating func primary() throws -> ConditionExpression {
        switch current.kind {
        case .symbol(.leftBrace): return try list()
        // `"a.b".name`: nothing else follows a string with a dot.
        case .string where following.kind == .symbol(.dot): return try path()
        case .string(let text):
            advance()
            return .value(.string(text))
        case .integer(let integer):
            advance()
            return .value(.integer(integer))
        case .decimal(let text):
            guard let numeric = PostgresNumeric(text) else { throw expected("a number that PostgreSQL can hold") }
            advance()
            return .value(.numeric(numeric))
        case .placeholder(.keyPath), .key, .collectionOperator, .variable: return try path()
        case .placeholder(let placeholder): return try argument(placeholder)
        case .word:
            if current.keyword == .subquery, following.kind == .symbol(.leftParenthesis) { return try subquery() }
            if let constant {
                advance()
                return constant
            }
            return try path()
        case .symbol, .end: throw expected("a value or a key")
        }
    }

    private var constant: ConditionExpression? {
        switch current.keyword {
        case .isTrue, .yes: .value(.bool(true))
        case .isFalse, .no: .value(.bool(false))
        case .null, .nil: .value(nil)
        default: nil
        }
    }

    /// `{a, b}`: values become one list of values; other expressions stay a list of expressions.
    private mutating func list() throws -> ConditionExpression {
        try enter()
        defer { leave() }
        advance()
        var elements: [ConditionExpression] = []
        if !isAt(.rightBrace) {
            repeat {
                elements.append(try expression(.sum))
            } while accept(.comma)
        }
        try require(.rightBrace)
        var values: [PostgresValue?] = []
        for element in elements {
            guard case .value(let value) = element else { return .list(elements) }
            values.append(value)
        }
        return .values(values)
    }

    private mutating func argument(_ placeholder: FormatToken.Placeholder) throws -> ConditionExpression {
        let position = current.position
        let argument = try takeArgument()
        switch (placeholder, argument) {
        case (.integer, .value(.integer)), (.string, .value(.string)), (.any, .value): break
        case (.number, .value(.integer)), (.number, .value(.float)), (.number, .value(.double)),
            (.number, .value(.numeric)):
            break
        case (.integer, _): throw unfitArgument("an integer", at: position)
        case (.number, _): throw unfitArgument("a number", at: position)
        case (.string, _): throw unfitArgument("a string", at: position)
        default: break
        }
        return switch argument {
        case .null: .value(nil)
        case .value(let value): .value(value)
        case .list(let values): .values(values)
        case .object(let object): .object(object)
        case .objects(let objects): .objects(objects)
        }
    }
}

extension PostgresNumeric {
    fileprivate var negated: PostgresNumeric? {
        let text = description
        return text.hasPrefix("-") ? PostgresNumeric(text.dropFirst()) : PostgresNumeric("-\(text)")
    }
}
