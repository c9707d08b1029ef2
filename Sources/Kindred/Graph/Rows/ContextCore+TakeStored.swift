import KindredPostgres

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

extension ContextCore {
    /// Takes new objects with the rows that a save has stored: puts them at their keys.
    func take(_ stored: StoredObjects) {
        let (entity, keys, rows, givenUp) = (stored.entity, stored.keys, stored.rows, stored.givenUp)
        place(stored)
        appendWriteThrough(entity)
        wrote(entity, keys)
        let isCounted = runtime.countLimits?.concern(entity, nil) == true
        let isKnown = withMap { map in map.knowsAny(linkedTo: entity) || !map.log.isEmpty }
        guard isKnown || isCounted || !givenUp.isEmpty else { return }
        var events: [ChangeLog.Event] = []
        events.reserveCapacity(rows.count)
        let saved = stored.objects.span
        for place in saved.indices {
            let object = saved[place].object
            if isCounted {
                countNew(rows[place], of: entity)
                countMove(of: entity, from: nil, to: rows[place])
            }
            if givenUp.contains(object) {
                events.append(.row(RowChange(of: entity, key: keys[place], from: nil, to: rows[place]), ends: nil))
                continue
            }
            let temporary = saved[place].stagingBox?.staging.temporaryKey
            var before = (key: temporary.map { ObjectKey.temporary($0) }, links: RowLinks(before: saved[place]))
            if let known = stored.before { before = known[place] }
            if let key = before.key { withMap { $0.log.renameOwner(key, of: entity, row: rows[place]) } }
            let ends = stagedEnds(
                of: entity, from: before.links, to: object.withState { RowLinks($0) }, isRekeyed: true)
            let change = RowChange(of: entity, key: keys[place], formerKey: before.key, from: nil, to: rows[place])
            events.append(.row(change, ends: ends))
        }
        append(events)
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
