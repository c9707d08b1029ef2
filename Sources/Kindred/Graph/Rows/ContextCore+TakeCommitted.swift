import KindredPostgres
import Synchronization

extension ContextCore {
    /// Takes changes that other clients have committed, with the rows as one snapshot of the database has them, and sends nothing.
    ///
    /// Objects show their new rows and keep staged values, based on the rows on which they were staged. Objects of
    /// deleted rows are deleted for good, without their staged values. Loaded sets and to-one ends follow at their next
    /// use, where the rows tell their new state; counts are asked for again where a row came or may have gone, and so
    /// are many-to-many sets that a row joins which is not in memory. Rows that the context knows, such as rows that it
    /// has written itself, change nothing that it shows.
    ///
    /// Answers that are still on their way lose to these changes. To be called outside of transactions, when
    /// all changes of a snapshot have been read. Reads of the context may have seen states between this snapshot and the
    /// snapshot before, and later states.
    ///
    /// - Parameter askedAt: a time of the context before the snapshot, from `beginReading`.
    /// - Returns: The changes that were left out, because the context has read or written their rows since, or a running
    ///   transaction has: it is unknown which row is later. They are to be read again in a later snapshot.
    func takeCommitted(_ changes: some Collection<RowChange>, askedAt: ContextTime) throws -> [RowChange] {
        var written: [EntityRuntime: Set<ObjectKey>] = [:]
        var left: [RowChange] = []
        for change in changes {
            let entity = change.entity
            guard let key = change.key else { continue }
            if written[entity] == nil { written[entity] = writtenKeys(of: entity) }
            let others = written[entity] ?? []
            let isTaken =
                if let row = change.after {
                    try takeCommitted(change, to: row, of: key, besides: others, askedAt: askedAt)
                } else {
                    try takeCommitted(deletionOf: key, of: entity, besides: others, askedAt: askedAt)
                }
            if !isTaken { left.append(change) }
        }
        for entity in written.keys.sorted() { taken(committed: entity) }
        return left
    }

    /// Whether the row is known or was taken, and not left out.
    private func takeCommitted(
        _ change: RowChange, to row: Row, of key: ObjectKey, besides written: Set<ObjectKey>, askedAt: ContextTime
    ) throws -> Bool {
        let entity = change.entity
        if let object = liveObject(entity, key) {
            try take(row, for: object, by: .committed(askedAt))
            guard object.withState({ $0.storedRow.hasSameBytes(as: row) }) else { return false }
        } else {
            guard !isBeingWritten(key, of: entity, written), taken(committed: change, row, key, askedAt: askedAt)
            else { return false }
        }
        if change.unknown != .beforeUnmoved { taken(moved: change, row, key) }
        return true
    }

    /// Whether the row is known to be gone or its deletion was taken, and not left out.
    private func takeCommitted(
        deletionOf key: ObjectKey, of entity: EntityRuntime, besides written: Set<ObjectKey>, askedAt: ContextTime
    ) throws -> Bool {
        if let object = liveObject(entity, key) {
            guard object.withState({ $0.seenAt <= askedAt }),
                !journals.others(than: journal).contains(where: { $0.hasRecorded(object) })
            else { return false }
            try take(deletionOf: object, by: .committed(askedAt))
            takenAway(entity)
            return true
        }
        if isBeingWritten(key, of: entity, written) { return false }
        let former = withMap { $0.notes.newerRow(entity, key) }
        if let former, former.changedAt > askedAt { return false }
        taken(committedDeletion: key, of: entity, former?.row ?? helperRow(entity, key))
        return true
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
