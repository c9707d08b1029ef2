import KindredPostgres
import Synchronization

/// The origin of a row, which decides whether it wins over the row in memory.
enum RowOrigin {
    /// A statement of the task has written it: it wins.
    case written
    /// A query sent at a time has read it: it wins unless the row was read or changed later.
    case read(ContextTime)
    /// Another client has committed it, and a query sent at a time has read it: as `read`, and answers to queries sent
    /// before now lose to it.
    case committed(ContextTime)

    /// When the query was sent; nil for a written row.
    var askedAt: ContextTime? {
        switch self {
        case .written: nil
        case .read(let time), .committed(let time): time
        }
    }

    var isByOthers: Bool {
        if case .committed = self { true } else { false }
    }
}

/// The cause of a row's deletion.
enum DeletionCause {
    /// A statement of the context, which deleted the row or did not find it.
    case context
    /// The rollback of the INSERT.
    case rollback
    /// A committed transaction of another client.
    case others
}

// The door for rows: `accept` takes every row that comes in. It updates the object, keeps the rows that loaded
// relationships need, and notes the change for the sets that the row has joined or left. Here for rows that may have no
// object: written rows, and rows of a relationship's answer. Changes of other clients come by ``CommittedChanges``.
extension ContextCore {
    /// A relationship of an owner.
    struct OwnerEnd {
        let owner: DatabaseObject
        let relationship: RelationshipRuntime
    }

    /// Takes a row that a statement of this context has written, and that may have no object.
    ///
    /// It goes to the object, or else is kept, newer than in loaded relationships; the owners that it refers to or has
    /// left are noted.
    ///
    /// - Parameters:
    ///   - known: the row's object, where its key has changed.
    ///   - end: the owner that the statement was about, which the row has joined or left.
    func accept(
        _ row: Row, of entity: EntityRuntime, object known: DatabaseObject? = nil, at end: OwnerEnd? = nil
    ) throws {
        guard let key = try ObjectKey(row, entity.key) else { return }
        if let object = known ?? liveObject(entity, key) { return try accept(row, for: object) }
        let before = note { map, time in
            let before = map.notes.newerRow(entity, key)
            map.notes.setNewerRow(NewerRow(row: row, changedAt: time), of: entity, key: key)
            return before
        }
        writing?.recordNewerRow(before, of: entity, key: key, in: self)
        notePartsLost(entity)
        noteRow(row, of: entity, key)
        noteWritten(entity, key)
        guard let end else { return }
        let entry = RelationshipLog.Entry(member: key, row: row, scope: writing?.scope)
        note(entry, in: end.relationship, of: ownKeys(end.relationship, end.owner))
    }

    /// Takes rows that a statement has changed without telling the former rows: loaded relationships become stale if
    /// one of the rows has no object.
    ///
    /// - Returns: The positions of the rows without objects.
    @discardableResult
    func accept(_ rows: EntityRows, of entity: EntityRuntime) throws -> [Int] {
        var unheld: [Int] = []
        for position in 0..<rows.count {
            let row = try rows[position]
            guard let key = try ObjectKey(row, entity.key) else { continue }
            if let object = follower(entity, key) {
                try accept(row, for: object)
            } else {
                unheld.append(position)
            }
        }
        if !unheld.isEmpty { forgetUnheldRows(of: entity) }
        return unheld
    }

    /// The object of a key, also after it left memory, if its newer row is noted.
    private func follower(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        withMap { map in
            if let object = map.object(entity, key) { return object }
            guard let newer = map.notes.newerRow(entity, key) else { return nil }
            return map.object(entity, key) {
                make(ObjectSeed(core: self, runtime: entity, row: newer.row))
            }.object
        }
    }

    /// Takes the row that a statement has just stored, and that its object shows already.
    func accept(storedRowOf object: DatabaseObject) {
        noteParts(object.runtime, from: nil, to: object.storedRow)
        noteRow(object.storedRow, of: object.runtime, object.key)
        if let key = object.key { noteWritten(object.runtime, key) }
        countNew(object.storedRow, of: object.runtime)
    }

    /// Takes the rows of a relationship's answer: they replace older notes, and refresh objects that are stale or lack
    /// columns.
    func accept(_ batch: LoadedBatch, of entity: EntityRuntime) throws {
        let replaced = withMap { map -> [(key: ObjectKey, newer: NewerRow)] in
            guard map.notes.hasNotes(entity) else { return [] }
            return batch.rows.compactMap { member in
                map.notes.noteRead(member.row, of: entity, key: member.key, askedAt: batch.askedAt).map {
                    (member.key, $0)
                }
            }
        }
        for (key, newer) in replaced { writing?.recordNewerRow(newer, of: entity, key: key, in: self) }
        // Where views and tables share rows, every object may be.
        let isShared = entity.sharesRows && (runtime.hasViewRelationships || runtime.hasInheritance)
        let mayBePartial = mayBePartial.load(ordering: .acquiring)
        guard isShared || mayBePartial || undoCount > 0, !entity.key.isEmpty else { return }
        for member in batch.rows {
            guard let object = liveObject(entity, member.key),
                isShared || object.isStale || mayBePartial && isPartial(object)
            else { continue }
            try accept(member.row, for: object, from: .read(batch.askedAt))
        }
    }
}

// The rows of new objects that a save has stored.
extension ContextCore {
    /// New objects with the rows that they were stored with, in the same order.
    struct StoredObjects {
        let entity: EntityRuntime
        let objects: ArraySlice<SavedObject>
        let rows: [Row]
        let keys: [ObjectKey]
        /// Their temporary keys and references; nil if they are as they were saved.
        let before: [(key: ObjectKey?, links: RowLinks)]?
        /// Objects rolled back while they were being stored: their rows exist, and get new objects when read.
        let givenUp: Set<DatabaseObject>
    }

    /// Puts new objects at their keys and notes their rows at the owners.
    func accept(_ stored: StoredObjects) {
        let (entity, keys, rows, givenUp) = (stored.entity, stored.keys, stored.rows, stored.givenUp)
        let scope = writing?.scope
        let saved = stored.objects.span
        let (displaced, replaced) = withMap { map in
            map.makeRoom(for: rows.count, of: entity)
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
        noteWritten(entity, keys)
        noteWrittenThrough(entity)
        noteParts(entity, stored: rows)
        let isCounted = runtime.countLimits?.concern(entity, nil) == true
        let (isLinked, isNoted) = withMap { map in (map.knowsAny(linkedTo: entity), map.notes.isNoted) }
        guard isLinked || isCounted || isNoted || !givenUp.isEmpty else { return }
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
            noteChange(of: object, keys[place], former: before.key, from: before.links, to: links)
        }
    }
}
