import Synchronization

extension Database {
    /// Has hooks called for the objects of an entity, in every context of the database, after those added before.
    ///
    /// Throws `KindredError` `.unknownEntity` with the nearest names. Sends nothing.
    public func addHooks(_ hooks: ObjectHooks, to entityName: String) throws {
        registeredHooks.add(hooks, for: try runtime.withLock { $0 }.entity(named: entityName).name)
    }

    /// Has `body` called once for each object of an entity that is about to be deleted, in every context of the database.
    ///
    /// The counterpart of ``DatabaseObject/prepareForDeletion()`` for entities without a class of their own; the same
    /// holds for it. Throws `KindredError` `.unknownEntity` with the nearest names. Sends nothing.
    public func prepareForDeletion(
        of entityName: String,
        _ body: @escaping @Sendable (DatabaseObject) async throws -> Void
    ) throws {
        let entity = try runtime.withLock { $0 }.entity(named: entityName)
        deletionHooks.add(body, for: entity.name)
    }
}
