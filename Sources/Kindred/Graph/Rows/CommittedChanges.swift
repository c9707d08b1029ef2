import KindredPostgres

/// Changes of an entity's rows that other clients have committed, with the rows as one snapshot of the database has
/// them.
///
/// Each key stands in one of the lists. Reads of the context may have seen states between this snapshot and the
/// snapshot before, and later states.
struct CommittedChanges: Sendable {
    let entity: EntityRuntime
    /// Rows that have changed, but not in foreign keys or in the position.
    var updated: [Row] = []
    /// Rows that were inserted, or whose foreign keys or position have changed, or may have.
    var moved: [Row] = []
    /// The keys of rows that are gone.
    var deleted: [ObjectKey] = []
}

extension ContextCore {
    /// Takes changes that other clients have committed, and sends nothing.
    ///
    /// Objects show their new rows and keep staged values, based on the rows on which they were staged. Objects of
    /// deleted rows are deleted for good, without their staged values. Loaded sets and to-one ends follow at their next
    /// use, where the rows tell their new state; counts are asked for again where a row came or may have gone, and so
    /// are many-to-many sets that a row joins which is not in memory. Rows that the context knows, such as rows that it
    /// has written itself, change nothing that it shows.
    ///
    /// Answers that are still on their way lose to these changes. To be called outside of transactions, when
    /// all changes of a snapshot have been read.
    ///
    /// - Parameter askedAt: a time of the context before the snapshot, from `beginReading`.
    /// - Returns: The keys that were left out, because the context has read or written their rows since, or a running
    ///   transaction has: it is unknown which row is later. They are to be read again in a later snapshot.
    func accept(_ changes: CommittedChanges, askedAt: ContextTime) throws -> Set<ObjectKey> {
        let entity = changes.entity
        let written = writtenKeys(of: entity)
        var doubtful: Set<ObjectKey> = []
        for key in changes.deleted
        where try !acceptCommitted(deletionOf: key, of: entity, besides: written, askedAt: askedAt) {
            doubtful.insert(key)
        }
        for (rows, mayHaveMoved) in [(changes.updated, false), (changes.moved, true)] {
            for row in rows {
                guard let key = try ObjectKey(row, entity.key) else { continue }
                let change = CommittedRow(
                    entity: entity, key: key, row: row, mayHaveMoved: mayHaveMoved, askedAt: askedAt)
                if try !acceptCommitted(change, besides: written) { doubtful.insert(key) }
            }
        }
        noteWrittenThrough(entity)
        noteViewsOutdated()
        return doubtful
    }

    /// Whether the row is known or was taken, and not left out.
    private func acceptCommitted(_ change: CommittedRow, besides written: Set<ObjectKey>) throws -> Bool {
        let (entity, key, row) = (change.entity, change.key, change.row)
        if let object = liveObject(entity, key) {
            try accept(row, for: object, from: .committed(change.askedAt))
            guard object.withState({ $0.storedRow.hasSameBytes(as: row) }) else { return false }
        } else {
            guard !isBeingWritten(key, of: entity, written),
                withMap({ map in map.notes.noteCommitted(change, at: tick()) })
            else { return false }
            notePartsLost(entity)
        }
        if !change.mayHaveMoved { return true }
        if entity.filter != nil { notePairsStale(with: entity) }
        // Noted even for a known row: sets that were loaded before do not learn of the move by reading the row.
        note { map, time in map.notes.noteMoved(entity, key, at: time) }
        noteLeft(entity)
        // It may have left a pair.
        if !entity.namesPairs { for relationship in entity.helperEnds { noteAllStale(relationship) } }
        noteRow(row, of: entity, key, isByOthers: true)
        return true
    }

    /// Whether the row is known to be gone or its deletion was taken, and not left out.
    private func acceptCommitted(
        deletionOf key: ObjectKey, of entity: EntityRuntime, besides written: Set<ObjectKey>, askedAt: ContextTime
    ) throws -> Bool {
        if let object = liveObject(entity, key) {
            guard object.withState({ $0.seenAt <= askedAt }),
                !journals.others(than: journal).contains(where: { $0.hasRecorded(object) })
            else { return false }
            try accept(deletionOf: object, by: .others)
            noteLeft(entity)
            return true
        }
        if isBeingWritten(key, of: entity, written) { return false }
        let former = withMap { $0.notes.newerRow(entity, key) }
        if let former, former.changedAt > askedAt { return false }
        // Noted even for a row that is known to be gone: it may have existed again for a while.
        note { map, time in map.notes.noteDeleted(entity, key, at: time) }
        notePartsLost(entity)
        noteLeft(entity)
        if let row = former?.row ?? helperRow(entity, key) {
            noteRow(row, of: entity, key, isDeletion: true, isByOthers: true)
        } else {
            for relationship in entity.helperEnds { noteAllStale(relationship) }
        }
        return true
    }

    /// Notes that a row has left owners that are not certain: members are counted again.
    private func noteLeft(_ entity: EntityRuntime) {
        note { map, time in map.notes.noteLeft(entity, at: time) }
    }

    /// The keys without objects whose rows running transactions have written.
    private func writtenKeys(of entity: EntityRuntime) -> Set<ObjectKey> {
        journals.others(than: journal).reduce(into: []) { $0.formUnion($1.newerKeys(of: entity, in: self)) }
    }

    /// Whether a running transaction has written or deleted the row of a key without an object.
    private func isBeingWritten(_ key: ObjectKey, of entity: EntityRuntime, _ written: Set<ObjectKey>) -> Bool {
        written.contains(key) || withMap { $0.notes.isBeingDeleted(entity, key) }
    }

    /// A helper's row with nothing but its key, if that names both ends of the pair.
    private func helperRow(_ entity: EntityRuntime, _ key: ObjectKey) -> Row? {
        guard !entity.helperEnds.isEmpty, entity.namesPairs else { return nil }
        var cells = RowCells()
        for (column, value) in zip(entity.key, key.values) {
            guard (try? cells.set(value, at: column, of: entity, types)) != nil else { return nil }
        }
        return cells.row(entity.emptyRow(types).columns)
    }
}

extension EntityRuntime {
    /// Whether the key of a helper's row tells which rows it pairs.
    fileprivate var namesPairs: Bool { helperEnds.allSatisfy { $0.linkColumns.allSatisfy(key.contains) } }
}

/// A row that another client has committed.
struct CommittedRow {
    let entity: EntityRuntime
    let key: ObjectKey
    let row: Row
    /// Whether owners may have lost or gained it.
    let mayHaveMoved: Bool
    /// A time before its snapshot.
    let askedAt: ContextTime
}

extension RowNotes {
    /// Keeps a committed row without an object, unless the context may have a later row.
    mutating func noteCommitted(_ change: CommittedRow, at time: ContextTime) -> Bool {
        let (entity, key) = (change.entity, change.key)
        if isDeleted(entity, key, since: change.askedAt) { return false }
        if let newer = newerRow(entity, key), newer.changedAt > change.askedAt,
            !newer.row.hasSameBytes(as: change.row)
        {
            return false
        }
        // Noted even for a known row: answers that were asked before and have an older row lose to it.
        setNewerRow(NewerRow(row: change.row, changedAt: time), of: entity, key: key)
        noteStored(entity, key)
        return true
    }
}
