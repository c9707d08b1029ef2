import KindredPostgres
import KindredSchema

// Changes to an ordered relationship, whose position column `{"orderedBy": …}` names on its foreign key.
extension ToMany {
    /// Whether the members have an order, kept in a position column.
    public var isOrdered: Bool { known?.position != nil }

    /// Makes an object the last member; an existing member keeps its place.
    ///
    /// A transaction of three statements in two round trips: one locks the owner, one reads the end of its order, one
    /// writes the member's owner and position (or its pair and position). Throws `KindredError` `.invalidRequest` if
    /// the relationship has no order, and as `insert(_:)` does.
    public func append(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { _ in
            try await append(contentsOf: CollectionOfOne(member))
        }
    }

    /// Makes objects the last members, in their order, by the same number of statements as for one; existing members
    /// keep their places.
    public func append(contentsOf members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await owner.called(at: fileID, line) { core in
            try await Orderer(core).append(members.map { $0 as DatabaseObject }, to: owner, relationship)
        }
    }

    /// Inserts an object at an index; an existing member moves there.
    ///
    /// As `insert(contentsOf:at:)` with one object.
    public func insert(_ member: Member, at index: Int, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { _ in
            try await insert(contentsOf: CollectionOfOne(member), at: index)
        }
    }

    /// Inserts objects at an index, in their order; existing members move there.
    ///
    /// The index refers to the order that this set shows: if another transaction has changed the order, the objects are
    /// inserted before the member that was at the index. A transaction: it locks the owner, reads its order, and one
    /// UPDATE writes as few positions as possible, including positions of joining members. Joining many-to-many pairs
    /// are one INSERT more; exchanging positions under a unique key that is not deferrable is one UPDATE more. Members
    /// that are not loaded are read first. Throws `KindredError` `.indexOutOfRange` before anything is sent,
    /// `.notStored` for new objects in the set of a stored object, and as `insert(_:)` does.
    public func insert(
        contentsOf members: some Sequence<Member>, at index: Int, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await owner.called(at: fileID, line) { core in
            try await Orderer(core).insert(
                members.map { $0 as DatabaseObject }, at: index, in: owner, relationship, usedAt: place)
        }
    }

    /// Moves the member at an index to another index, counted after the move.
    ///
    /// Costs the same as `insert(contentsOf:at:)`. Throws `KindredError` `.indexOutOfRange` before anything is sent,
    /// `.notFound` if another transaction has removed the member.
    public func move(from index: Int, to destination: Int, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { core in
            try await Orderer(core).move(
                from: index, to: destination, in: owner, relationship, usedAt: place)
        }
    }

    /// Removes the member at an index, as `remove(_:)` does; the others keep their positions.
    @discardableResult
    public func remove(at index: Int, fileID: String = #fileID, line: Int = #line) async throws -> Member {
        return try await owner.called(at: fileID, line) { core in
            let orderer = Orderer(core)
            return try typed([try await orderer.leave(at: index, owner, relationship, usedAt: place)])[0]
        }
    }
}
