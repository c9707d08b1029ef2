import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns the tree of a `Predicate` into a condition.
struct PredicateTranslator {
    /// Each variable's operand, with the nesting depth of conditions on members at which it is declared.
    private var variables: [PredicateExpressions.VariableID: (operand: PredicateOperand, depth: Int)] = [:]
    private var depth = 0

    init<Object>(_ variable: PredicateExpressions.Variable<Object>) {
        variables[variable.key] = (.expression(.path([])), 0)
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
    ///
    /// Throws for a variable of an outer condition, which conditions on members cannot reference.
    func operand(_ variable: PredicateExpressions.VariableID) throws -> PredicateOperand {
        guard let known = variables[variable] else { throw Self.untranslatable("an undeclared variable") }
        guard known.depth == depth else {
            throw Self.untranslatable("a comparison of members with the object that they belong to")
        }
        return known.operand
    }

    /// Sets the operand of a variable.
    mutating func bind(_ variable: PredicateExpressions.VariableID, to operand: PredicateOperand) {
        variables[variable] = (operand, depth)
    }

    /// A condition on members.
    mutating func members(
        _ expression: some PredicateExpression,
        _ variable: PredicateExpressions.VariableID
    ) throws -> ConditionNode {
        depth += 1
        defer { depth -= 1 }
        variables[variable] = (.expression(.path([])), depth)
        return try condition(expression)
    }

    /// The column or relationship of a property of an operand.
    func follow(_ keyPath: AnyKeyPath, from root: PredicateOperand) throws -> PredicateOperand {
        let type = Swift.type(of: keyPath).rootType
        if let type = type as? any TypedObject.Type {
            return try root.map { expression in
                guard case .path(let keys) = expression else {
                    throw Self.untranslatable("a property of an object outside the request")
                }
                let path = try ColumnPath().appending(keyPath, of: type).checkedKeys()
                return .expression(.path(keys + path))
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
