import KindredPostgres
import KindredSchema

extension KindredError {
    /// The error for an object whose deletion a rule forbids.
    ///
    /// - Parameter sources: The keys of the objects to be deleted, for an error that cannot tell which of them it is about.
    init(denied step: DeletionStep, source: ObjectKey?, count: Int, among sources: [ObjectKey]) {
        let entity = step.source
        let destination = step.destination
        let name = step.relationship.model.name
        let object = source.map { ObjectID(entity, $0).uri } ?? RefusedDeletion.oneOf(sources, of: entity)
        let others = count == 1 ? "1 object of \(destination.name) is" : "\(count) objects of \(destination.name) are"
        let code: Code = step.action == .refuse ? .requiredRelationship : .deletionDenied
        let reason =
            step.action == .refuse
            ? "still in its \"\(name)\", which they require; give them another one or delete them first"
            : "still in its \"\(name)\"; take them out of it or delete them first"
        self.init(
            code,
            "\(object) cannot be deleted: \(others) \(reason). Nothing was deleted",
            entity: entity.name.description,
            key: name,
            constraint: step.relationship.model.foreignKey ?? step.relationship.model.helper?.sourceForeignKey
        )
    }

    /// Translates the refusal of a foreign key to the same error, with object, relationship and constraint.
    ///
    /// - Parameter deleted: The keys of the rows to be deleted, by entity, as far as known.
    init?(
        refusedDeletion error: PostgresError, _ runtime: SchemaRuntime, among deleted: [EntityRuntime: [ObjectKey]]
    ) {
        guard error.sqlState == .foreignKeyViolation || error.sqlState == .restrictViolation else { return nil }
        let named = error.naming(in: runtime)
        let refused = RefusedDeletion(named, runtime, among: deleted)
        let key = refused.relationship?.model.name
        let constraint = named.server?.constraint
        let reason: String
        switch (refused.holder, key, constraint) {
        case (let holder?, let key?, let constraint?):
            reason = "objects of \(holder) are still in its \"\(key)\", says the constraint \"\(constraint)\""
        case (let holder?, nil, let constraint?):
            reason = "rows of \(holder) still refer to it, says the constraint \"\(constraint)\""
        default:
            reason =
                "the server reports a foreign-key violation without a constraint, so that it came from a trigger or rule"
        }
        self.init(
            .deletionDenied,
            "\(refused.object) cannot be deleted: \(reason). Nothing was deleted",
            entity: refused.owner?.name.description,
            key: key,
            constraint: constraint,
            underlying: error
        )
    }

    /// The error for rows that a trigger or a policy kept.
    init(kept count: Int, of entity: EntityRuntime) {
        self.init(
            .constraintViolation,
            "A trigger, rule or policy of \(entity.name) kept \(count) of the rows from being deleted; nothing was deleted",
            entity: entity.name.description
        )
    }
}
