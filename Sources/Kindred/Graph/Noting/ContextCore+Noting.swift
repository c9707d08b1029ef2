import KindredPostgres
import KindredSchema

// Notes changes in logs, instead of pushing them into loaded relationships: see ``RelationshipLog``.
extension ContextCore {
    /// Notes a changed row at every owner that it referred to or refers to, as stored and as shown.
    ///
    /// - Parameter former: the row's previous key, by which older answers know it.
    func noteOwners(
        of object: DatabaseObject, _ key: @autoclosure () -> ObjectKey?, former: ObjectKey? = nil, from old: RowLinks,
        to new: RowLinks
    ) {
        let entity = object.runtime
        let (wasStored, isStored) = (old.stored, new.stored)
        if runtime.countLimits != nil {
            countMove(of: entity, from: old.isStored ? old.stored : nil, to: new.isStored ? new.stored : nil)
        }
        // The pairs of a new row come by themselves.
        if let filter = entity.filter, old.isStored, new.isStored,
            filter.columns.mayDiffer(from: wasStored, to: isStored)
        {
            notePairsStale(with: entity)
            countPaired(isStored, of: entity)
        }
        var slots = entity.moves(from: wasStored, to: isStored)
        if !old.isShownAsStored || !new.isShownAsStored {
            slots.formUnion(entity.moves(from: old.shown, to: new.shown))
        }
        if !old.isShownAsStored { for slot in old.destinations.keys { slots.insert(slot) } }
        if !new.isShownAsStored { for slot in new.destinations.keys { slots.insert(slot) } }
        if former != nil { for relationship in entity.foreignKeys { slots.insert(relationship.slot) } }
        if !entity.helperEnds.isEmpty, !wasStored.hasSameBytes(as: isStored) {
            noteHelperRow(wasStored, of: entity)
            noteHelperRow(isStored, of: entity)
        }
        guard !slots.isEmpty, let key = key() else { return }
        let entry = RelationshipLog.Entry(
            member: key, former: former, row: new.isStored ? isStored : nil, scope: writing?.scope)
        for slot in slots {
            let relationship = entity.relationships[slot]
            guard knows(relationship.destination) else { continue }
            let columns = relationship.ownColumns
            let keys = Set(
                [wasStored, old.shown, isStored, new.shown].compactMap { try? ObjectKey($0, columns) }
                    + [old, new].compactMap { $0.destinations[slot] }.flatMap { ownKeys(relationship.inverse, $0) })
            noteEntry(entry, through: relationship, of: keys)
        }
    }

    /// Notes that a row left owners which are not known, as its former row may have been undone.
    func noteUnknownOwners(of entity: EntityRuntime) {
        for relationship in entity.foreignKeys {
            noteAllStale(relationship.inverse)
        }
        for relationship in entity.helperEnds { noteAllStale(relationship) }
    }

    /// Notes a stored, changed or deleted row at the owners that it refers to.
    ///
    /// - Parameter isByOthers: whether another client has committed the change, so that pairs come with their helper's
    ///   rows alone.
    func noteRow(
        _ row: Row, of entity: EntityRuntime, _ key: ObjectKey?, isDeletion: Bool = false, isByOthers: Bool = false
    ) {
        if runtime.countLimits != nil {
            countMove(of: entity, from: isDeletion ? row : nil, to: isDeletion ? nil : row)
        }
        if isByOthers {
            if !isDeletion, entity.filter?.isExact == false {
                // Only the server can tell whether the row is a pair.
                noteHelperRow(row, of: entity)
            } else {
                notePair(in: row, of: entity, isPaired: !isDeletion && entity.filter?.shows(row) != false)
            }
        } else {
            noteHelperRow(row, of: entity)
        }
        noteWrittenThrough(entity)
        guard let key else { return }
        let entry = RelationshipLog.Entry(member: key, row: row, isDeletion: isDeletion, scope: writing?.scope)
        for relationship in entity.foreignKeys {
            guard knows(relationship.destination), let owner = try? ObjectKey(row, relationship.ownColumns)
            else { continue }
            noteEntry(entry, through: relationship, of: [owner])
        }
    }

