import KindredPostgres
import KindredSchema
import Synchronization

// Stages positions where an end is new; for pairs their staged order decides.
extension Stager {
    /// Stages the order of a new owner's members, if it has one.
    func stageOrder(
        _ members: [DatabaseObject],
        of owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        guard let position = relationship.position else { return }
        if relationship.helper != nil {
            for member in members { restage(StagedPair(owner, member, in: relationship)) }
            core.takeUnknownMembers(of: owner, in: relationship)
        } else {
            for (place, member) in members.enumerated() {
                try member.stageOrThrow(.integer(Int64(place + 1)), at: position)
            }
        }
    }

    /// Gives new members of ordered sets without a position one at the end, as `append` does.
    ///
    /// One SELECT for each relationship whose sets are not loaded. Returns the objects with staged positions, including
    /// stored members that had none.
    func placeNewMembers(among objects: [DatabaseObject]) async throws -> [DatabaseObject] {
        struct End: Hashable {
            let owner: DatabaseObject
            let relationship: RelationshipRuntime
        }
        var ends: [End] = []
        var joining: [End: [DatabaseObject]] = [:]
        for object in objects where object.runtime.joinsOrderedSets && object.isInserted {
            let (row, staging) = object.withState { ($0.row, $0.staging) }
            guard let staging else { continue }
            for relationship in object.runtime.foreignKeys {
                guard let position = relationship.inversePosition, row.isNull(at: position),
                    !staging.columns.contains(position), !object.runtime.generatedColumns.contains(position),
                    object.runtime.entity.attributes[position].identity != .always,
                    let owner = try owner(of: object, relationship, row: row, staging: staging)
                else { continue }
                let end = End(owner: owner, relationship: relationship.inverse)
                if joining[end] == nil { ends.append(end) }
                joining[end, default: []].append(object)
            }
        }
        var placed: [DatabaseObject] = []
        for (relationship, ends) in Dictionary(grouping: ends, by: \.relationship).sorted(by: { $0.key < $1.key }) {
            try await PrimaryReads.run { try await Loader(core).load(relationship, forAll: ends.map(\.owner)) }
            for end in ends {
                for (member, cells) in try endPositions(of: joining[end] ?? [], end.owner, relationship) {
                    member.stage(cells)
                    placed.append(member)
                }
            }
        }
        return placed
    }

    /// The object that a new one refers to, if it is in memory.
    private func owner(
        of object: DatabaseObject, _ relationship: RelationshipRuntime, row: Row, staging: Staging
    ) throws -> DatabaseObject? {
        if let new = staging.destinations[relationship.slot] { return new }
        guard let key = try ObjectKey(row, relationship.ownColumns) else { return nil }
        return try Loader(core).liveDestination(of: relationship, key, row)
    }

    /// The positions of members that join by a staged change, after the owner's visible members.
    ///
    /// Members without a position come last, and get one first. Throws `KindredError` `.valueTooLarge` if the column
    /// has no room, and any error of staging a position.
    ///
    /// - Parameter count: how many other members get positions before them.
    func endPositions(
        of members: [DatabaseObject],
        _ owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        behind count: Int = 0
    ) throws -> [(member: DatabaseObject, cells: RowCells)] {
        guard let position = relationship.position, relationship.destinationHoldsForeignKey else { return [] }
        let joining = Set(members)
        let entity = relationship.destination
        var last: Int64 = 0
        var unplaced: [DatabaseObject] = []
        if let loaded = core.loadedMembers(of: relationship, owner: owner) {
            for member in loaded.members {
                let object = core.liveObject(entity, member.key)
                if let object, joining.contains(object) { continue }
                if case .integer(let value) = (object?.row ?? member.row).valueOrRaw(at: position) {
                    last = max(last, value)
                } else if let object =
                    object ?? core.object(member, of: entity, loaded.group, askedAt: loaded.seenAt ?? loaded.askedAt)
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

    /// Moves a staged pair to the end.
    private func restage(_ pair: StagedPair) {
        core.journal?.record(pair, in: core)
        core.staged.withLock { staged in
            guard staged.contains(pair) else { return }
            let payload = staged.entry(of: pair)?.payload
            staged.remove(pair)
            staged.insert(pair, payload: payload)
        }
    }
}
