import KindredPostgres

extension ToMany {
    /// Makes an object a member; it leaves its old owner.
    ///
    /// One-to-many: one UPDATE of the member's foreign key. Many-to-many: one INSERT into the helper table, which does
    /// nothing if the pair is there. Throws `KindredError` `.objectDeleted` if the member's row is gone, `.wrongType`
    /// or `.foreignContext` for what cannot be a member, `.missingValue` if the helper has required columns of its own.
    /// Where the members have an order, the object becomes the last one, as by `append(_:)`.
    public func insert(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.join(CollectionOfOne(member as DatabaseObject), to: owner, relationship)
        }
    }

    /// Makes an object a member and gives the helper row its other columns; where the pair is there already they are
    /// set.
    ///
    /// One INSERT … ON CONFLICT DO UPDATE. Only for many-to-many relationships: throws `.wrongType` for others,
    /// `.unknownKey` for a key that the helper does not have.
    public func insert(
        _ member: Member, through payload: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.join(member, to: owner, relationship, through: payload)
        }
    }

    /// Makes all the objects members, by one statement; they leave their old owners.
    public func formUnion(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.join(members.map { $0 as DatabaseObject }, to: owner, relationship)
        }
    }

    /// Takes a member out; an object that is no member stays as it is.
    ///
    /// One-to-many: one UPDATE of its foreign key to NULL; where that may not be NULL, throws `.requiredRelationship`
    /// before anything is sent. Many-to-many: one DELETE from the helper table.
    public func remove(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.leave(CollectionOfOne(member as DatabaseObject), from: owner, relationship)
        }
    }

    /// Takes the objects out that are members, by one statement.
    public func subtract(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.leave(members.map { $0 as DatabaseObject }, from: owner, relationship)
        }
    }

    /// Takes every member out, by one UPDATE or DELETE by owner; members that were never read included.
    public func removeAll(fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.leaveAll(owner, try relationship)
        }
    }

    /// Makes the objects the only members: who is not among them leaves, who is missing joins, in one atomic change.
    ///
    /// Two statements in one round trip, whatever the numbers. Where the members have an order, it becomes the one given,
    /// at the cost of `insert(contentsOf:at:)` and one statement for those who leave. Throws `.requiredRelationship` if
    /// somebody would have to leave a required relationship; nothing is written then.
    public func set(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            let relationship = try relationship
            let all = try context.distinctMembers(members.map { $0 as DatabaseObject }, of: relationship)
            try await context.replace(all, of: owner, relationship)
        }
    }
}
