import KindredPostgres

extension DatabaseObject {
    /// Sets an attribute or a relationship, and writes it at once.
    ///
    /// - An attribute, or a to-one relationship whose foreign key the object holds: one UPDATE … RETURNING.
    /// - A one-to-one relationship: the old partner's key becomes NULL and the new one's is set, two statements in one
    ///   round trip; nil is one UPDATE.
    /// - A to-many relationship takes a collection, which replaces its members as `ToMany.set(_:)` does; nil removes
    ///   all members.
    ///
    /// If the object or the new value is a new object, the change is staged and saved with it, and the old partner of a one-to-one
    /// relationship leaves with it. A to-one relationship
    /// accepts an ``ObjectID`` for its object; if more than the ID is needed and the object is not in memory, one
    /// SELECT reads it first.
    ///
    /// Throws `KindredError`: `.unknownKey` with the nearest keys, `.wrongType` naming the expected and the given type,
    /// `.missingValue` and `.requiredRelationship` for nil where a value is required, all before anything is sent;
    /// `.objectDeleted` if the row is gone, `.constraintViolation` if the database refuses.
    public func setValue(_ value: (any PropertyValue)?, forKey key: String, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await called(at: fileID, line) { core in
            try await RowWriter(core).set(value, forKey: key, of: self)
        }
    }

    /// Sets several attributes, and to-one relationships whose foreign keys the object holds, by one UPDATE … RETURNING.
    ///
    /// Throws as `setValue(_:forKey:)` does, and `.wrongType` for a relationship stored in other rows.
    public func setValues(_ values: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await called(at: fileID, line) { core in
            try await RowWriter(core).set(values, of: self)
        }
    }

    /// Reads the object's row again.
    ///
    /// One SELECT by key. Loaded relationships become stale, and are loaded again on their next use. Throws
    /// `KindredError` `.objectDeleted` if the row is gone, and `isDeleted` becomes true; `.notStored` for a new object
    /// and `.readOnly` for an entity without a key, before anything is sent. Staged changes stay staged.
    public func refresh(fileID: String = #fileID, line: Int = #line) async throws {
        try await called(at: fileID, line) { core in
            try await Refresher(core).refresh(self)
        }
    }
}
