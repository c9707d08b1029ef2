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
    /// relationship has no order, and as ``insert(_:)`` does.
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
            try await append(try orderable(members), through: nil)
        }
    }

    /// Makes an object the member at a place; one that is a member already moves there.
    ///
    /// As ``insert(contentsOf:at:)`` with one object.
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
    /// `.notStored` for new objects in the set of a stored one, and as ``insert(_:)`` does.
    public func insert(
        contentsOf members: some Sequence<Member>, at index: Int, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await context.client.called(at: fileID, line) {
            let all = try orderable(members)
            try requireStored(all)
            let current = try await objects.map { $0 as DatabaseObject }
            let moved = Set(all)
            let others = current.filter { !moved.contains($0) }
            try requireIndex(index, through: others.count)
            guard !all.isEmpty else { return }
            if owner.isInserted {
                return try context.stageReplace(
                    others.prefix(index) + all + others.dropFirst(index), of: owner, relationship)
            }
            let next = try key(of: others, at: index)
            try await context.reorder(owner, relationship, .insert(before: next, at: index), all)
        }
    }

    /// Moves the member at a place to another, which is its place afterwards.
    ///
    /// Costs what ``insert(contentsOf:at:)`` costs. Throws `KindredError` `.indexOutOfRange` before anything is sent,
    /// `.notFound` if somebody else has taken the member out.
    public func move(from index: Int, to destination: Int, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            let current = try await orderedObjects()
            try requireIndex(index, through: current.count - 1)
            try requireIndex(destination, through: current.count - 1)
            guard index != destination else { return }
            let member = current[index]
            let others = current.filter { $0 !== member }
            if owner.isInserted {
                let order = others.prefix(destination) + [member] + others.dropFirst(destination)
                return try context.stageReplace(Array(order), of: owner, relationship)
            }
            try requireStored([member])
            let next = try key(of: others, at: destination)
            try await context.reorder(owner, relationship, .move(before: next, at: destination), [member])
        }
    }

    /// Takes the member at a place out, as ``remove(_:)`` does; the others keep their positions.
    @discardableResult
    public func remove(at index: Int, fileID: String = #fileID, line: Int = #line) async throws -> Member {
        return try await context.client.called(at: fileID, line) {
            let current = try await orderedObjects()
            try requireIndex(index, through: current.count - 1)
            let member = try typed([current[index]])[0]
            try await remove(member)
            return member
        }
    }

    /// Appends objects of which those that are members already only get the payload.
    func append(_ all: [DatabaseObject], through payload: Assignments?) async throws {
        let staged = owner.isInserted ? all : all.filter(\.isInserted)
        let stored = owner.isInserted ? [] : all.filter { !$0.isInserted }
        let relationship = try relationship
        if payload == nil, case .helper(let link) = relationship.link {
            _ = try context.payload([:], of: relationship, link)
        }
        if !staged.isEmpty {
            // Staged members come behind all that the owner has then.
            if !owner.isInserted, case .referenced = relationship.link { _ = try await objects }
            try context.requireJoin(staged, to: owner, relationship, behind: stored.count)
        }
        if !stored.isEmpty {
            try await context.reorder(owner, relationship, .append(needsAll: false), stored, payload: payload)
        }
        try context.stageJoin(staged, to: owner, relationship, payload: payload)
    }

    /// Makes objects the only members, in their order.
    func setOrder(_ all: [DatabaseObject]) async throws {
        if owner.isInserted { return try context.stageReplace(all, of: owner, relationship) }
        try requireStored(all)
        let relationship = try relationship
        let kept = Set(all)
        let left = context.stagedMembers(of: relationship, owner).filter { !kept.contains($0) }
        try context.requireLeave(left, from: owner, relationship)
        try await context.reorder(owner, relationship, .set, all)
        try context.stageLeave(left, from: owner, relationship)
    }

    private func orderable(_ members: some Sequence<Member>) throws -> [DatabaseObject] {
        try context.requireLive(owner)
        guard isOrdered else { throw try relationship.unordered(context.runtime) }
        return try context.distinctMembers(members.map { $0 as DatabaseObject }, of: relationship)
    }

    private func orderedObjects() async throws -> [DatabaseObject] {
        guard isOrdered else { throw try relationship.unordered(context.runtime) }
        return try await objects
    }

    /// What the rows call the member before which others are to stand; nil for the end.
    private func key(of others: [DatabaseObject], at index: Int) throws -> ObjectKey? {
        guard others.indices.contains(index), !others[index].isInserted else { return nil }
        return try context.orderedRows(owner, relationship).keys(of: [others[index]])[0]
    }

    private func requireIndex(_ index: Int, through last: Int) throws {
        guard index < 0 || index > last else { return }
        let source = owner.runtime.name
        throw KindredError(
            .indexOutOfRange,
            last < 0
                ? "\(source).\(name) is empty"
                : "\(source).\(name) takes places from 0 to \(last), not \(index)",
            entity: source.description,
            key: name
        )
    }

    /// Places among stored members are written at once: new objects have to be saved first.
    private func requireStored(_ members: [DatabaseObject]) throws {
        guard !owner.isInserted, let new = members.first(where: \.isInserted) else { return }
        throw KindredError(
            .notStored,
            "\(new) is new: append it to \(owner.runtime.name).\(name), or save it before it gets a place",
            entity: new.runtime.name.description,
            key: name
        )
    }
}
