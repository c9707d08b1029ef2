import KindredPostgres
import Synchronization

// Only these functions are called to make notes. For each event they keep one order: the row itself, the parts of relationships
// that read it, its owners and pairs, views, and the context's own writes. `take` calls them for rows that arrive; staging and
// rollbacks call them, too.
extension ContextCore {
    // MARK: Changed rows

    /// Notes a changed row of an object, which has it already.
    ///
    /// - Parameters:
    ///   - old: the object's references before, staged ones too.
    ///   - new: its references now.
    func taken(
        _ change: RowChange, of object: DatabaseObject, from old: RowLinks, to new: RowLinks, by origin: ChangeOrigin
    ) {
        let entity = change.entity
        if let former = change.formerKey, let key = change.key {
            rekey(object, from: former, to: key)
        } else if references.isIndexed, let key = object.key {
            withMap { $0.noteChanged(entity, key) }
        }
        noteParts(change, by: origin)
        noteOwners(of: object, object.key, former: change.formerKey, from: old, to: new)
        // A change that a read has shown is no write of the context.
        guard case .written = origin else { return }
        noteWrittenThrough(entity)
        if !change.isBeforeKnown { noteUnknownOwners(of: entity) }
        if following != nil, let key = object.key { noteWritten(entity, key) }
    }

    /// Puts an object at the new key of its row.
    ///
    /// The row with the former key is gone, unless another row has that key now.
    private func rekey(_ object: DatabaseObject, from former: ObjectKey, to key: ObjectKey) {
        let (entity, scope) = (object.runtime, writing?.scope)
        let displaced = noteNow { map, time in
            map.remove(object, of: entity, key: former)
            if map.object(entity, former) == nil { map.notes.noteDeleted(entity, former, at: time, in: scope) }
            map.notes.noteStored(entity, key, in: scope)
            return map.insert(object, of: entity, key: key)
        }
        // With a key that is checked later, two rows may have it meanwhile: a rollback puts the other object back.
        if let displaced { journal?.record(displaced) }
    }

    /// Notes a written row without an object; or with its object (`isHeld`), where it was just stored.
    ///
    /// - Parameter end: the owner that the row has joined or left; the row may no longer have its key.
    func taken(_ change: RowChange, _ row: Row, isHeld: Bool = false, at end: OwnerEnd? = nil) {
        let (entity, key) = (change.entity, change.key)
        if !isHeld, let key { keepUnheld(row, of: entity, key) }
        noteParts(change, by: .written)
        noteRow(row, of: entity, key)
        if isHeld { countNew(row, of: entity) }
        if let key { noteWritten(entity, key) }
        guard let end, let key else { return }
        let entry = RelationshipLog.Entry(member: key, row: row, scope: writing?.scope)
        noteEntry(entry, in: end.relationship, of: ownKeys(end.relationship, end.owner))
        guard let filter = entity.filter, !filter.columns.isDisjoint(with: end.relationship.linkColumns) else { return }
        notePairsStale(with: entity)
        countPaired(row, of: entity)
    }

    /// Keeps the row of a key without an object, newer than in answers.
    private func keepUnheld(_ row: Row, of entity: EntityRuntime, _ key: ObjectKey) {
        let scope = writing?.scope
        let before = noteNow { map, time in
            let before = map.notes.newerRow(entity, key)
            map.notes.setNewerRow(NewerRow(row: row, changedAt: time), of: entity, key: key)
            map.notes.noteStored(entity, key, in: scope)
            return before
        }
        writing?.recordNewerRow(before, of: entity, key: key, in: self)
    }

    private func noteParts(_ change: RowChange, by origin: ChangeOrigin) {
        guard change.isBeforeKnown else { return notePartsLost(change.entity) }
        noteParts(
            change.entity, from: change.before, to: change.after,
            askedAt: origin.isByOthers ? nil : origin.askedAt)
    }

    /// Notes that another client may have written a column that its committed row leaves out; the other columns are unchanged.
    func takenLeavingOut(_ row: Row, of entity: EntityRuntime) { noteParts(entity, from: row, to: row) }

    // MARK: New rows

