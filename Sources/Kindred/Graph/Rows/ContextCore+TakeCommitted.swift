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
        var entities: Set<EntityRuntime> = []
        var left: [RowChange] = []
        for change in changes {
            let entity = change.entity
            guard let key = change.key else { continue }
            entities.insert(entity)
            let isTaken =
                if let row = change.after {
                    try takeCommitted(change, to: row, of: key, askedAt: askedAt)
                } else {
                    try takeCommitted(deletionOf: key, of: entity, askedAt: askedAt)
                }
            if !isTaken { left.append(change) }
        }
        for entity in entities.sorted() {
            appendWriteThrough(entity)
            appendWriteUnderViews()
        }
        return left
    }

    /// Whether the row is known or was taken, and not left out.
    private func takeCommitted(
        _ change: RowChange, to row: Row, of key: ObjectKey, askedAt: ContextTime
    ) throws -> Bool {
        let entity = change.entity
        let object = liveObject(entity, key)
        let isHeld = object != nil
        if let object {
            try take(row, for: object, by: .committed(askedAt))
            guard object.withState({ $0.storedRow.hasSameBytes(as: row) }) else { return false }
        } else {
            let isKnown = withMap { map in
                if map.log.isBeingWritten(entity, key) || map.log.isDeleted(entity, key, since: askedAt) { return true }
                guard let newer = map.log.row(entity, key) else { return false }
                return newer.changedAt > askedAt && !newer.row.hasSameBytes(as: row)
            }
            if isKnown { return false }
        }
        var events: [ChangeLog.Event] = []
        if !isHeld {
            events.append(.row(change, at: nil))
        } else if change.unknown != .beforeUnmoved {
            // The object's former row need not be the row before.
            events.append(.gap(RowGap(.moved(key, row), of: entity)))
        }
        if change.unknown != .beforeUnmoved {
            // It may have left a pair.
            if !entity.namesPairs {
                events += entity.helperEnds.map { .gap(RowGap(membersIn: $0, of: nil)) }
            }
            events += pairsOfCommitted(row, of: entity)
        }
        append(events, by: .committed(askedAt))
        return true
    }

    /// Whether the row is known to be gone or its deletion was taken, and not left out.
    private func takeCommitted(
        deletionOf key: ObjectKey, of entity: EntityRuntime, askedAt: ContextTime
    ) throws -> Bool {
        if let object = liveObject(entity, key) {
            guard object.withState({ $0.seenAt <= askedAt }),
                !journals.others(than: journal).contains(where: { $0.hasRecorded(object) })
            else { return false }
            try take(deletionOf: object, by: .committed(askedAt))
            return true
        }
        let (isBeingWritten, former) = withMap { map in
            (map.log.isBeingWritten(entity, key), map.log.row(entity, key))
        }
        if isBeingWritten || former.map({ $0.changedAt > askedAt }) == true { return false }
        // Of a row that is known to be gone, too: it may have been there again for a while.
        var events: [ChangeLog.Event] = [.row(RowChange(deleted: key, of: entity), at: nil)]
        if let row = former?.row ?? helperRow(entity, key) {
            events += pairs(in: row, of: entity, isPaired: false)
        } else {
            events += entity.helperEnds.map { .gap(RowGap(membersIn: $0, of: nil)) }
        }
        append(events, by: .committed(askedAt))
        return true
    }

    /// The pairs that a committed row of a helper names.
    private func pairsOfCommitted(_ row: Row, of helper: EntityRuntime) -> [ChangeLog.Event] {
        // Only the server can tell whether the row is a pair.
        guard helper.filter?.isExact != false else {
            return helper.helperEnds.compactMap { end in
                (try? ObjectKey(row, end.linkColumns)).map { .gap(RowGap(membersIn: end, of: $0)) }
            }
        }
        return pairs(in: row, of: helper, isPaired: helper.filter?.shows(row) != false)
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
