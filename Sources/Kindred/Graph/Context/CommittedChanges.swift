import KindredPostgres
import Synchronization

/// Changes of an entity's rows that others have committed, with the rows as one snapshot of the database has them.
///
/// Each key stands in one of the lists.
struct CommittedChanges: Sendable {
    let entity: EntityRuntime
    /// Rows with new keys: nobody has read another row with such a key.
    var inserted: [Row] = []
    /// Rows that have changed, or may have.
    var updated: [Row] = []
    /// The keys of rows that are gone.
    var deleted: [ObjectKey] = []
    /// Whether more rows have changed, unknown which.
    var isIncomplete = false
}

extension ContextCore {
    /// Takes changes that others have committed, and sends nothing.
    ///
    /// Objects show their new rows and keep staged values, based on the rows that these were staged on. Objects of
    /// deleted rows are deleted for good, without their staged values. Loaded sets and to-one ends follow at their next
    /// use, where the rows tell what became of them; counts are asked for again, and so are many-to-many sets that a
    /// row joins which is not in memory. A row that the context knows changes nothing. Where it is unknown which rows
    /// have changed, everything loaded of the entity is stale.
    ///
    /// Answers that are still on their way lose to these changes. To be called outside of transactions, when
    /// all changes of a snapshot have been read.
    ///
    /// - Parameter askedAt: a time of the context before the snapshot, from `beginReading`.
    /// - Returns: The keys that were left out, because the context has read or written their rows since, or a running
    ///   transaction has: which row is the later one is unknown. They are to be read again in a later snapshot.
    func accept(_ changes: CommittedChanges, askedAt: ContextTime) throws -> Set<ObjectKey> {
        let entity = changes.entity
        var doubtful: Set<ObjectKey> = []
        for key in changes.deleted where try !acceptCommitted(deletionOf: key, of: entity, askedAt: askedAt) {
            doubtful.insert(key)
        }
        for (rows, areNew) in [(changes.inserted, true), (changes.updated, false)] {
            for row in rows {
                guard let key = try ObjectKey(row, entity.key) else { continue }
                let change = CommittedRow(entity: entity, key: key, row: row, isNew: areNew, askedAt: askedAt)
                if try !acceptCommitted(change) { doubtful.insert(key) }
            }
        }
        if changes.isIncomplete { noteUnknownRows(of: entity) }
        noteWrittenThrough(entity)
        noteViewsOutdated()
        return doubtful
    }

    /// Whether the row is known or was taken, and not left out.
    private func acceptCommitted(_ change: CommittedRow) throws -> Bool {
        let (entity, key, row) = (change.entity, change.key, change.row)
        if let object = liveObject(entity, key) {
            // Loaded sets may have an older row than an object that was only read.
            let isElsewhere = !change.isNew && !object.withState { $0.isNewer }
            try accept(row, for: object, from: .committed(change.askedAt))
            guard object.withState({ $0.storedRow.hasSameBytes(as: row) }) else { return false }
            if isElsewhere { note { map, time in map.notes.noteMoved(entity, key, at: time) } }
            return true
        }
        if isWritten(key, of: entity) { return false }
        let outcome = withMap { map in
            let time = tick()
            let outcome = map.notes.noteCommitted(change, at: time)
            if outcome == .taken { notedAt.store(time, ordering: .releasing) }
            return outcome
        }
        if outcome == .taken { noteRow(row, of: entity, key, isByOthers: true) }
        return outcome != .doubtful
    }

    /// Whether the row is known to be gone or its deletion was taken, and not left out.
    private func acceptCommitted(
        deletionOf key: ObjectKey, of entity: EntityRuntime, askedAt: ContextTime
    ) throws -> Bool {
        if let object = liveObject(entity, key) {
            guard object.withState({ $0.seenAt <= askedAt }),
                !journals.others(than: journal).contains(where: { $0.hasRecorded(object) })
            else { return false }
            try accept(deletionOf: object, by: .others)
            return true
        }
        if isWritten(key, of: entity) { return false }
        let former = withMap { $0.notes.newerRow(entity, key) }
        if let former, former.changedAt > askedAt { return false }
        if withMap({ $0.notes.isDeleted(entity, key, since: .never) }) { return true }
        note { map, time in
            map.notes.noteDeleted(entity, key, at: time)
            // Which owners it has left is unknown: their members are counted again.
            map.notes.noteMoved(entity, nil, at: time)
        }
        if let row = former?.row ?? helperRow(entity, key) {
            noteRow(row, of: entity, key, isDeletion: true, isByOthers: true)
        } else {
            for relationship in entity.helperEnds { noteAllStale(relationship) }
        }
        return true
    }

    /// Whether a running transaction has written the row of a key without an object.
    private func isWritten(_ key: ObjectKey, of entity: EntityRuntime) -> Bool {
        journals.others(than: journal).contains { $0.hasNewerRow(of: entity, key, in: self) }
            || withMap { $0.notes.isBeingDeleted(entity, key) }
    }

    /// A helper's row with nothing but its key, if that names both ends of the pair.
    private func helperRow(_ entity: EntityRuntime, _ key: ObjectKey) -> Row? {
        guard !entity.helperEnds.isEmpty,
            entity.helperEnds.allSatisfy({ $0.linkColumns.allSatisfy(entity.key.contains) })
        else { return nil }
        var cells = RowCells()
        for (column, value) in zip(entity.key, key.values) {
            guard (try? cells.set(value, at: column, of: entity, types)) != nil else { return nil }
        }
        return cells.row(entity.emptyRow(types).columns)
    }

    /// Marks everything loaded of an entity as stale, because some of its rows have changed.
    private func noteUnknownRows(of entity: EntityRuntime) {
        for object in withMap({ $0.objects(of: entity) }) {
            let time = tick()
            // Also what a rollback would restore.
            change(object) { $0.becomeStale(at: time) }
        }
        note { map, time in map.notes.noteUnknownRows(entity, at: time) }
        noteUndone()
    }
}

/// A row that others have committed.
struct CommittedRow {
    let entity: EntityRuntime
    let key: ObjectKey
    let row: Row
    /// Whether the key is new.
    let isNew: Bool
    /// A time before its snapshot.
    let askedAt: ContextTime

    /// What has become of it.
    enum Outcome {
        case known
        case taken
        /// The context's row is perhaps the later one.
        case doubtful
    }
}

extension RowNotes {
    /// Keeps a row without an object that others have committed.
    mutating func noteCommitted(_ change: CommittedRow, at time: ContextTime) -> CommittedRow.Outcome {
        let (entity, key) = (change.entity, change.key)
        if isDeleted(entity, key, since: change.askedAt) { return .doubtful }
        let wasDeleted = isDeleted(entity, key, since: .never)
        let former = newerRow(entity, key)
        let isKnown = former?.row.hasSameBytes(as: change.row) == true
        if let former, !isKnown, former.changedAt > change.askedAt { return .doubtful }
        setNewerRow(NewerRow(row: change.row, changedAt: time), entity, key)
        if isKnown, !wasDeleted { return .known }
        noteStored(entity, key)
        // An answer may have it at an owner that it has left.
        if !change.isNew || wasDeleted { noteMoved(entity, key, at: time) }
        return .taken
    }
}
