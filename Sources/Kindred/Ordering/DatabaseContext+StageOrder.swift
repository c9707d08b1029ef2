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
            unload(relationship.slot, of: owner)
        } else {
            for (place, member) in members.enumerated() {
                try member.stageOrThrow(.integer(Int64(place + 1)), at: position)
            }
        }
    }

    /// Gives members that join by a staged change the positions behind those that the owner shows.
    func stageEndPositions(
        _ members: [DatabaseObject],
        of owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        guard let position = relationship.position, case .referenced = relationship.link else { return }
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
                    object ?? self.object(member, of: entity, loaded.group, validAt: loaded.validAt)
                {
                    unplaced.append(object)
                }
            }
        }
        // Those without a position stand last, and get one so that there is a place behind them.
        for member in unplaced + members {
            // The column's type refuses what is too large for it.
            last = last == .max ? last : last + 1
            try member.stageOrThrow(.integer(last), at: position)
        }
    }

    /// Puts a staged pair behind all others.
    private func restage(_ pair: StagedPair) {
        journal?.record(pair, in: self)
        staged.withLock { staged in
            guard staged.contains(pair) else { return }
            let payload = staged.entry(of: pair)?.payload
            staged.remove(pair)
            staged.insert(pair, payload: payload)
        }
    }
}