    /// Puts new objects at their keys, and notes their rows.
    func taken(_ stored: StoredObjects) {
        let (entity, keys, rows, givenUp) = (stored.entity, stored.keys, stored.rows, stored.givenUp)
        placeStored(stored)
        noteParts(entity, stored: rows)
        noteWrittenThrough(entity)
        noteWritten(entity, keys)
        let isCounted = runtime.countLimits?.concern(entity, nil) == true
        let (isLinked, isNoted) = withMap { map in (map.knowsAny(linkedTo: entity), map.notes.isNoted) }
        guard isLinked || isCounted || isNoted || !givenUp.isEmpty else { return }
        let saved = stored.objects.span
        for place in saved.indices {
            let object = saved[place].object
            if isCounted { countNew(rows[place], of: entity) }
            if givenUp.contains(object) {
                noteRow(rows[place], of: entity, keys[place])
                continue
            }
            let temporary = saved[place].stagingBox?.staging.temporaryKey
            var before = (key: temporary.map { ObjectKey.temporary($0) }, links: RowLinks(before: saved[place]))
            if let known = stored.before { before = known[place] }
            if let key = before.key { withMap { $0.notes.renameOwner(key, of: entity, row: rows[place]) } }
            guard isLinked || isCounted else { continue }
            let links = object.withState { RowLinks($0) }
            noteOwners(of: object, keys[place], former: before.key, from: before.links, to: links)
        }
    }

    private func placeStored(_ stored: StoredObjects) {
        let (entity, keys, givenUp, scope) = (stored.entity, stored.keys, stored.givenUp, writing?.scope)
        let (displaced, replaced) = withMap { map in
            let saved = stored.objects.span
            map.makeRoom(for: stored.rows.count, of: entity)
            // The temporary keys stay valid until the save ends: loaded sets may still hold them.
            let hasNotes = map.notes.hasNotes(entity)
            var displaced: [DatabaseObject] = []
            var replaced: [(key: ObjectKey, row: NewerRow)] = []
            for place in saved.indices {
                let (object, key) = (saved[place].object, keys[place])
                if !givenUp.isEmpty, givenUp.contains(object) { continue }
                if let other = map.insert(object, of: entity, key: key) { displaced.append(other) }
                guard hasNotes else { continue }
                if let row = map.notes.newerRow(entity, key) { replaced.append((key, row)) }
                map.notes.setNewerRow(nil, of: entity, key: key)
                map.notes.noteStored(entity, key, in: scope)
            }
            return (displaced, replaced)
        }
        journal?.record(displaced)
        for (key, row) in replaced { journal?.recordNewerRow(row, of: entity, key: key, in: self) }
    }

    // MARK: Deleted rows

    /// Notes the deletion of an object's row; the object says so already.
    func taken(deletion change: RowChange, of object: DatabaseObject, by origin: ChangeOrigin) {
        let (entity, key, scope) = (change.entity, change.key, writing?.scope)
        let isUndone = if case .undone = origin { true } else { false }
        if let key {
            noteNow { map, time in
                map.remove(object, of: entity, key: key)
                // An undone row was in no answer that is still valid; another row may have its key.
                if !isUndone { map.notes.noteDeleted(entity, key, at: time, in: scope) }
            }
        }
        // Notes on an undone row count no longer.
        if isUndone { return }
        noteParts(change, by: .written)
        if let row = change.before {
            noteRow(row, of: entity, key, isDeletion: true, isByOthers: origin.isByOthers)
        } else {
            noteLostRows(of: entity)
        }
        // The deletions of the helper's rows are told as changes of their own.
        if origin.isByOthers { return }
        // The row does not have the other ends: any loaded inverse may hold it.
        for case let helper? in entity.relationships.map(\.helper) { noteLostRows(of: helper.entity) }
        if let key { noteWritten(entity, key) }
    }

    /// Notes the deletion of rows without objects; the statement tells the deletion of their helpers' rows itself.
    func taken(deletions keys: Set<ObjectKey>, of entity: EntityRuntime) {
        let scope = writing?.scope
        noteNow { map, time in
            for key in keys { map.notes.noteDeleted(entity, key, at: time, in: scope) }
        }
        noteLostRows(of: entity)
        noteWritten(entity, keys)
    }

    // MARK: Unknown rows

    func taken(_ gap: RowGap, by origin: ChangeOrigin = .written) {
        let entity = gap.entity
        switch gap.rows {
        case .some: noteLostRows(of: entity, areStale: true)
        case .deleted: noteLostRows(of: entity)
        case .members(let relationship, let owner?): noteStale(relationship, owner)
        case .members(let relationship, nil): noteAllStale(relationship)
        case .shown: noteShownOrHidden(of: entity)
        case .ofParts: notePartsLost(entity)
        case .everything:
            noteNow { map, time in
                if origin.isByOthers {
                    map.notes.noteUnknownRows(entity, at: time)
                } else {
                    map.notes.forgetNotes(of: entity, at: time)
                }
            }
            notePartsLost(entity)
            noteWrittenThrough(entity)
            if origin.isByOthers { takenByViews() }
        }
    }

