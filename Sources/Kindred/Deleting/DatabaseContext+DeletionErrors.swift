import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The error for an object that others forbid to delete.
    func denied(_ step: DeletionStep, _ source: ObjectKey?, _ count: Int) -> KindredError {
        let entity = runtime.entities[step.source]
        let destination = runtime.entities[step.destination]
        let name = step.relationship.model.name
        let object = source.map { ObjectID(entity, $0).uri } ?? "An object of \(entity.name)"
        let others = count == 1 ? "1 object of \(destination.name) is" : "\(count) objects of \(destination.name) are"
        let code: KindredError.Code = step.action == .refuse ? .requiredRelationship : .deletionDenied
        let reason =
            step.action == .refuse
            ? "still in its \"\(name)\" and may not be without it; give them another one or delete them first"
            : "still in its \"\(name)\"; take them out of it or delete them first"
        return KindredError(
            code,
            "\(object) cannot be deleted: \(others) \(reason). Nothing was deleted",
            entity: entity.name.description,
            key: name,
            constraint: step.relationship.model.foreignKey ?? step.relationship.model.helper?.sourceForeignKey
        )
    }

    /// The refusal of a foreign key as the same error, naming the relationship where the model knows the key.
    func refusedDeletion(_ error: PostgresError) -> KindredError? {
        guard error.sqlState == .foreignKeyViolation || error.sqlState == .restrictViolation else { return nil }
        let constraint = error.server?.constraint
        let holder = runtime.entities.first { entity in
            entity.name.name == error.server?.table && entity.name.schema == error.server?.schema
        }
        let relationship = holder?.foreignKeys.first { $0.model.foreignKey == constraint }
        let owner = relationship.map { runtime.entities[$0.destination] }
        let key = relationship.flatMap { runtime.inverse($0)?.model.name }
        let others = holder.map { "objects of \($0.name)" } ?? "other rows"
        let place = key.map { " in its \"\($0)\"" } ?? ""
        return KindredError(
            .deletionDenied,
            "An object of \(owner?.name.description ?? "an entity") cannot be deleted: \(others) are still\(place), "
                + "says the constraint \"\(constraint ?? "?")\". Nothing was deleted",
            entity: owner?.name.description,
            key: key,
            constraint: constraint,
            underlying: error
        )
    }

    /// The error for rows that a trigger or a policy kept.
    func kept(_ entity: EntityRuntime, _ count: Int) -> KindredError {
        KindredError(
            .objectDeleted,
            "A trigger, rule or policy of \(entity.name) kept \(count) of the rows from being deleted, or they are gone; "
                + "nothing was deleted",
            entity: entity.name.description
        )
    }
}
