import KindredPostgres

extension DatabaseContext {
    /// Deletes an object's row, and applies the delete rules to the objects at the other ends of its relationships.
    ///
    /// One DELETE where the database's own foreign-key actions do everything that the rules ask for and no hook is
    /// registered. Otherwise one transaction, or a savepoint of the running one: one SELECT … FOR UPDATE for each
    /// relationship and level, one UPDATE for each nullified relationship, one statement that deletes everything, for
    /// any number of rows.
    ///
    /// Updates all loaded objects: `isDeleted` is true for deleted objects, which refuse writes; nullified references
    /// show nil, and sets have lost their members. Throws `KindredError`, and nothing is deleted: `.deletionDenied` if
    /// a rule forbids it, `.requiredRelationship` if remaining objects would lose a required relationship,
    /// `.objectDeleted` if a row is gone already; before anything is sent `.notStored` for a new object, which
    /// ``stageDeletion(of:)`` gives up, `.foreignContext`, and `.readOnly` for an entity without a key.
    ///
    /// Where a column marks deleted rows (`{"softDelete": "deleted_at"}`), the row stays, and the column gets the
    /// moment of the transaction: one UPDATE, unless a rule or a hook concerns it. The object stays usable and is no
    /// longer shown. A rule that deletes marks other objects, and throws `.invalidRequest`, before anything is sent,
    /// where they cannot be marked; a rule that denies counts the objects that are shown; references stay as they are.
    ///
    /// With `permanently` a row goes that would be marked, and all rows that refer to it count.
    public func delete(
        _ object: DatabaseObject, permanently: Bool = false, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await client.called(at: fileID, line) {
            try await Deleter(core).delete(CollectionOfOne(object), permanently: permanently)
        }
    }

    /// Deletes objects with their delete rules, all of them or none, as if at once.
    ///
    /// The objects may be of several entities. The number of statements does not depend on the number of objects.
    public func delete(
        _ objects: some Sequence<DatabaseObject>, permanently: Bool = false, fileID: String = #fileID,
        line: Int = #line
    ) async throws {
        try await client.called(at: fileID, line) { try await Deleter(core).delete(objects, permanently: permanently) }
    }

    /// Takes back that an object was marked as deleted, and with it the objects that a rule marked at the same moment.
    ///
    /// One UPDATE; where a rule marks other objects, one transaction with one SELECT more for each such relationship and
    /// level, and one UPDATE for each entity. Does nothing to an object that is not marked. Throws `KindredError`
    /// `.invalidRequest` if its entity has no column that marks deleted rows, `.constraintViolation` if another object
    /// has taken a unique value, and as `delete(_:)` does.
    public func restore(_ object: DatabaseObject, fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) { try await Deleter(core).restore(CollectionOfOne(object)) }
    }

    /// Takes back that objects were marked as deleted, all of them or none.
    ///
    /// The number of statements does not depend on the number of objects.
    public func restore(
        _ objects: some Sequence<DatabaseObject>, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await client.called(at: fileID, line) { try await Deleter(core).restore(objects) }
    }

    /// The effect of deleting an object; changes nothing, and calls no hook.
    ///
    /// With `permanently` it is the effect of deleting the row instead of marking it as deleted.
    public func deletionPlan(
        for object: DatabaseObject, permanently: Bool = false, fileID: String = #fileID, line: Int = #line
    ) async throws -> DeletionPlan {
        try await deletionPlan(for: CollectionOfOne(object), permanently: permanently, fileID: fileID, line: line)
    }

    /// The effect of deleting objects; changes nothing, and calls no hook.
    ///
    /// One SELECT for each relationship and level, in one transaction with one snapshot. Throws `KindredError`
    /// `.objectDeleted` if a row is gone.
    public func deletionPlan(
        for objects: some Sequence<DatabaseObject>, permanently: Bool = false, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> DeletionPlan {
        try await client.called(at: fileID, line) {
            try await DeletionPlanner(core).plan(for: Array(objects), permanently: permanently)
        }
    }
}
