import KindredPostgres

// Precedence climbing: one function for all operators, since every level of parentheses costs stack.
extension FormatParser {
    /// The possible content of a parenthesis.
    enum Phrase {
        case condition(ConditionNode)
        case expression(ConditionExpression)
    }

    /// The precedence of operators, lowest first.
    enum Rank: Int {
        case or, and, comparison, sum, product, sign, power
    }

    private enum Infix {
        case or, and
        case comparison(ConditionComparison.Operator)
        case arithmetic(ConditionExpression.Arithmetic, Rank)
    }

    /// An operand with the operators after it of at least the given precedence.
    mutating func phrase(_ rank: Rank) throws -> Phrase {
        let start = current.position
        var phrase = try operand()
        while let infix = infix(current), try extend(&phrase, by: infix, rank: rank, at: start) {}
        return phrase
    }

    /// Adds an operator and its right side to a phrase; false if its precedence is too low.
    private mutating func extend(_ phrase: inout Phrase, by infix: Infix, rank: Rank, at start: Int) throws -> Bool {
        guard Self.rank(infix).rawValue >= rank.rawValue else { return false }
        // A parenthesis on the right side needs the stack of two levels.
        try enter()
        defer { leave() }
        switch infix {
        case .or: phrase = .condition(.any(ConditionList(try conditions(phrase, .or))))
        case .and: phrase = .condition(.all(ConditionList(try conditions(phrase, .and))))
        case .comparison(let operation):
            // A chained comparison is invalid; the caller reports the expected token.
            guard case .expression(let left) = phrase else { return false }
            let word = valueWord(at: start)
            var node = try comparison(left, operation, quantifier: nil)
            node.leftWord = word
            phrase = .condition(.comparison(node))
        case .arithmetic(let operation, let operationRank):
            let left = try expression(phrase, at: start)
            phrase = .expression(try calculation(left, operation, rank: operationRank))
        }
        return true
    }

    private mutating func calculation(
        _ left: ConditionExpression,
        _ operation: ConditionExpression.Arithmetic,
        rank: Rank
    ) throws -> ConditionExpression {
        try countCalculation()
        advance()
        return .arithmetic(operation, left, try expression(rank.operand))
    }

    /// All conditions of a chain of ANDs or ORs.
    private mutating func conditions(_ first: Phrase, _ rank: Rank) throws -> [ConditionNode] {
        var nodes = [try condition(first)]
        while let next = infix(current), Self.rank(next) == rank {
            advance()
            let phrase = try phrase(rank.operand)
            nodes.append(try condition(phrase))
        }
        return nodes
    }

    /// The rest of a comparison, beginning at its operator.
    mutating func comparison(
        _ left: ConditionExpression,
        _ operation: ConditionComparison.Operator,
        quantifier: ConditionComparison.Quantifier?
    ) throws -> ConditionComparison {
        advance()
        let configuration = operation == .search ? try searchConfiguration() : nil
        let ignoresCase = try options(of: operation)
        let start = current.position
        let right = try expression(.sum)
        var node = ConditionComparison(left, operation, with: right, quantifier: quantifier, ignoresCase: ignoresCase)
        node.configuration = configuration
        node.argument = argument(at: start)
        return node
    }

    /// `[english]` or `[public.german]` after SEARCH; nil if there is none.
    private mutating func searchConfiguration() throws -> String? {
        guard accept(.leftBracket) else { return nil }
        var name = ""
        while true {
            guard case .word(let part) = current.kind else { throw expected("a configuration such as english") }
            name += part
            advance()
            guard accept(.dot) else { break }
            name += "."
        }
        try require(.rightBracket)
        return name
    }

    func condition(_ phrase: Phrase) throws -> ConditionNode {
        if case .condition(let node) = phrase { return node }
        throw expected("a comparison such as == or LIKE")
    }

    /// A value or key, with operators of at least the given precedence.
    mutating func expression(_ rank: Rank) throws -> ConditionExpression {
        let start = current.position
        let phrase = try phrase(rank)
        return try expression(phrase, at: start)
    }

    func expression(_ phrase: Phrase, at position: Int) throws -> ConditionExpression {
        if case .expression(let expression) = phrase { return expression }
        throw KindredError.invalidFormat("a value or a key is expected here, not a condition", at: position)
    }
}

extension FormatParser {
    /// The comparison operator of a token.
    static func operation(_ token: FormatToken) -> ConditionComparison.Operator? {
        switch token.kind {
        case .symbol(.equal): .equal
        case .symbol(.notEqual): .notEqual
        case .symbol(.less): .less
        case .symbol(.lessOrEqual): .lessOrEqual
        case .symbol(.greater): .greater
        case .symbol(.greaterOrEqual): .greaterOrEqual
        default:
            switch token.keyword {
            case .between: .between
            case .isIn: .isIn
            case .like: .like
            case .matches: .matches
            case .search: .search
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .contains: .contains
            default: nil
            }
        }
    }

    private func infix(_ token: FormatToken) -> Infix? {
        switch token.kind {
        case .symbol(.or): .or
        case .symbol(.and): .and
        case .symbol(.plus): .arithmetic(.plus, .sum)
        case .symbol(.minus): .arithmetic(.minus, .sum)
        case .symbol(.times): .arithmetic(.times, .product)
        case .symbol(.divide): .arithmetic(.divide, .product)
        case .symbol(.power): .arithmetic(.power, .power)
        default:
            switch token.keyword {
            case .or: .or
            case .and: .and
            default: Self.operation(token).map(Infix.comparison)
            }
        }
    }

    private static func rank(_ infix: Infix) -> Rank {
        switch infix {
        case .or: .or
        case .and: .and
        case .comparison: .comparison
        case .arithmetic(_, let rank): rank
        }
    }

    /// `[c]` after an operator.
    private mutating func options(of operation: ConditionComparison.Operator) throws -> Bool {
        guard accept(.leftBracket) else { return false }
        switch operation {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .search:
            throw KindredError.invalidFormat("\(operation.rawValue) takes no options", at: current.position)
        default: break
        }
        guard case .word(let options) = current.kind else { throw expected("the option c") }
        guard options.lowercased() == "c" else {
            let isDiacritic = options.lowercased().contains("d")
            throw KindredError.invalidFormat(
                isDiacritic
                    ? "the option d (ignoring diacritics) is not supported, only c is"
                    : "c is the only option that is supported",
                at: current.position
            )
        }
        advance()
        try require(.rightBracket)
        return true
    }
}

extension FormatParser.Rank {
    /// The precedence of the right operand: sums and products are left-associative, powers right-associative.
    fileprivate var operand: Self {
        switch self {
        case .or: .and
        case .and: .comparison
        case .comparison: .sum
        case .sum: .product
        case .product, .sign, .power: .sign
        }
    }
}
