import KindredPostgres
import Synchronization

// How an answer of the server becomes the state in memory. Every change of a row passes through `apply`, which notes it for
// the sets at the other ends of its foreign keys.
extension DatabaseContext {
    /// Gives an object its new row.
    ///
    /// - Parameters:
    ///   - askedAt: when the row was asked for by a read; nil for the outcome of a write, which always counts.
    ///   - known: the row as it was stored, if the object does not tell any more.
    func apply(_ row: Row, to object: DatabaseObject, askedAt: UInt64? = nil, stored known: Row? = nil) throws {
        typealias Change = (old: RowLinks, new: RowLinks, wasStaged: Bool)
        func take(_ state: inout ObjectState, _ stored: Row) -> Change? {
            if let askedAt {
                if state.seenAt > askedAt { return nil }
                state.seenAt = askedAt
                if stored.hasSameBytes(as: row) { return nil }
            }
            let (old, wasStaged) = (RowLinks(state), state.stagingBox != nil)
            let (entity, isRead) = (object.runtime, askedAt != nil)
            state.rebase(on: row, of: entity, keepsBase: isRead && entity.version != nil)
            state.changed(at: askedAt ?? tick())
            return (old, RowLinks(state), wasStaged)
        }
        let change = change(object, isRead: askedAt != nil) { state in
            _ = take(&state, state.storedRow)
        } _: { committed -> Change? in
            object.withState { state -> Change? in
                // What a transaction has written stays shown, whatever others read.
                if let committed, !state.storedRow.hasSameBytes(as: committed) { return nil }
                return take(&state, state.storedRow)
            }
        }
        guard let change else { return }
        if change.wasStaged { releaseIfUnstaged(object) }
        let (entity, stored) = (object.runtime, known ?? change.old.stored)
        let isFoundOtherwise = entity.findingColumns.contains { !stored.hasSameBytes(as: row, at: $0) }
        var former: ObjectKey?
        if isFoundOtherwise, let oldKey = try ObjectKey(stored, entity.key),
            let newKey = try ObjectKey(row, entity.key), oldKey != newKey
        {
            // Of what was answered before, the row with the old key is gone, unless another row has got that key.
            note { map, time in
                map.remove(object, entity.index, oldKey)
                if map.object(entity.index, oldKey) == nil {
                    map.noteDeleted(entity.index, oldKey, at: time, in: journal?.scope)
                }
                map.insert(object, entity.index, newKey)
                map.noteStored(entity.index, newKey)
            }
            former = oldKey
        } else if core.references.isIndexed, let key = object.key {
            withMap { $0.noteChanged(entity.index, key) }
        }
        noteChange(of: object, object.key, former: former, from: change.old, to: change.new)
        if askedAt == nil {
            noteWrittenThrough(entity)
            if isFoundOtherwise { try followKeys(of: object, from: stored) }
        }
    }

    /// Marks an object's row as deleted; no set shows it any more.
    ///
    /// - Parameter isUndone: whether the row was stored by what is being undone.
    func applyDelete(_ object: DatabaseObject, isUndone: Bool = false) throws {
        if object.hasChanges || core.staged.withLock({ $0.hasPairs(of: object) }) { rollback([object]) }
        func die(_ state: inout ObjectState) -> Bool {
            guard state.status == .persistent || state.status == .deleting else { return false }
            state.status = .deleted
            state.seenAt = tick()
            return true
        }
        let wasLive = change(object) {
            _ = die(&$0)
        } _: { _ in
            object.withState(die)
        }
        guard wasLive else { return }
        let (row, entity, key) = (object.row, object.runtime, object.key)
        if let key {
            note { map, time in
                map.remove(object, entity.index, key)
                map.noteDeleted(entity.index, key, at: time, in: isUndone ? nil : journal?.scope)
            }
        }
        noteRow(row, of: entity, key, isDeletion: true)
        guard !isUndone else { return }
        for case .helper(let link) in entity.relationships.map(\.link) {
            // The other ends are not in the row: whoever has loaded the inverse may hold it.
            noteLostRows(of: link.entity)
        }
    }

    /// The object in memory that a row's foreign key points to, if any.
    func owner(
        _ entity: EntityRuntime,
        _ row: Row,
        _ columns: [Int],
        _ referenced: [Int],
        _ relationship: RelationshipRuntime
    ) throws -> DatabaseObject? {
        try liveObject(runtime.entities[relationship.destination], where: referenced, equal: row, columns)
    }

    /// The object in memory whose `attributes` have the values that `row` has in `columns`, if any.
    func liveObject(
        _ entity: EntityRuntime,
        where attributes: [Int],
        equal row: Row,
        _ columns: [Int]
    ) throws -> DatabaseObject? {
        // Before anything is made for it: most entities with many foreign keys have few of them set.
        if columns.contains(where: { row.isNull(at: $0) }) { return nil }
        if let order = entity.keyOrder(of: attributes) {
            guard let key = try ObjectKey(row, order.map { columns[$0] }) else { return nil }
            return liveObject(entity, key)
        }
        guard let wanted = try ObjectKey(row, columns) else { return nil }
        return try withMap { try $0.objects(entity, where: attributes, equal: wanted) }.first
    }
}
