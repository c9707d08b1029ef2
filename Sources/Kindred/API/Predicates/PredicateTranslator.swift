import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns the tree of a `Predicate` into a condition.
struct PredicateTranslator {
    /// The scope of the object that the predicate is on.
    private let scope = ColumnScope()
    private var variables: [PredicateExpressions.VariableID: PredicateOperand] = [:]

    init<Object>(_ variable: PredicateExpressions.Variable<Object>) {
        variables[variable.key] = .expression(.path(ConditionPath(scope, [])))
    }

    /// The condition of the whole predicate.
    mutating func predicate(_ expression: some PredicateExpression) throws -> ConditionNode {
        .scoped(scope, try condition(expression))
    }

    mutating func condition(_ expression: some PredicateExpression) throws -> ConditionNode {
        try operand(expression).condition()
    }

    mutating func operand(_ expression: some PredicateExpression) throws -> PredicateOperand {
        guard let term = expression as? any PredicateTerm else {
            // Generic parameters say nothing more.
            let name = String(describing: type(of: expression)).prefix { $0 != "<" }
            throw Self.untranslatable("\(name)")
        }
        return try term.operand(&self)
    }

    /// The operand of a variable.
    func operand(_ variable: PredicateExpressions.VariableID) throws -> PredicateOperand {
        guard let known = variables[variable] else { throw Self.untranslatable("an undeclared variable") }
        return known
    }

    /// Sets the operand of a variable.
    mutating func bind(_ variable: PredicateExpressions.VariableID, to operand: PredicateOperand) {
        variables[variable] = operand
    }

    /// The given members that fulfil a further condition, in which a variable stands for the member.
    mutating func narrowed(
        _ members: MemberCondition, _ variable: PredicateExpressions.VariableID,
        by condition: (inout PredicateTranslator) throws -> ConditionNode
    ) throws -> MemberCondition {
        variables[variable] = .expression(.path(ConditionPath(members.scope, [])))
        var members = members
        let further = try condition(&self)
        if case .constant(true) = members.condition {
            members.condition = further
        } else {
            members.condition = .all([members.condition, further])
        }
        return members
    }

    /// The column or relationship of a property of an operand.
    func follow(_ keyPath: AnyKeyPath, from root: PredicateOperand) throws -> PredicateOperand {
        let type = Swift.type(of: keyPath).rootType
        if let type = type as? any TypedObject.Type {
            return try root.map { expression in
                guard case .path(let start) = expression else {
                    throw Self.untranslatable("a property of an object outside the request")
                }
                let path = ColumnPath(start.scope, start.keys).appending(keyPath, of: type)
                return .expression(.path(ConditionPath(start.scope, try path.checkedKeys())))
            }
        }
        if let type = type as? any RelationshipHandle.Type, type.isLoaded(keyPath) { return root }
        throw KindredError(
            .unknownKey,
            "\(keyPath) is not a column or relationship of an entity"
        )
    }

    static func untranslatable(_ what: String) -> KindredError {
        KindredError(
            .invalidCondition,
            "The predicate has \(what), which has no exact counterpart in SQL; write where { … } or a format string"
        )
    }
}

/// A part of a predicate that has a counterpart in SQL.
protocol PredicateTerm {
    func operand(_ translator: inout PredicateTranslator) throws -> PredicateOperand
}

/// A relationship's handle, whose `loaded` means the relationship itself in a predicate.
protocol RelationshipHandle {
    static func isLoaded(_ keyPath: AnyKeyPath) -> Bool
}

extension ToMany: RelationshipHandle {
    static func isLoaded(_ keyPath: AnyKeyPath) -> Bool { keyPath is KeyPath<ToMany, [Member]> }
}

extension ToOne: RelationshipHandle {
    static func isLoaded(_ keyPath: AnyKeyPath) -> Bool {
        keyPath is KeyPath<ToOne, Target?> || keyPath is KeyPath<ToOne, Target>
    }
}
