import KindredPostgres

/// New objects with the rows that they were stored with, in the same order.
struct StoredObjects {
    let entity: EntityRuntime
    let objects: ArraySlice<SavedObject>
    let rows: [Row]
    let keys: [ObjectKey]
    /// Objects rolled back while they were being stored: their rows exist, and get new objects when read.
    let givenUp: Set<DatabaseObject>
}

extension ContextCore {
    /// Takes new objects with the rows that a save has stored: puts them at their keys.
    func take(_ stored: StoredObjects) {
        let (entity, keys, rows) = (stored.entity, stored.keys, stored.rows)
        place(stored)
        appendWriteThrough(entity)
        wrote(entity, keys)
        let isCounted = runtime.countLimits?.concern(entity, nil) == true
        if isCounted {
            for row in rows {
                countNew(row, of: entity)
                countMove(of: entity, from: nil, to: row)
            }
        }
        // The log leaves new rows out that no answer could lack: seldom is any of them needed.
        guard withMap({ map in map.knowsAny(linkedTo: entity) || !map.log.isEmpty }) else { return }
        append(zip(keys, rows).map { .row(RowChange(of: entity, key: $0, from: nil, to: $1), at: nil) })
    }

    /// Puts new objects at their keys.
    ///
    /// The temporary keys stay valid until the save ends: loaded sets may still hold them.
    private func place(_ stored: StoredObjects) {
        let (entity, keys, givenUp) = (stored.entity, stored.keys, stored.givenUp)
        let displaced = withMap { map in
            let saved = stored.objects.span
            map.makeRoom(for: stored.rows.count, of: entity)
            var displaced: [DatabaseObject] = []
            for place in saved.indices {
                let object = saved[place].object
                if !givenUp.isEmpty, givenUp.contains(object) { continue }
                if let other = map.insert(object, of: entity, key: keys[place]) { displaced.append(other) }
            }
            return displaced
        }
        journal?.record(displaced)
    }
}