    /// Notes that anything in memory may have changed.
    func takenEverything(by origin: ChangeOrigin = .written) {
        for entity in runtime.entities where withMap({ $0.knows(entity) }) {
            taken(RowGap(.everything, of: entity), by: origin)
        }
        noteAllParts()
    }

    /// Notes a write, which views may show: answers about their relationships are stale.
    func takenByViews() {
        guard runtime.hasViewRelationships else { return }
        noteNow { map, time in map.notes.noteViewsStale(at: time) }
    }

    // MARK: Rows of other clients

    /// Notes a committed row without an object; false if the context may have a later row.
    func taken(committed change: RowChange, _ row: Row, _ key: ObjectKey, askedAt: ContextTime) -> Bool {
        let entity = change.entity
        let isTaken = withMap { $0.notes.noteCommitted(row, of: entity, key: key, askedAt: askedAt, at: tick()) }
        if isTaken { notePartsLost(entity) }
        return isTaken
    }

    /// Notes that another client may have moved a row to another owner.
    ///
    /// Needed for a known row, too: reading it told nothing to sets that were loaded before.
    func taken(moved change: RowChange, _ row: Row, _ key: ObjectKey) {
        let entity = change.entity
        if entity.filter != nil { notePairsStale(with: entity) }
        noteNow { map, time in
            map.notes.noteMoved(entity, key, at: time)
            map.notes.noteLeft(entity, at: time)
        }
        // It may have left a pair.
        if !entity.namesPairs { for relationship in entity.helperEnds { noteAllStale(relationship) } }
        noteRow(row, of: entity, key, isByOthers: true)
    }

    /// Notes that another client has deleted a row without an object, which has left unknown owners.
    ///
    /// Needed for a row that is known to be gone, too: it may have been there again for a while.
    ///
    /// - Parameter row: the row, as far as it is known.
    func taken(committedDeletion key: ObjectKey, of entity: EntityRuntime, _ row: Row?) {
        noteNow { map, time in map.notes.noteDeleted(entity, key, at: time) }
        notePartsLost(entity)
        takenAway(entity)
        if let row {
            noteRow(row, of: entity, key, isDeletion: true, isByOthers: true)
        } else {
            for relationship in entity.helperEnds { noteAllStale(relationship) }
        }
    }

    /// Notes that a row has left unknown owners: members are counted again.
    func takenAway(_ entity: EntityRuntime) { noteNow { map, time in map.notes.noteLeft(entity, at: time) } }

    /// Notes for views and inheriting tables that another client has committed rows of an entity.
    func taken(committed entity: EntityRuntime) {
        noteWrittenThrough(entity)
        takenByViews()
    }

    // MARK: Pairs

    /// Notes a pair that came or went, for the sets of pairs and of the helper's rows at both ends.
    func taken(_ pair: PairChange) {
        switch pair.member {
        case .object(let member):
            notePair(pair.owner, member, in: pair.relationship, isPaired: pair.isPaired)
            takenHelperRows(of: pair.link, between: pair.owner, member)
        case .row(let row): noteUnheldPair(row, of: pair.owner, in: pair.relationship, through: pair.link)
        }
    }

    /// Marks the sets of helper rows at both ends of a pair as stale.
    func takenHelperRows(
        of link: RelationshipRuntime.HelperLink, between source: DatabaseObject, _ destination: DatabaseObject
    ) {
        for end in link.entity.foreignKeys {
            if end.ownColumns == link.sourceColumns { takenHelperRows(end, of: source) }
            if end.ownColumns == link.destinationColumns { takenHelperRows(end, of: destination) }
        }
    }

    /// Marks the set of helper rows at one end of a pair as stale.
    ///
    /// - Parameter end: the helper's foreign key to that end.
    func takenHelperRows(_ end: RelationshipRuntime, of owner: DatabaseObject) {
        // The key may lead to a view of the owner's table, or the other way round.
        if end.destination != owner.runtime { return noteAllStale(end.inverse) }
        noteStale(end.inverse, of: owner)
    }

    /// Drops all loaded relationships of an object, and marks them as stale.
    func takenAgain(_ object: DatabaseObject) {
        object.withState { $0.relationships = LoadedRelationships() }
        guard let key = object.key else { return }
        noteNow { map, time in map.notes.noteStale(object.runtime, key, at: time) }
    }

    // MARK: Staged changes

