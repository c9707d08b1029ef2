import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The error for an object whose deletion a rule forbids.
    ///
    /// - Parameter sources: The keys of the objects to be deleted, for an error that cannot tell which of them it is about.
    func denied(_ step: DeletionStep, _ source: ObjectKey?, _ count: Int, among sources: [ObjectKey]) -> KindredError {
        let entity = step.source
        let destination = step.destination
        let name = step.relationship.model.name
        let object = source.map { ObjectID(entity, $0).uri } ?? RefusedDeletion.oneOf(sources, of: entity)
        let others = count == 1 ? "1 object of \(destination.name) is" : "\(count) objects of \(destination.name) are"
        let code: KindredError.Code = step.action == .refuse ? .requiredRelationship : .deletionDenied
        let reason =
            step.action == .refuse
            ? "still in its \"\(name)\", which they require; give them another one or delete them first"
            : "still in its \"\(name)\"; take them out of it or delete them first"
        return KindredError(
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
    func refusedDeletion(_ error: PostgresError, among deleted: [EntityRuntime: [ObjectKey]]) -> KindredError? {
        guard error.sqlState == .foreignKeyViolation || error.sqlState == .restrictViolation else { return nil }
        let refused = RefusedDeletion(error, core.runtime, among: deleted)
        let key = refused.relationship?.model.name
        let constraint = error.server?.constraint
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
        return KindredError(
            .deletionDenied,
            "\(refused.object) cannot be deleted: \(reason). Nothing was deleted",
            entity: refused.owner?.name.description,
            key: key,
            constraint: constraint,
            underlying: error
        )
    }

    /// The error for rows that a trigger or a policy kept.
    func kept(_ entity: EntityRuntime, _ count: Int) -> KindredError {
        KindredError(
            .constraintViolation,
            "A trigger, rule or policy of \(entity.name) kept \(count) of the rows from being deleted; nothing was deleted",
            entity: entity.name.description
        )
    }
}