    /// Notes an entry at the owners at the other end of a foreign key.
    private func noteEntry(
        _ entry: RelationshipLog.Entry, through relationship: RelationshipRuntime, of owners: Set<ObjectKey>
    ) {
        guard !owners.isEmpty else { return }
        if relationship.isComparedByServer {
            return noteAllStale(relationship.inverse)
        }
        noteEntry(entry, in: relationship.inverse, of: owners)
    }

    func noteEntry(
        _ entry: RelationshipLog.Entry, in relationship: RelationshipRuntime, of owners: some Collection<ObjectKey>
    ) {
        guard knows(relationship.source) else { return }
        // Only the server can tell whether the row is shown.
        if relationship.filter?.isExact == false { return owners.forEach { noteStale(relationship, $0) } }
        noteNow { map, time in
            map.notes.noteInLog(relationship) { log in
                for owner in owners { log.append(entry, of: owner, at: time) }
            }
        }
    }

    /// Whether an answer about an entity's relationships can be stale: not if no row of it was ever in memory and no
    /// relationship of it was read.
    private func knows(_ entity: EntityRuntime) -> Bool { withMap { $0.knows(entity) } }

    /// Notes at both ends that a pair of a many-to-many relationship came (true), went (false), or must be checked
    /// (nil).
    ///
    /// - Parameter formerly: the previous keys of both objects, by which the other ends know them.
    func notePair(
        _ owner: DatabaseObject, _ member: DatabaseObject, in relationship: RelationshipRuntime, isPaired: Bool?,
        formerly former: (owner: ObjectKey?, member: ObjectKey?) = (nil, nil)
    ) {
        if isPaired != nil {
            count(relationship, of: owner)
            count(relationship.inverse, of: member)
            if let helper = relationship.helper { notePartsLost(helper.entity) }
        }
        func note(
            _ member: DatabaseObject, in relationship: RelationshipRuntime, of owner: DatabaseObject,
            formerly former: ObjectKey?
        ) {
            guard let key = member.key else { return }
            let entry = RelationshipLog.Entry(
                member: key, former: former, row: member.storedRow, isPaired: isPaired, scope: writing?.scope)
            noteEntry(entry, in: relationship, of: ownKeys(relationship, owner))
        }
        note(member, in: relationship, of: owner, formerly: former.member)
        note(owner, in: relationship.inverse, of: member, formerly: former.owner)
        if isPaired != nil { notePairs(besides: relationship) }
    }

    /// A pair written through a relationship of a view also belongs to the table and to its other views.
    private func notePairs(besides relationship: RelationshipRuntime) {
        guard relationship.model.isByView, let helper = relationship.helper else { return }
        noteLostRows(of: helper.entity)
    }

    /// Notes that a pair went whose other end has no object.
    ///
    /// - Parameter row: the helper's row.
    func noteUnheldPair(
        _ row: Row, of owner: DatabaseObject, in relationship: RelationshipRuntime,
        through link: RelationshipRuntime.HelperLink
    ) {
        // The helper's rows are also members of one-to-many sets at both ends.
        for end in link.entity.foreignKeys {
            if let key = try? ObjectKey(row, end.ownColumns) { noteStale(end.inverse, key) }
        }
        let (destination, columns) = (relationship.destination, link.destinationColumns)
        if let ownKey = owner.key, let key = try? ObjectKey(row, columns) {
            noteUnpaired(relationship.inverse, owner: key, member: ownKey)
        }
        if let order = destination.keyOrder(of: relationship.otherColumns),
            let key = try? ObjectKey(row, order.map { columns[$0] })
        {
            for ownKey in ownKeys(relationship, owner) {
                noteUnpaired(relationship, owner: ownKey, member: destination.identity(key))
            }
        } else {
            noteStale(relationship, of: owner)
        }
    }

    /// Notes at one end that a pair went, where the other end has no object.
    private func noteUnpaired(_ relationship: RelationshipRuntime, owner: ObjectKey, member: ObjectKey) {
        count(relationship, ofOwner: owner)
        let entry = RelationshipLog.Entry(member: member, isPaired: false, scope: writing?.scope)
        noteEntry(entry, in: relationship, of: [owner])
        if let helper = relationship.helper { notePartsLost(helper.entity) }
        notePairs(besides: relationship)
    }

