import KindredPostgres
import KindredSchema

// Changes of relationships with a new end: staged with it, and shown by both sides at once.
extension Stager {
    /// Points a to-one relationship to an object, or to none, as a staged change of the source.
    ///
    /// The destination's known one-to-one partner is left without one.
    ///
    /// - Parameter displacing: whether it is.
    func stageDestination(
        _ destination: DatabaseObject?,
        of source: DatabaseObject,
        _ relationship: RelationshipRuntime,
        displacing: Bool = true
    ) throws {
        guard relationship.holdsForeignKey else { return }
        let cells = try destinationCells(destination, of: source, relationship)
        for partner in displacing ? displaced(from: destination, by: source, relationship) : [] {
            try stageDestination(nil, of: partner, relationship)
        }
        let (entity, isNew) = (source.runtime, source.isInserted)
        let new = destination.flatMap { $0.isInserted ? $0 : nil }
        core.changeStaging(of: source) { state in
            var staging = state.stagingToChange
            let inFlight = core.columnsInFlight(staging, of: entity)
            staging.unlink(cells.columns, in: entity)
            staging.destinations[relationship.slot] = nil
            if let new {
                staging.destinations[relationship.slot] = new
                // The destination's key is not known yet.
                state.row = state.row.replacing(cells)
                staging.columns.subtract(cells.columns)
            } else {
                state.setCells(cells, in: &staging, inFlight: inFlight)
                staging.columns.subtract(isNew && destination == nil ? cells.columns : entity.generatedColumns)
            }
            state.staging = staging
        }
    }

    /// The foreign key's values with which a source refers to an object, or to none.
    ///
    /// Throws if they cannot be staged, so that callers can check before they write anything.
    private func destinationCells(
        _ destination: DatabaseObject?,
        of source: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws -> RowCells {
        var cells = RowCells()
        let columns = relationship.ownColumns
        try source.requireStageable()
        if let destination { try destination.requireLive() }
        let entity = source.runtime
        let isNew = source.isInserted
        let written = entity.writtenColumns(of: columns, isNew: isNew)
        for column in written {
            try entity.requireWritable(entity.entity.attributes[column], key: relationship.model.name)
        }
        guard let destination, !destination.isInserted else {
            let leaving = isNew ? entity.ownColumns(of: columns) : (entity.leavingColumns(of: columns) ?? written)
            for column in leaving { cells.setNull(column) }
            return cells
        }
        let values = try destination.referencedValues(relationship.otherColumns, relationship.model.name)
        for (column, value) in zip(columns, values) {
            try core.requireTenant(value, in: column, of: entity, key: relationship.model.name)
            // The values of a new row's generated columns are shown already.
            guard isNew && column != entity.tenantColumn || written.contains(column) else { continue }
            try cells.set(value, at: column, of: entity, core.types)
        }
        try requireAgreement(of: source, with: cells, relationship, columns)
        return cells
    }

    /// The known one-to-one partners that a destination loses to a source; several may be staged.
    private func displaced(
        from destination: DatabaseObject?, by source: DatabaseObject, _ relationship: RelationshipRuntime
    ) -> [DatabaseObject] {
        guard let destination, relationship.model.kind == .oneToOne else { return [] }
        return knownPartners(of: destination, relationship.inverse).filter { $0 !== source }
    }

    /// Throws if a to-one relationship cannot be pointed to an object, or to none, by a staged change.
    func requireDestination(
        _ destination: DatabaseObject?, of source: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws {
        _ = try destinationCells(destination, of: source, relationship)
        for partner in displaced(from: destination, by: source, relationship) {
            _ = try destinationCells(nil, of: partner, relationship)
        }
    }

    /// Throws if objects cannot become members by staged changes; called before anything is written or staged.
    ///
    /// - Parameter count: how many other members join before them.
    func requireJoin(
        _ members: [DatabaseObject],
        to owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        behind count: Int = 0
    ) throws {
        guard !members.isEmpty else { return }
        try core.requireWritable()
        try owner.requireLive()
        if let helper = relationship.helper {
            try helper.entity.requireGiven(helper.pairColumns, key: relationship.model.name)
            // Neither end is written, but the helper's rows name both.
            for object in [owner] + members where !object.isInserted && object.key == nil {
                throw object.runtime.notWritable
            }
            for member in members { try member.requireLive() }
            for object in [owner] + members {
                try object.requireReferenced(object.storedRow, relationship.model.name)
            }
            return
        }
        for member in members { try requireDestination(owner, of: member, relationship.inverse) }
        _ = try endPositions(of: members, owner, relationship, behind: count)
    }

    /// Throws if members cannot be removed by staged changes.
    func requireLeave(
        _ members: [DatabaseObject], from owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws {
        if relationship.helper != nil { return }
        let joined = stagedMembers(of: relationship, owner)
        for member in members where joined.contains(member) {
            try requireDestination(nil, of: member, relationship.inverse)
        }
    }

    /// Checks that a column which a new object's foreign key shares with its key or another foreign key agrees.
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

    /// The one-to-one partners that are known without I/O.
    private func knownPartners(of object: DatabaseObject, _ relationship: RelationshipRuntime) -> [DatabaseObject] {
        guard let loaded = core.loadedMembers(of: relationship, owner: object) else {
            return stagedMembers(of: relationship, object)
        }
        // Made anew where the program holds no such object.
        let entity = relationship.destination
        return core.objects(loaded, of: entity) ?? loaded.members.compactMap { core.liveObject(entity, $0.key) }
    }

    /// Adds objects to a to-many relationship, as staged changes: all of them, or none if it throws.
    func stageJoin(
        _ members: [DatabaseObject],
        to owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        payload: ColumnValues? = nil
    ) throws {
        guard !members.isEmpty else { return }
        try requireJoin(members, to: owner, relationship)
        if relationship.helper != nil {
            for member in members { core.stage(StagedPair(owner, member, in: relationship), payload: payload) }
            return
        }
        let places = try endPositions(of: members, owner, relationship)
        for member in members { try stageDestination(owner, of: member, relationship.inverse) }
        for (member, cells) in places { member.stage(cells) }
    }

    /// Removes objects from a to-many relationship, as staged changes.
    func stageLeave(
        _ members: [DatabaseObject],
        from owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        if relationship.helper != nil {
            for member in members { core.unstage(StagedPair(owner, member, in: relationship)) }
            return
        }
        for member in members where stagedMembers(of: relationship, owner).contains(member) {
            try stageDestination(nil, of: member, relationship.inverse)
        }
    }

    /// The members that a relationship has by staged changes.
    func stagedMembers(of relationship: RelationshipRuntime, _ owner: DatabaseObject) -> [DatabaseObject] {
        core.stagedChange(relationship, of: owner)?.joined ?? []
    }
}
