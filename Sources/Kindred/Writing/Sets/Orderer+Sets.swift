import KindredPostgres
import KindredSchema

// Changes of an ordered set: positions of stored members are written at once, positions of new members are staged.
extension Orderer {
    private var stager: Stager { Stager(core) }

    /// Appends objects to a set that must be ordered; existing members keep their places.
    func append(
        _ objects: some Sequence<DatabaseObject>, to owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        let all = try orderable(objects, of: owner, relationship)
        try await append(all, to: owner, relationship, through: nil)
    }

    /// The objects that are to become members of an ordered set, each once.
    private func orderable(
        _ objects: some Sequence<DatabaseObject>, of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws -> [DatabaseObject] {
        try owner.requireLive()
        guard relationship.position != nil else { throw relationship.unordered }
        return try RelationshipValues(core).distinctMembers(objects, of: relationship)
    }

    /// Appends objects; existing members only get the payload.
    func append(
        _ all: [DatabaseObject], to owner: DatabaseObject, _ relationship: RelationshipRuntime,
        through payload: ColumnValues?
    ) async throws {
        try owner.requireLive()
        // A staged member keeps its place.
        let joined = payload == nil ? Set(stager.stagedMembers(of: relationship, owner)) : []
        let staged = (owner.isInserted ? all : all.filter(\.isInserted)).filter { !joined.contains($0) }
        let stored = owner.isInserted ? [] : all.filter { !$0.isInserted }
        if payload == nil, let link = relationship.helper {
            _ = try RelationshipValues(core).payload([:], of: relationship, through: link)
        }
        if !staged.isEmpty {
            // Staged members follow all stored members.
            if !owner.isInserted, relationship.destinationHoldsForeignKey {
                _ = try await PrimaryReads.run { try await Loader(core).members(of: relationship, owner: owner) }
            }
            try stager.requireJoin(staged, to: owner, relationship, behind: stored.count)
        }
        if !stored.isEmpty {
            try await reorder(relationship, of: owner, by: .append(needsAll: false), with: stored, payload: payload)
        }
        try stager.stageJoin(staged, to: owner, relationship, payload: payload)
    }

    /// Makes objects the only members, in their order.
    func setOrder(
        _ all: [DatabaseObject], of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        if owner.isInserted { return try stager.stageReplace(all, of: owner, relationship) }
        try requireStored(all, in: owner, relationship)
        let kept = Set(all)
        let left = stager.stagedMembers(of: relationship, owner).filter { !kept.contains($0) }
        try stager.requireLeave(left, from: owner, relationship)
        try await reorder(relationship, of: owner, by: .set, with: all)
        try stager.stageLeave(left, from: owner, relationship)
    }

    /// Inserts objects at an index; existing members move there.
    func insert(
        _ objects: some Sequence<DatabaseObject>, at index: Int, in owner: DatabaseObject,
        _ relationship: RelationshipRuntime, usedAt place: SourcePlace?
    ) async throws {
        let all = try orderable(objects, of: owner, relationship)
        try requireStored(all, in: owner, relationship)
        let moved = Set(all)
        let members = try await PrimaryReads.run {
            try await Loader(core).members(of: relationship, owner: owner, at: place)
        }
        let others = members.filter { !moved.contains($0) }
        try requireIndex(index, through: others.count, in: owner, relationship)
        guard !all.isEmpty else { return }
        if owner.isInserted {
            return try stager.stageReplace(
                others.prefix(index) + all + others.dropFirst(index), of: owner, relationship)
        }
        let next = try key(of: others, at: index, in: owner, relationship)
        try await reorder(relationship, of: owner, by: .insert(before: next, at: index), with: all)
    }

    /// Moves the member at an index to another, which is its index afterwards.
    func move(
        from index: Int, to destination: Int, in owner: DatabaseObject, _ relationship: RelationshipRuntime,
        usedAt place: SourcePlace?
    ) async throws {
        let current = try await orderedMembers(of: owner, relationship, usedAt: place)
        try requireIndex(index, through: current.count - 1, in: owner, relationship)
        try requireIndex(destination, through: current.count - 1, in: owner, relationship)
        guard index != destination else { return }
        let member = current[index]
        let others = current.filter { $0 !== member }
        if owner.isInserted {
            let order = others.prefix(destination) + [member] + others.dropFirst(destination)
            return try stager.stageReplace(Array(order), of: owner, relationship)
        }
        try requireStored([member], in: owner, relationship)
        let next = try key(of: others, at: destination, in: owner, relationship)
        try await reorder(relationship, of: owner, by: .move(before: next, at: destination), with: [member])
    }

    /// Removes the member at an index, and returns it.
    func leave(
        at index: Int, _ owner: DatabaseObject, _ relationship: RelationshipRuntime, usedAt place: SourcePlace?
    ) async throws -> DatabaseObject {
        let current = try await orderedMembers(of: owner, relationship, usedAt: place)
        try requireIndex(index, through: current.count - 1, in: owner, relationship)
        try await SetWriter(core).leave(CollectionOfOne(current[index]), from: owner, relationship)
        return current[index]
    }

    private func orderedMembers(
        of owner: DatabaseObject, _ relationship: RelationshipRuntime, usedAt place: SourcePlace?
    ) async throws -> [DatabaseObject] {
        guard relationship.position != nil else { throw relationship.unordered }
        return try await PrimaryReads.run { try await Loader(core).members(of: relationship, owner: owner, at: place) }
    }

    /// The row key of the member before which objects are inserted; nil for the end.
    private func key(
        of others: [DatabaseObject], at index: Int, in owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws -> ObjectKey? {
        guard others.indices.contains(index), !others[index].isInserted else { return nil }
        return try orderedRows(owner, relationship).keys(of: [others[index]])[0]
    }

    private func requireIndex(
        _ index: Int, through last: Int, in owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws {
        guard index < 0 || index > last else { return }
        let (source, name) = (owner.runtime.name, relationship.model.name)
        throw KindredError(
            .indexOutOfRange,
            last < 0
                ? "\(source).\(name) is empty"
                : "\(source).\(name) takes indices from 0 to \(last), not \(index)",
            entity: source.description,
            key: name
        )
    }

    /// Throws for new objects: an index among stored members is written at once.
    private func requireStored(
        _ members: [DatabaseObject], in owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws {
        guard !owner.isInserted, let new = members.first(where: \.isInserted) else { return }
        let name = relationship.model.name
        throw KindredError(
            .notStored,
            "\(new) is new: append it to \(owner.runtime.name).\(name), or save it before giving it an index",
            entity: new.runtime.name.description,
            key: name
        )
    }
}
