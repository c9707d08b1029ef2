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
        let written = entity.writtenColumns(of: columns, isNew: isNew)
        for column in written {
            try entity.requireWritable(entity.entity.attributes[column], key: relationship.model.name)
        }
        var cells = RowCells()
        if let destination, !destination.isInserted {
            let values = destination.storedRow
            for (column, referenced) in zip(columns, referenced) {
                guard let value = try values[referenced] else {
                    throw destination.lacksReferencedValue(referenced, relationship.model.name)
                }
                // What a new row's generated columns will be is shown already.
                guard isNew || written.contains(column) else { continue }
                try cells.set(value, at: column, of: entity, client.types)
            }
            try requireAgreement(of: source, with: cells, relationship, columns)
        } else {
            let leaving = isNew ? entity.ownColumns(of: columns) : (entity.leavingColumns(of: columns) ?? written)
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
            let inFlight = columnsInFlight(staging, of: entity)
            staging.unlink(cells.columns, in: entity)
            staging.destinations[relationship.slot] = nil
            if let new {
                staging.destinations[relationship.slot] = new
                // What the destination's key will be is not known yet.
                state.row = state.row.replacing(cells)
                staging.columns.subtract(cells.columns)
            } else {
                state.setCells(cells, &staging, inFlight)
                staging.columns.subtract(isNew && destination == nil ? cells.columns : entity.generatedColumns)
            }
            state.staging = staging
        }
    }

    /// A column that a new object's foreign key shares with its key or another foreign key has to agree already.
    private func requireAgreement(
        of source: DatabaseObject, with cells: RowCells, _ relationship: RelationshipRuntime, _ columns: [Int]
    ) throws {
        guard source.isInserted, columns.count > 1 else { return }
        let (row, own) = (source.row, source.runtime.ownColumns(of: columns))
        let wanted = row.replacing(cells)
        for column in columns
        where !own.contains(column) && !row.isNull(at: column) && !row.hasSameBytes(as: wanted, at: column) {
            throw source.disagrees(column, relationship.model.name)
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
