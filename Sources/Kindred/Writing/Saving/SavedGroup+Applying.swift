import KindredPostgres
import Synchronization

// Applies the rows that a save returned to memory.
extension SavedGroup {
    /// Gives new objects their stored rows, in the same order, their keys, and their places in their owners' loaded
    /// sets.
    func applyInsert(_ result: QueryResult, in core: ContextCore) throws {
        guard result.count == objects.count else {
            throw KindredError(
                .constraintViolation,
                """
                A trigger, rule or policy of \(entity.name) kept \(objects.count - result.count) of \(objects.count) new \
                rows from being stored; nothing was written
                """,
                entity: entity.name.description
            )
        }
        let saved = objects.span
        let answered = try EntityRows(result, of: entity)
        let rows = try saved.indices.map { try answered[$0] }
        let found = try entity.keys(of: result)
        let keys = saved.indices.compactMap { found?.key(at: $0) }
        guard keys.count == objects.count else {
            throw KindredError(
                .readOnly,
                "A new row of \(entity.name) was stored without a usable key",
                entity: entity.name.description
            )
        }
        core.journal?.record(stored: objects)
        // Earlier snapshots do not have the rows.
        let time = core.now
        func store(_ saved: SavedObject, _ row: Row) -> (isStaged: Bool, isGivenUp: Bool) {
            saved.object.withState { state in
                if state.status == .deleted { return (false, true) }
                state.becomeStored(row, saved)
                state.seenAt = time
                return (state.stagingBox != nil, false)
            }
        }
        // Objects rolled back while they were being stored: their rows exist, and get new objects when read.
        let givenUp = core.staged.withLock { staged in
            var givenUp: Set<DatabaseObject> = []
            let saved = objects.span
            for place in saved.indices {
                let (isStaged, isGivenUp) = store(saved[place], rows[place])
                if isGivenUp {
                    givenUp.insert(saved[place].object)
                } else if isStaged {
                    staged.insert(saved[place].object)
                } else {
                    staged.remove(saved[place].object)
                }
            }
            return givenUp
        }
        core.take(
            StoredObjects(
                entity: entity, objects: objects, rows: rows, keys: keys, givenUp: givenUp))
    }

    /// Applies the returned rows to the objects; throws if an object has no row.
    ///
    /// - Parameter isRelease: whether the objects' own changes are still to be written.
    func applyUpdate(_ result: QueryResult, in core: ContextCore, isRelease: Bool = false) throws {
        let width = entity.attributeColumns.count
        var rows = [Row?](repeating: nil, count: objects.count)
        let answered = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            guard let place = try result.integer(row: position, column: width),
                let index = Int(exactly: place).map({ $0 - 1 }), rows.indices.contains(index)
            else { continue }
            rows[index] = try answered[position]
        }
        if isRelease {
            for (saved, row) in zip(objects, rows) {
                if let row { try core.take(row, for: saved.object) }
            }
        } else {
            try core.take(rows, of: objects)
        }
        guard rows.contains(where: { $0 == nil }) else { return }
        throw UnwrittenRows(objects: zip(objects, rows).filter { $1 == nil }.map(\.0.object))
    }
}
