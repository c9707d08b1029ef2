import KindredPostgres
import KindredSchema
import Synchronization

/// A change of an object's row.
private struct ReplacedRow {
    let old: RowLinks
    let new: RowLinks
    let wasStale: Bool
}

// The door for the rows of objects, and for the deletion of these rows. Each change of a row is noted for the sets at
// the other ends of its foreign keys.
extension ContextCore {
    /// Gives an object its new row.
    func accept(_ row: Row, for object: DatabaseObject, from origin: RowOrigin = .written) throws {
        let askedAt = origin.askedAt
        func replaceRow(_ state: inout ObjectState, _ stored: Row) -> ReplacedRow? {
            let wasStale = state.isStale
            var row = row
            if let askedAt {
                if state.seenAt > askedAt { return nil }
                if origin.isByOthers { state.changed(at: tick()) } else { state.seenAt = askedAt }
                state.isStale = false
                if stored.hasSameBytes(as: row) { return nil }
                // Left-out columns keep the values that were read before, unless the row has changed since.
                if row.leavesOut, !wasStale, !origin.isByOthers, let whole = object.runtime.completed(row, by: stored) {
                    if stored.hasSameBytes(as: whole) { return nil }
                    row = whole
                }
            }
            let old = RowLinks(state)
            let (entity, isRead) = (object.runtime, askedAt != nil)
            state.rebase(on: row, of: entity, keepsBase: isRead && entity.version != nil)
            state.changed(at: askedAt == nil ? tick() : state.seenAt)
            state.isStale = false
            return ReplacedRow(old: old, new: RowLinks(state), wasStale: wasStale)
        }
        let change = change(object, isRead: askedAt != nil) { state in
            _ = replaceRow(&state, state.storedRow)
        } run: { committed -> ReplacedRow? in
            object.withState { state -> ReplacedRow? in
                // The values written by a transaction stay visible while other tasks read.
                if let committed, !state.storedRow.hasSameBytes(as: committed) { return nil }
                return replaceRow(&state, state.storedRow)
            }
        }
        guard let change else {
            // The other client may have written a column that the row leaves out.
            if origin.isByOthers, row.leavesOut { noteParts(object.runtime, from: row, to: row) }
            return
        }
        if !change.old.isShownAsStored { releaseIfUnstaged(object) }
        try follow(change, of: object, to: row, from: origin)
    }

    /// Gives saved objects of one entity the rows that their statement has returned; changes staged since it was made stay
    /// staged.
    ///
    /// - Parameter rows: the objects' rows, in their order; nil for an object without a row.
    func accept(_ rows: [Row?], of saved: ArraySlice<SavedObject>) throws {
        func replaceRow(in state: inout ObjectState, of saved: SavedObject, by row: Row) -> ReplacedRow {
            let (old, wasStale) = (RowLinks(state), state.isStale)
            state.settle(saved, in: saved.entity)
            state.rebase(on: row, of: saved.entity)
            state.changed(at: tick())
            state.isStale = false
            return ReplacedRow(old: old, new: RowLinks(state), wasStale: wasStale)
        }
        func replaceRow(of saved: SavedObject, _ row: Row) -> ReplacedRow {
            staged.withLock { staged in
                let change = saved.object.withState { replaceRow(in: &$0, of: saved, by: row) }
                if change.new.isShownAsStored { staged.remove(saved.object) } else { staged.insert(saved.object) }
                return change
            }
        }
        // A span: an element of an array would be copied.
        let objects = saved.span
        var written: [DatabaseObject] = []
        written.reserveCapacity(rows.count)
        for place in objects.indices where rows[place] != nil { written.append(objects[place].object) }
        let own = journal
        own?.record(written)
        guard journals.others(than: own).isEmpty else {
            for case (let saved, let row?) in zip(saved, rows) {
                let change = journals.applying(of: saved.object, by: own) {
                    _ = replaceRow(in: &$0, of: saved, by: row)
                } _: { _ in
                    replaceRow(of: saved, row)
                }
                try follow(change, of: saved.object, to: row, from: .written)
            }
            return
        }
        for place in objects.indices {
            guard let row = rows[place] else { continue }
            let change = replaceRow(of: objects[place], row)
            try follow(change, of: objects[place].object, to: row, from: .written)
        }
        // A journal may have recorded objects meanwhile.
        for other in journals.others(than: own) {
            for case (let saved, let row?) in zip(saved, rows) {
                _ = other.change(saved.object) { _ = replaceRow(in: &$0, of: saved, by: row) }
            }
        }
    }

