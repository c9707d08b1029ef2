import KindredPostgres

extension DatabaseContext {
    /// Deletes an object's row, and applies the delete rules to the objects at the other ends of its relationships.
    ///
    /// One DELETE where the database's own foreign-key actions do all that the rules ask for and no hook is registered.
    /// Otherwise one transaction, or a savepoint of the running one: one SELECT … FOR UPDATE for each relationship and
    /// level, one UPDATE for each nullified relationship, one statement that deletes everything, for any number of
    /// rows.
    ///
    /// Updates all loaded objects: `isDeleted` is true for deleted ones, which refuse writes; nullified ones show nil,
    /// and sets have lost their members. Throws `KindredError`, and nothing is deleted: `.deletionDenied` if a rule
    /// forbids it, `.requiredRelationship` if remaining objects would lose a required relationship, `.objectDeleted` if
    /// a row is gone already; before anything is sent `.notStored` for a new object, which ``stageDeletion(of:)`` gives
    /// up, `.foreignContext`, and `.readOnly` for an entity without a key.
    public func delete(_ object: DatabaseObject, fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) { try await Deleter(core).delete(CollectionOfOne(object)) }
    }

    /// Deletes objects with their delete rules, all of them or none, as if at once.
    ///
    /// The objects may be of several entities. The number of statements does not depend on the number of objects.
    public func delete(_ objects: some Sequence<DatabaseObject>, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await client.called(at: fileID, line) { try await Deleter(core).delete(objects) }
    }

    /// The effect of deleting an object; changes nothing, and calls no hook.
    public func deletionPlan(
        for object: DatabaseObject, fileID: String = #fileID, line: Int = #line
    ) async throws -> DeletionPlan {
        try await deletionPlan(for: CollectionOfOne(object), fileID: fileID, line: line)
    }

    /// The effect of deleting objects; changes nothing, and calls no hook.
    ///
    /// One SELECT for each relationship and level, in one transaction with one snapshot. Throws `KindredError`
    /// `.objectDeleted` if a row is gone.
    public func deletionPlan(
        for objects: some Sequence<DatabaseObject>, fileID: String = #fileID, line: Int = #line
    ) async throws -> DeletionPlan {
        try await client.called(at: fileID, line) { try await DeletionPlanner(core).plan(for: Array(objects)) }
    }
}
