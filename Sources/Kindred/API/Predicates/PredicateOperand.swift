import KindredPostgres

/// The meaning of a part of a predicate.
indirect enum PredicateOperand: Sendable {
    /// A value, a column, an object, or members, as a path.
    case expression(ConditionExpression)
    case condition(ConditionNode)
    /// A condition on an optional's value; false without a value.
    case optionalCondition(ConditionNode, isPresent: ConditionNode)
    /// One operand or another.
    case choice(ConditionNode, PredicateOperand, PredicateOperand)
    /// The members that fulfil a condition.
    case members(MemberCondition)
    case range(lower: PredicateOperand, upper: PredicateOperand, isClosed: Bool)

    static let null = PredicateOperand.expression(.value(nil))

    /// The operand as a condition.
    ///
    /// Throws for an operand that is not a Boolean.
    func condition() throws -> ConditionNode {
        switch self {
        case .condition(let node), .optionalCondition(let node, _): return node
        case .expression(.value(.bool(let isTrue)?)): return .constant(isTrue)
        case .expression(.value(nil)): return .constant(false)
        case .expression(.path(let keys)):
            return .comparison(ConditionComparison(.path(keys), .equal, with: .value(.bool(true))))
        case .choice(let test, let first, let second):
            return .choice(test, then: try first.condition(), else: try second.condition())
        case .expression, .members, .range: throw PredicateTranslator.untranslatable("a value in place of a condition")
        }
    }

    /// Whether there is a value at all.
    func isPresent() throws -> ConditionNode {
        switch self {
        case .condition: return .constant(true)
        case .optionalCondition(_, let isPresent): return isPresent
        case .expression(.value(let value)): return .constant(value != nil)
        case .expression(let expression):
            return .comparison(ConditionComparison(expression, .notEqual, with: .value(nil)))
        case .choice(let test, let first, let second):
            return .choice(test, then: try first.isPresent(), else: try second.isPresent())
        case .members, .range: throw PredicateTranslator.untranslatable("an optional sequence")
        }
    }

    /// Applies an operation that needs a plain expression.
    func map(_ transform: (ConditionExpression) throws -> PredicateOperand) throws -> PredicateOperand {
        switch self {
        case .expression(let expression): return try transform(expression)
        case .choice(let test, let first, let second):
            return .choice(test, try first.map(transform), try second.map(transform))
        case .condition(.constant(let isTrue)): return try transform(.value(.bool(isTrue)))
        case .condition, .optionalCondition, .members, .range:
            throw PredicateTranslator.untranslatable("a condition in place of a value")
        }
    }

    func map(
        _ other: PredicateOperand,
        _ transform: (ConditionExpression, ConditionExpression) throws -> PredicateOperand
    ) throws -> PredicateOperand {
        try map { left in try other.map { right in try transform(left, right) } }
    }

    /// Equality, where nil equals nil.
    func isEqual(to other: PredicateOperand) throws -> ConditionNode {
        switch (self, other) {
        case (.expression, .expression):
            return try map(other) { .condition(.comparison(ConditionComparison($0, .equal, with: $1))) }.condition()
        case (.choice(let test, let first, let second), _):
            return .choice(test, then: try first.isEqual(to: other), else: try second.isEqual(to: other))
        case (_, .choice): return try other.isEqual(to: self)
        default:
            // Boolean operands; at least one operand is a condition.
            let (left, right) = (try condition(), try other.condition())
            let (isLeft, isRight) = (try isPresent(), try other.isPresent())
            // Both are true, both are false, or both are missing.
            let bothFail = ConditionNode.all([isLeft, isRight, .not(left), .not(right)])
            return .any([.all([left, right]), bothFail, .all([.not(isLeft), .not(isRight)])])
        }
    }
}

extension ConditionNode {
    static func choice(_ test: ConditionNode, then first: ConditionNode, else second: ConditionNode) -> ConditionNode {
        .any([.all([test, first]), .all([.not(test), second])])
    }
}
