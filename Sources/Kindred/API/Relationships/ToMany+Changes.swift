import KindredPostgres

extension ToMany {
    /// Makes an object a member; in a one-to-many relationship it leaves its old owner.
    ///
    /// One-to-many: one UPDATE of the member's foreign key. Many-to-many: one INSERT into the helper table, which does
    /// nothing if the pair exists, and restores a pair that is marked as deleted; a pair that the helper's filter hides
    /// is `.constraintViolation`. Throws `KindredError` `.objectDeleted` if the member's row is gone, `.wrongType` or
    /// `.foreignContext` for an object that cannot be a member, `.missingValue` if the helper has required columns of
    /// its own. In an ordered relationship the object becomes the last member, as with `append(_:)`.
    public func insert(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).join(
                CollectionOfOne(member as DatabaseObject), to: owner, relationship, writesMembers: true)
        }
    }

    /// Makes an object a member and sets the helper row's other columns, also if the pair exists.
    ///
    /// One INSERT … ON CONFLICT DO UPDATE. Only for many-to-many relationships: throws `.wrongType` for other
    /// relationships, `.unknownKey` for a key that the helper does not have.
    public func insert(
        _ member: Member, through payload: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).join(member, to: owner, relationship, through: payload)
        }
    }

    /// Makes all the objects members, by one statement; in a one-to-many relationship they leave their old owners.
    public func formUnion(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).join(
                members.map { $0 as DatabaseObject }, to: owner, relationship, writesMembers: false)
        }
    }

    /// Removes a member; does nothing for an object that is not a member.
    ///
    /// One-to-many: one UPDATE of its foreign key to NULL; throws `.requiredRelationship` before anything is sent if
    /// the key may not be NULL. Many-to-many: one DELETE from the helper table, or one UPDATE
    /// where the helper marks deleted rows.
    public func remove(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).leave(
                CollectionOfOne(member as DatabaseObject), from: owner, relationship)
        }
    }

    /// Removes objects from the set, by one statement; objects that are no members are skipped.
    public func subtract(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).leave(members.map { $0 as DatabaseObject }, from: owner, relationship)
        }
    }

    /// Removes every member, loaded or not, by one UPDATE or DELETE by owner.
    public func removeAll(fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).leaveAll(owner, try relationship)
        }
    }

    /// Makes the objects the only members: other members leave, missing members join, in one atomic change.
    ///
    /// Two statements in one round trip, for any number of objects. In an ordered relationship the members take the
    /// given order, at the cost of `insert(contentsOf:at:)` and one statement for the members that leave. Throws
    /// `.requiredRelationship`, and writes nothing, if a member would leave a required relationship.
    public func set(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await SetWriter(core).replace(
                with: members.map { $0 as DatabaseObject }, of: owner, relationship)
        }
    }
}