    /// Notes a staged change of an object, for the owners to which it refers.
    func staged(_ object: DatabaseObject, _ key: @autoclosure () -> ObjectKey?, from old: RowLinks, to new: RowLinks) {
        noteOwners(of: object, key(), from: old, to: new)
    }

    /// Notes a pair that was staged, or is not staged any more.
    ///
    /// - Parameter former: the previous keys of both objects, by which the other ends know them.
    func staged(_ pair: StagedPair, formerly former: (owner: ObjectKey?, member: ObjectKey?) = (nil, nil)) {
        notePair(pair.source, pair.destination, in: pair.relationship, isPaired: nil, formerly: former)
    }

    /// Notes the rows that a running deletion will delete, or that it deletes no more.
    func staged(deletions keys: [ObjectKey], of entity: EntityRuntime, _ isDeleting: Bool) {
        withMap { $0.notes.setDeleting(isDeleting, of: entity, keys: keys) }
    }

    // MARK: Rows that were read

    /// Notes that relationships of an entity are read: from now on its rows are known.
    func willRead(_ entity: EntityRuntime) { withMap { $0.notes.noteKnown(entity) } }

    /// Replaces rows that are kept for keys without objects by newer rows of an answer.
    func taken(read batch: LoadedBatch, of entity: EntityRuntime) {
        let replaced = withMap { map -> [(key: ObjectKey, newer: NewerRow)] in
            guard map.notes.hasNotes(entity) else { return [] }
            return batch.rows.compactMap { member in
                map.notes.noteRead(member.row, of: entity, key: member.key, askedAt: batch.askedAt).map {
                    (member.key, $0)
                }
            }
        }
        for (key, newer) in replaced { writing?.recordNewerRow(newer, of: entity, key: key, in: self) }
    }

    /// Applies notes on a row to an object made from an answer; the journal records them for a rollback.
    func tellNotes(to object: DatabaseObject, _ key: ObjectKey, askedAt: ContextTime, _ map: inout IdentityMap) {
        let entity = object.runtime
        guard map.notes.hasNotes(entity) else { return }
        let (writing, sentAt) = (writing, object.withState { $0.seenAt })
        // An answer that was on its way when the row was deleted.
        if map.notes.isDeleted(entity, key, since: sentAt, in: journal?.scope.root) {
            object.withState { $0.status = .deleted }
            return map.remove(object, of: entity, key: key)
        }
        if map.notes.mayHaveChanged(entity, since: sentAt) {
            object.withState { $0.becomeStale(at: sentAt) }
            undone.add(1, ordering: .acquiringAndReleasing)
            following?.mustCheck(at: now)
        }
        map.notes.noteStored(entity, key, in: writing?.scope)
        map.notes.tell(object, key, since: askedAt)
        guard let replaced = map.notes.noteRead(object.storedRow, of: entity, key: key, askedAt: askedAt) else {
            return
        }
        writing?.recordNewerRow(replaced, of: entity, key: key, in: self)
    }

    /// Notes new objects of an answer, which may be older than changes that have been left out.
    func arrived(_ objects: [DatabaseObject], of entity: EntityRuntime, askedAt: ContextTime) {
        guard let following, following.hasLeftOut(entity, since: askedAt) else { return }
        following.arrived(objects.compactMap(\.key), of: entity, at: now)
    }

    // MARK: Rollbacks

    /// Puts back the row that was kept for a key without an object.
    func takenBack(_ row: NewerRow?, of entity: EntityRuntime, _ key: ObjectKey) {
        withMap { $0.notes.setNewerRow(row, of: entity, key: key) }
    }

    /// Puts back the former note on an entity's lost rows, unless more rows were lost since.
    func takenBack(_ before: LostRows, of entity: EntityRuntime, at time: ContextTime) {
        withMap { $0.notes.undoLostRows(entity, at: time, before) }
    }

    /// Puts a restored object at its key.
    ///
    /// - Parameter outer: the scope around the undone scope; it may have stored the row and may be rolled back too.
    func takenBack(_ object: DatabaseObject, at key: ObjectKey, in outer: TransactionScope?) {
        withMap { map in
            map.insert(object, of: object.runtime, key: key)
            map.notes.noteStored(object.runtime, key, in: outer)
        }
    }

    /// Called when a transaction or savepoint was rolled back, or other clients have changed unknown rows: relationships
    /// are rebuilt from their answers.
    func takenBack() {
        noteNow { _, _ in _ = undone.add(1, ordering: .acquiringAndReleasing) }
    }
}
