import KindredPostgres
import KindredSchema
import Synchronization

// Relationships while one end is only staged: the change is staged with it, and both sides show it at once.
extension DatabaseContext {
    /// Points a to-one relationship to an object, or to none, as a staged change of the source.
    ///
    /// A one-to-one partner that the destination is known to have is left without.
    func stageDestination(
        _ destination: DatabaseObject?,
        of source: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        guard case .foreignKey(let columns, let referenced) = relationship.link else { return }
        try source.requireStageable()
        let entity = source.runtime
        let isNew = source.isInserted
        let own = isNew ? columns : entity.ownColumns(of: columns)
        for column in own { try entity.requireWritable(entity.entity.attributes[column], key: relationship.model.name) }
        var cells = RowCells()
        if let destination, !destination.isInserted {
            let values = destination.storedRow
            for (column, referenced) in zip(columns, referenced) {
                guard let value = try values[referenced] else {
                    throw destination.lacksReferencedValue(referenced, relationship.model.name)
                }
                if own.contains(column) { try cells.set(value, at: column, of: entity, client.types) }
            }
        } else {
            let leaving = isNew ? entity.ownColumns(of: columns) : (entity.leavingColumns(of: columns) ?? own)
            for column in leaving { cells.setNull(column) }
        }
        if let destination, relationship.model.kind == .oneToOne {
            let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
            if let partner = knownPartner(of: destination, inverse), partner !== source {
                try stageDestination(nil, of: partner, relationship)
            }
        }
        let new = destination.flatMap { $0.isInserted ? $0 : nil }
        changeStaging(of: source) { state in
            var staging = state.stagingToChange
            staging.unlink(ColumnSet(own), in: entity)
            if let new {
                staging.destinations[relationship.slot] = new
                // What the destination's key will be is not known yet.
                state.row = state.row.replacing(cells)
                staging.columns.subtract(cells.columns)
            } else {
                state.setCells(cells, &staging)
                if isNew, destination == nil { staging.columns.subtract(cells.columns) }
            }
            state.staging = staging
        }
    }

    /// The one-to-one partner that is known without I/O.
    private func knownPartner(of object: DatabaseObject, _ relationship: RelationshipRuntime) -> DatabaseObject? {
        if let joined = stagedChange(relationship, of: object)?.joined.last { return joined }
        guard case .one(let one) = object.withState({ $0.relationships[relationship.slot] }), let key = one.member?.key
        else { return nil }
        return liveObject(runtime.entities[relationship.destination], key)
    }

    /// Makes objects members of a to-many relationship, as staged changes.
    func stageJoin(
        _ members: [DatabaseObject],
        to owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        payload: Assignments? = nil
    ) throws {
        try owner.requireStageable()
        if case .helper = relationship.link {
            for member in members {
                try member.requireStageable()
                stage(StagedPair(owner, relationship, member), payload: payload)
            }
            return
        }
        let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
        for member in members { try stageDestination(owner, of: member, inverse) }
        try stageEndPositions(members, of: owner, relationship)
    }

    /// Takes objects out of a to-many relationship, as staged changes.
    func stageLeave(
        _ members: [DatabaseObject],
        from owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        if case .helper = relationship.link {
            for member in members { unstage(StagedPair(owner, relationship, member)) }
            return
        }
        let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
        for member in members where stagedMembers(of: relationship, owner).contains(member) {
            try stageDestination(nil, of: member, inverse)
        }
    }

    /// The members that a relationship has by staged changes.
    func stagedMembers(of relationship: RelationshipRuntime, _ owner: DatabaseObject) -> [DatabaseObject] {
        stagedChange(relationship, of: owner)?.joined ?? []
    }

    /// Stages a pair of a many-to-many relationship; both sides show it.
    func stage(_ pair: StagedPair, payload: Assignments?) {
        journal?.record(pair, in: self)
        let isNew = staged.withLock { staged in
            let isNew = !staged.contains(pair)
            staged.insert(pair, payload: payload ?? staged.entry(of: pair)?.payload)
            return isNew
        }
        guard isNew else { return }
        link(pair.destination, to: pair.source, slot: pair.slot)
        link(pair.source, to: pair.destination, slot: pair.relationship.inverseSlot)
    }

    /// Takes a staged pair back; both sides have lost it.
    func unstage(_ pair: StagedPair) {
        journal?.record(pair, in: self)
        let wasStaged = staged.withLock { staged in
            defer { staged.remove(pair) }
            return staged.contains(pair)
        }
        guard wasStaged else { return }
        unlink(pair.destination, from: pair.source, slot: pair.slot)
        unlink(pair.source, from: pair.destination, slot: pair.relationship.inverseSlot)
    }
}
