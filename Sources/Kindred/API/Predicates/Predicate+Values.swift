import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PredicateExpressions.Variable: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(key)
    }
}

extension PredicateExpressions.KeyPath: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let root = try translator.operand(self.root)
        switch kind {
        case .collectionCount?: return try count(root)
        case .collectionIsEmpty?:
            if Root.Output.self == String.self {
                return .condition(try root.isEqual(to: .expression(.value(.string("")))))
            }
            return .condition(.not(try root.anyMember { $0 }))
        case nil: return try translator.follow(keyPath, from: root)
        case _?: throw PredicateTranslator.untranslatable("the first or last of members, which have no order")
        }
    }

    private func count(_ members: PredicateOperand) throws -> PredicateOperand {
        guard Root.Output.self is any ObjectSequence.Type else {
            throw PredicateTranslator.untranslatable("the count of something other than members")
        }
        switch members {
        case .members(let members): return .expression(.countWhere(members))
        default:
            return try members.map { expression in
                guard case .path(let members) = expression else {
                    throw PredicateTranslator.untranslatable("the count of something other than members")
                }
                return .expression(.count(members))
            }
        }
    }
}

/// A sequence of objects, which in a predicate are members.
private protocol ObjectSequence {}

extension Array: ObjectSequence where Element: DatabaseObject {}

extension PredicateExpressions.NilLiteral: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand { .null }
}

extension PredicateExpressions.Value: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        if let range = value as? any RangeOfValues { return try range.operand() }
        guard let value = value as? any PropertyValue else {
            throw PredicateTranslator.untranslatable("a value of the type \(Output.self)")
        }
        return switch try ConditionArgument(value) {
        case .null: .null
        case .value(let value): .expression(.value(value))
        case .list(let values): .expression(.values(values))
        case .object(let object): .expression(.object(object))
        case .objects(let objects): .expression(.objects(objects))
        }
    }
}

/// A range that a predicate captured as a value.
private protocol RangeOfValues {
    func operand() throws -> PredicateOperand
}

extension RangeOfValues {
    fileprivate func bound(_ value: some Comparable) throws -> PredicateOperand {
        guard let value = value as? any PropertyValue, case .value(let bound) = try ConditionArgument(value) else {
            throw PredicateTranslator.untranslatable("a range of values that PostgreSQL does not have")
        }
        return .expression(.value(bound))
    }
}

extension ClosedRange: RangeOfValues {
    func operand() throws -> PredicateOperand {
        .range(lower: try bound(lowerBound), upper: try bound(upperBound), isClosed: true)
    }
}

extension Range: RangeOfValues {
    func operand() throws -> PredicateOperand {
        .range(lower: try bound(lowerBound), upper: try bound(upperBound), isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .range(lower: try translator.operand(lower), upper: try translator.operand(upper), isClosed: true)
    }
}

extension PredicateExpressions.Range: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        .range(lower: try translator.operand(lower), upper: try translator.operand(upper), isClosed: false)
    }
}

extension PredicateExpressions.ForcedUnwrap: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        try translator.operand(inner)
    }
}

extension PredicateExpressions.NilCoalesce: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let first = try translator.operand(lhs)
        return .choice(try first.isPresent(), first, try translator.operand(rhs))
    }
}

extension PredicateExpressions.OptionalFlatMap: PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand {
        let wrapped = try translator.operand(self.wrapped)
        let isPresent = try wrapped.isPresent()
        translator.bind(variable.key, to: wrapped)
        switch try translator.operand(transform) {
        case .expression(.path(let path)): return .expression(.path(path))
        case .condition(let condition):
            return .optionalCondition(.all([isPresent, condition]), isPresent: isPresent)
        case .optionalCondition(let condition, let isInnerPresent):
            return .optionalCondition(.all([isPresent, condition]), isPresent: .all([isPresent, isInnerPresent]))
        case let result: return .choice(isPresent, result, .null)
        }
    }
}
