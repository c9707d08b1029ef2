import KindredPostgres
import KindredSchema
import Synchronization

// Orders of which an end is new: positions are staged with the members, or follow from the order of the staged pairs.
extension DatabaseContext {
    /// Gives the members of a new owner their order, if it has one.
    func stageOrder(
        _ members: [DatabaseObject],
        of owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        guard let position = relationship.position else { return }
        if case .helper = relationship.link {
            for member in members { restage(StagedPair(owner, relationship, member)) }
            noteStale(relationship, of: owner)
        } else {
            for (place, member) in members.enumerated() {
                try member.stageOrThrow(.integer(Int64(place + 1)), at: position)
            }
        }
    }

    /// The positions of members that join by a staged change: behind those that the owner shows.
    ///
    /// Members of the owner that have no position stand last, and get one, so that there is a place behind them. Throws
    /// `KindredError` `.valueTooLarge` where the column has no room, and what keeps it from being set.
    ///
    /// - Parameter count: how many others get positions before them.
    func endPositions(
        of members: [DatabaseObject],
        _ owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        behind count: Int = 0
    ) throws -> [(member: DatabaseObject, cells: RowCells)] {
        guard let position = relationship.position, case .referenced = relationship.link else { return [] }
        let joining = Set(members)
        let entity = runtime.entities[relationship.destination]
        var last: Int64 = 0
        var unplaced: [DatabaseObject] = []
        if let loaded = loadedMembers(of: relationship, owner: owner) {
            for member in loaded.members {
                let object = liveObject(entity, member.key)
                if let object, joining.contains(object) { continue }
                if case .integer(let value) = (object?.row ?? member.row).valueOrRaw(at: position) {
                    last = max(last, value)
                } else if let object =
                    object ?? self.object(member, of: entity, loaded.group, knownAt: loaded.shownAt ?? loaded.askedAt)
                {
                    unplaced.append(object)
                }
            }
        }
        let attribute = entity.entity.attributes[position]
        let (begin, isFull) = last.addingReportingOverflow(Int64(count))
        return try (unplaced + members).enumerated().map { place, member in
            let (value, isTooLarge) = begin.addingReportingOverflow(Int64(place + 1))
            guard !isFull, !isTooLarge, attribute.baseType.holds(value) else { throw entity.noRoom(attribute) }
            return (member, try member.cells(.integer(value), at: position))
        }
    }

    /// Puts a staged pair behind all others.
    private func restage(_ pair: StagedPair) {
        journal?.record(pair, in: self)
        core.staged.withLock { staged in
            guard staged.contains(pair) else { return }
            let payload = staged.entry(of: pair)?.payload
            staged.remove(pair)
            staged.insert(pair, payload: payload)
        }
    }
}
