import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PredicateExpressions.Conjunction: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .condition(.all([try translator.condition(lhs), try translator.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .condition(.any([try translator.condition(lhs), try translator.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .condition(.not(try translator.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .choice(
            try translator.condition(test), try translator.operand(trueBranch),
            try translator.operand(falseBranch))
    }
}

extension PredicateExpressions.Equal: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .condition(try translator.operand(lhs).isEqual(to: try translator.operand(rhs)))
    }
}

extension PredicateExpressions.NotEqual: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .condition(.not(try translator.operand(lhs).isEqual(to: try translator.operand(rhs))))
    }
}

extension PredicateExpressions.Comparison: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let operation: ConditionComparison.Operator =
            switch self.op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw PredicateTranslator.untranslatable("a new kind of comparison")
            }
        return try translator.operand(lhs).map(try translator.operand(rhs)) {
            .condition(.comparison(ConditionComparison($0, operation, with: $1)))
        }
    }
}

extension PredicateExpressions.Arithmetic: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let operation: ConditionExpression.Arithmetic =
            switch self.op {
            case .add: .plus
            case .subtract: .minus
            case .multiply: .times
            @unknown default: throw PredicateTranslator.untranslatable("a new kind of calculation")
            }
        return try translator.operand(lhs).map(try translator.operand(rhs)) {
            .expression(.arithmetic(operation, $0, $1))
        }
    }
}

extension PredicateExpressions.IntDivision: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(lhs).map(try translator.operand(rhs)) { .expression(.arithmetic(.divide, $0, $1)) }
    }
}

extension PredicateExpressions.FloatDivision: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(lhs).map(try translator.operand(rhs)) { .expression(.arithmetic(.divide, $0, $1)) }
    }
}

extension PredicateExpressions.IntRemainder: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(lhs).map(try translator.operand(rhs)) { .expression(.arithmetic(.remainder, $0, $1)) }
    }
}

extension PredicateExpressions.UnaryMinus: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(wrapped).map { .expression(.negative($0)) }
    }
}
