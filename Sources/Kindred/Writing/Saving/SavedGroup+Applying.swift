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
        let new = objects.map(\.object)
        let answered = try EntityRows(result, of: entity)
        let rows = try new.indices.map { try answered[$0] }
        let found = try entity.keys(of: result)
        let keys = new.indices.compactMap { found?.key(at: $0) }
        guard keys.count == objects.count else {
            throw KindredError(
                .readOnly,
                "A new row of \(entity.name) was stored without a usable key",
                entity: entity.name.description
            )
        }
        core.journal?.record(stored: objects)
        let before = new.map { object in object.withState { (key: $0.key(entity), links: RowLinks($0)) } }
        // Earlier snapshots do not have the rows.
        let time = core.now
        // Objects rolled back while they were being stored: their rows exist, and get new objects when read.
        let givenUp = core.staged.withLock { staged in
            var givenUp: Set<DatabaseObject> = []
            var unstaged: [DatabaseObject] = []
            unstaged.reserveCapacity(new.count)
            for (row, saved) in zip(rows, objects) {
                let (isStaged, isGivenUp) = saved.object.withState { state in
                    if state.status == .deleted { return (false, true) }
                    state.becomeStored(row, saved)
                    state.seenAt = time
                    return (state.stagingBox != nil, false)
                }
                if isGivenUp { givenUp.insert(saved.object) }
                if isStaged { staged.insert(saved.object) } else { unstaged.append(saved.object) }
            }
            staged.remove(unstaged)
            return givenUp
        }
        core.accept(
            ContextCore.StoredObjects(
                entity: entity, objects: objects, rows: rows, keys: keys, before: before, givenUp: givenUp))
    }

    /// Applies the returned rows to the objects; throws if one of them has none.
    ///
    /// - Parameter isRelease: whether the objects' own changes are still to be written.
    func applyUpdate(_ result: QueryResult, in core: ContextCore, isRelease: Bool = false) throws {
        let width = entity.attributeColumns.count
        // A span: an element of an array would be copied.
        let saved = objects.span
        var isWritten = [Bool](repeating: false, count: saved.count)
        let rows = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            guard let place = try result.integer(row: position, column: width),
                let index = Int(exactly: place).map({ $0 - 1 }), saved.indices.contains(index)
            else { continue }
            isWritten[index] = true
            let row = try rows[position]
            if isRelease {
                try core.accept(row, for: saved[index].object)
            } else {
                try Self.apply(row, to: saved[index], in: core)
            }
        }
        let missing = saved.indices.filter { !isWritten[$0] }
        guard missing.isEmpty else { throw UnwrittenRows(objects: missing.map { saved[$0].object }) }
    }

    /// Gives a saved object its stored row; changes staged since its statement was made stay staged.
    private static func apply(_ row: Row, to saved: SavedObject, in core: ContextCore) throws {
        let stored = saved.object.storedRow
        core.changeStaging(of: saved.object) { state in
            state.settle(saved, in: saved.entity)
        }
        try core.accept(row, for: saved.object, stored: stored)
    }
}

extension ObjectState {
    /// Takes the row that a new object was stored with; changes staged since its statement was made stay staged.
    ///
    /// Does not count as a change: every answer that has the row was read later.
    fileprivate mutating func becomeStored(_ stored: Row, _ saved: SavedObject) {
        if let box = stagingBox, box === saved.stagingBox, box.staging.destinations.isEmpty, !saved.isPartial {
            status = .persistent
            stagingBox = nil
            row = stored
            return
        }
        settle(saved, in: saved.entity)
        if var staging {
            status = .persistent
            staging.temporaryKey = nil
            self.staging = staging
        }
        rebase(on: stored, of: saved.entity)
    }

    /// Unstages the saved values, unless they were changed again since.
    fileprivate mutating func settle(_ saved: SavedObject, in entity: EntityRuntime) {
        guard var staging else { return }
        for (slot, destination) in saved.links where staging.destinations[slot] === destination {
            staging.destinations[slot] = nil
            row = row.replacing(ColumnSet(entity.relationships[slot].ownColumns), from: saved.row)
        }
        let shown = row
        staging.columns = staging.columns.filter { !shown.hasSameBytes(as: saved.row, at: $0) }
        self.staging = staging
    }
}