    /// Notes a changed row for everything that depends on it.
    private func follow(
        _ change: ReplacedRow, of object: DatabaseObject, to row: Row, from origin: RowOrigin
    ) throws {
        let (entity, stored, askedAt) = (object.runtime, change.old.stored, origin.askedAt)
        if change.wasStale {
            notePartsLost(entity)
        } else {
            noteParts(entity, from: stored, to: row, askedAt: origin.isByOthers ? nil : askedAt)
        }
        let isFoundOtherwise = entity.findingColumns.contains { !stored.hasSameBytes(as: row, at: $0) }
        var former: ObjectKey?
        if isFoundOtherwise, let oldKey = try ObjectKey(stored, entity.key),
            let newKey = try ObjectKey(row, entity.key), oldKey != newKey
        {
            // The row with the old key is gone, unless another row has taken that key.
            let scope = writing?.scope
            let displaced = note { map, time in
                map.remove(object, of: entity, key: oldKey)
                if map.object(entity, oldKey) == nil {
                    map.notes.noteDeleted(entity, oldKey, at: time, in: scope)
                }
                map.notes.noteStored(entity, newKey, in: scope)
                return map.insert(object, of: entity, key: newKey)
            }
            // With a key that is checked later, two rows may have it meanwhile: a rollback puts the other object back.
            if let displaced { journal?.record(displaced) }
            former = oldKey
        } else if references.isIndexed, let key = object.key {
            withMap { $0.noteChanged(entity, key) }
        }
        noteChange(of: object, object.key, former: former, from: change.old, to: change.new)
        if askedAt == nil {
            noteWrittenThrough(entity)
            if isFoundOtherwise { try followKeys(of: object, from: stored) }
            if change.wasStale { noteUnknownOwners(of: entity) }
            if following != nil, let key = object.key { noteWritten(entity, key) }
        }
    }

    /// Marks an object's row as deleted and removes it from every set.
    ///
    /// - Parameter cause: the cause of the row's deletion.
    func accept(deletionOf object: DatabaseObject, by cause: DeletionCause = .context) throws {
        if object.hasChanges || staged.withLock({ $0.hasPairs(of: object) }) { rollback([object]) }
        let wasStale = object.isStale
        func markDeleted(_ state: inout ObjectState) -> Bool {
            guard state.status == .persistent || state.status == .deleting else { return false }
            state.status = .deleted
            state.seenAt = tick()
            if let staging = state.staging { state.row = staging.stored }
            state.stagingBox = nil
            state.isStale = false
            return true
        }
        let wasLive = change(object, isRead: true) {
            _ = markDeleted(&$0)
        } run: { _ in
            object.withState(markDeleted)
        }
        guard wasLive else { return }
        let (row, entity, key) = (object.row, object.runtime, object.key)
        if let key {
            let scope = writing?.scope
            note { map, time in
                map.remove(object, of: entity, key: key)
                // An undone row was in no answer that is still valid; another row may have its key.
                if cause != .rollback { map.notes.noteDeleted(entity, key, at: time, in: scope) }
            }
        }
        // Notes on an undone row count no longer, and another row may have its key.
        guard cause != .rollback else { return }
        noteParts(entity, from: row, to: nil)
        noteRow(row, of: entity, key, isDeletion: true, isByOthers: cause == .others)
        if wasStale { noteUnknownOwners(of: entity) }
        // The helper's rows, which have gone with it, come by themselves.
        if cause == .others { return }
        if let key { noteWritten(entity, key) }
        for case let helper? in entity.relationships.map(\.helper) {
            // The row does not have the other ends: any loaded inverse may hold it.
            noteLostRows(of: helper.entity)
        }
    }

    /// The object in memory to which a foreign key can refer and whose `attributes` equal the values of `columns` in `row`, if
    /// any.
    func liveObject(
        _ entity: EntityRuntime,
        where attributes: [Int],
        equal row: Row,
        _ columns: [Int]
    ) throws -> DatabaseObject? {
        // Checked first, before any allocation: entities with many foreign keys have few of them set.
        if columns.contains(where: { row.isNull(at: $0) }) { return nil }
        if let order = entity.keyOrder(of: attributes) {
            guard let key = try ObjectKey(row, order.map { columns[$0] }) else { return nil }
            return liveObject(entity, entity.identity(key))
        }
        guard let wanted = try ObjectKey(row, columns) else { return nil }
        return try withMap { try $0.objects(entity, where: attributes, equal: wanted) }
            .first { entity.isReferenced($0.storedRow) }
    }
}

// The door for deleted rows, with or without objects.
extension ContextCore {
    /// Marks the objects of deleted rows, and takes the rows out of every loaded relationship.
    func accept(deletions keys: [ObjectKey], of entity: EntityRuntime) throws {
        var unheld: Set<ObjectKey> = []
        for key in keys {
            if let object = liveObject(entity, key) { try accept(deletionOf: object) } else { unheld.insert(key) }
        }
        guard !unheld.isEmpty else { return }
        let scope = writing?.scope
        note { map, time in
            for key in unheld { map.notes.noteDeleted(entity, key, at: time, in: scope) }
        }
        noteWritten(entity, unheld)
        noteLostRows(of: entity)
    }

    /// Marks loaded relationships as stale where their rows have no objects: some of these rows may have changed or
    /// gone.
    func forgetUnheldRows(of entity: EntityRuntime) {
        noteLostRows(of: entity, areStale: true)
    }
}
