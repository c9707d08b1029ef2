import KindredPostgres
import KindredSchema

// The members of an ordered relationship: the position column that `{"orderedBy": …}` names on its foreign key.
extension ToMany {
    /// Whether the members have an order, kept in a position column.
    public var isOrdered: Bool { known?.position != nil }

    /// Makes an object the last member; one that is a member already stays where it is.
    ///
    /// A transaction of three statements in two round trips: the owner is locked, the end of its order is read, the
    /// member gets its owner and position (or its pair and position). Throws `KindredError` `.invalidRequest` if the
    /// relationship has no order, and as `insert(_:)` does.
    public func append(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await append(contentsOf: CollectionOfOne(member))
        }
    }

    /// Makes objects the last members, in their order, by as many statements as one; who is a member already stays where
    /// it is.
    public func append(contentsOf members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await context.client.called(at: fileID, line) {
            let relationship = try relationship
            let all = try context.orderable(members.map { $0 as DatabaseObject }, of: owner, relationship)
            try await context.append(all, to: owner, relationship, through: nil)
        }
    }

    /// Makes an object the member at a place; one that is a member already moves there.
    ///
    /// As `insert(contentsOf:at:)` with one object.
    public func insert(_ member: Member, at index: Int, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await insert(contentsOf: CollectionOfOne(member), at: index)
        }
    }

    /// Makes objects members from a place on, in their order; those that are members already move there.
    ///
    /// The place is one of the order that this set shows: if somebody else has changed it, the objects come to stand
    /// before the member that stood there. A transaction: the owner is locked, its order is read, and one UPDATE writes the
    /// positions that have to change, as few as can be, those of the joining members included; many-to-many pairs that
    /// join are one INSERT more, and positions that are exchanged under a unique key that is not deferrable one UPDATE
    /// more. Members that are not loaded are read first. Throws `KindredError` `.indexOutOfRange` before anything is sent,
    /// `.notStored` for new objects in the set of a stored one, and as `insert(_:)` does.
    public func insert(
        contentsOf members: some Sequence<Member>, at index: Int, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.insert(
                members.map { $0 as DatabaseObject }, at: index, in: owner, relationship, usedAt: place)
        }
    }

    /// Moves the member at a place to another, which is its place afterwards.
    ///
    /// Costs what `insert(contentsOf:at:)` costs. Throws `KindredError` `.indexOutOfRange` before anything is sent,
    /// `.notFound` if somebody else has taken the member out.
    public func move(from index: Int, to destination: Int, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.move(from: index, to: destination, in: owner, relationship, usedAt: place)
        }
    }

    /// Takes the member at a place out, as `remove(_:)` does; the others keep their positions.
    @discardableResult
    public func remove(at index: Int, fileID: String = #fileID, line: Int = #line) async throws -> Member {
        return try await context.client.called(at: fileID, line) {
            try typed([try await context.leave(at: index, owner, relationship, usedAt: place)])[0]
        }
    }
}
