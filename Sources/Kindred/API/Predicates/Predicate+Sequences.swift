import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PredicateOperand {
    /// Whether there is any member, of those alone that a further condition leaves.
    func anyMember(_ narrowed: (MemberCondition) throws -> MemberCondition) throws -> ConditionNode {
        switch self {
        case .members(let members): return .members(.anyMember, try narrowed(members))
        case .choice(let test, let first, let second):
            return .choice(test, then: try first.anyMember(narrowed), else: try second.anyMember(narrowed))
        case .expression(.path(let path)): return .members(.anyMember, try narrowed(MemberCondition(any: path)))
        // An optional without a value has no members.
        case .expression(.value(nil)): return .constant(false)
        default: throw PredicateTranslator.untranslatable("a condition on the elements of something other than members")
        }
    }
}

extension PredicateExpressions.SequenceContainsWhere: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let members = try translator.operand(sequence)
        return .condition(
            try members.anyMember { try translator.narrowed($0, variable.key) { try $0.condition(test) } })
    }
}

extension PredicateExpressions.SequenceAllSatisfy: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let members = try translator.operand(sequence)
        return .condition(
            .not(try members.anyMember { try translator.narrowed($0, variable.key) { .not(try $0.condition(test)) } }))
    }
}

extension PredicateExpressions.Filter: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let members: MemberCondition
        switch try translator.operand(sequence) {
        case .members(let narrowed): members = narrowed
        case .expression(.path(let path)): members = MemberCondition(any: path)
        default: throw PredicateTranslator.untranslatable("a filter of something other than members")
        }
        return .members(try translator.narrowed(members, variable.key) { try $0.condition(filter) })
    }
}

extension PredicateExpressions.SequenceContains: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let element = try translator.operand(self.element)
        return try translator.operand(sequence).map(element) { sequence, element in
            switch sequence {
            case .values, .objects: .condition(.comparison(ConditionComparison(element, .isIn, with: sequence)))
            default: .condition(.comparison(ConditionComparison(sequence, .contains, with: element)))
            }
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        guard case .range(let lower, let upper, let isClosed) = try translator.operand(range) else {
            throw PredicateTranslator.untranslatable("a range that is a column")
        }
        let element = try translator.operand(self.element)
        func compare(_ operation: ConditionComparison.Operator, _ bound: PredicateOperand) throws -> ConditionNode {
            try element.map(bound) { .condition(.comparison(ConditionComparison($0, operation, with: $1))) }.condition()
        }
        return .condition(
            .all([try compare(.greaterOrEqual, lower), try compare(isClosed ? .lessOrEqual : .less, upper)]))
    }
}

extension PredicateExpressions.CollectionContainsCollection: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try textOperand(
            .contains, type: Base.Output.self, whole: try translator.operand(base), part: try translator.operand(other))
    }
}

extension PredicateExpressions.SequenceStartsWith: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try textOperand(
            .beginsWith, type: Base.Output.self, whole: try translator.operand(base),
            part: try translator.operand(prefix))
    }
}

private func textOperand(
    _ operation: ConditionComparison.Operator,
    type: Any.Type,
    whole: PredicateOperand,
    part: PredicateOperand
) throws -> PredicateOperand {
    guard type == String.self || type == Substring.self else {
        throw PredicateTranslator.untranslatable("a search for several elements at once")
    }
    return try whole.map(part) { .condition(.comparison(ConditionComparison($0, operation, with: $1))) }
}