    /// Marks an owner's relationship as stale.
    func noteStale(_ relationship: RelationshipRuntime, of owner: DatabaseObject) {
        for key in ownKeys(relationship, owner) { noteStale(relationship, key) }
    }

    func noteStale(_ relationship: RelationshipRuntime, _ owner: ObjectKey) {
        if relationship.isComparedByServer { return noteAllStale(relationship) }
        notePartsLost(linksOf: relationship)
        guard knows(relationship.source) else { return }
        noteNow { map, time in map.notes.noteStale(relationship, owner, at: time) }
    }

    /// Marks a relationship of all rows of its entity as stale.
    func noteAllStale(_ relationship: RelationshipRuntime) {
        notePartsLost(linksOf: relationship)
        guard knows(relationship.source) else { return }
        noteNow { map, time in map.notes.noteAllStale(relationship, at: time) }
    }

    /// Marks the many-to-many sets at both ends of a changed helper row as stale.
    private func noteHelperRow(_ row: Row, of entity: EntityRuntime) {
        for relationship in entity.helperEnds {
            if let key = try? ObjectKey(row, relationship.linkColumns) { noteStale(relationship, key) }
        }
    }

    /// Notes, at both ends, a pair that another client has stored or deleted, as far as the row of the other end is in
    /// memory.
    private func notePair(in row: Row, of entity: EntityRuntime, isPaired: Bool) {
        for relationship in entity.helperEnds {
            guard let owner = try? ObjectKey(row, relationship.linkColumns), knows(relationship.source) else {
                continue
            }
            if let entry = pairEntry(in: row, relationship, isPaired: isPaired) {
                noteEntry(entry, in: relationship, of: [owner])
            } else {
                noteStale(relationship, owner)
            }
        }
    }

    /// The log's entry for the end of a pair that another client has stored or deleted; nil if the end's row is
    /// unknown.
    private func pairEntry(
        in row: Row, _ relationship: RelationshipRuntime, isPaired: Bool
    ) -> RelationshipLog.Entry? {
        let (entity, columns) = (relationship.destination, relationship.inverse.linkColumns)
        guard !relationship.isComparedByServer, relationship.position == nil || !isPaired,
            let order = entity.keyOrder(of: relationship.otherColumns),
            let found = try? ObjectKey(row, order.map { columns[$0] })
        else { return nil }
        let key = entity.identity(found)
        guard isPaired else { return RelationshipLog.Entry(member: key, isPaired: false) }
        let end = liveObject(entity, key)?.storedRow ?? withMap { $0.notes.newerRow(entity, key)?.row }
        return end.map { RelationshipLog.Entry(member: key, row: $0, isPaired: true) }
    }

    /// The keys by which the other end of a relationship refers to an object: a new object has its temporary one, too.
    func ownKeys(_ relationship: RelationshipRuntime, _ object: DatabaseObject) -> [ObjectKey] {
        let (row, temporary) = object.withState { ($0.storedRow, $0.stagingBox?.staging.temporaryKey) }
        guard let temporary else {
            return (try? relationship.ownKey(row)).flatMap { $0 }.map { [$0] } ?? []
        }
        let given = try? relationship.ownKey(object.row)
        return [.temporary(temporary)] + (given.flatMap { $0 }.map { [$0] } ?? [])
    }
}

// Views, and tables from which others inherit, show the rows of other tables as objects of their own. How a write through one
// affects the other is unknown, so that relationships are marked as stale.
extension ContextCore {
    /// Notes a write through a view, or a table in a line of inheritance: evicts all notes on the other tables of its rows.
    func noteWrittenThrough(_ view: EntityRuntime) {
        if view.shownEntities.isEmpty { return }
        for table in view.shownEntities { notePartsLost(runtime.entities[table]) }
        for table in view.shownEntities.map({ runtime.entities[$0] }) where withMap({ $0.knows(table) }) {
            noteNow { map, time in map.notes.forgetNotes(of: table, at: time) }
        }
    }

    /// Whether an object in memory proves that a foreign key leads to it: a view may no longer show the row.
    func mayTrustObject(of relationship: RelationshipRuntime) -> Bool {
        guard relationship.model.isByView, relationship.destination.entity.isView else { return true }
        return withMap { $0.notes.viewsStaleSince } == .never
    }
}
