import KindredPostgres
import KindredSchema

// Writes rows through: one statement, then its result is applied to memory.
extension DatabaseContext {
    /// `UPDATE entity SET … WHERE key RETURNING …` for one object; nothing without assignments.
    func update(_ object: DatabaseObject, _ assignments: Assignments, key: String?) async throws {
        let columns = assignments.written.columns
        guard !columns.isEmpty else { return }
        try await write(of: object.runtime, columns) {
            try object.requireLive()
            let entity = object.runtime
            try await countFormer([object], entity, writing: columns)
            let statement = try RowStatements(entity: entity, columns: columns)
                .update(assignments.written, try object.versionedKey)
            let result = try await send([statement], entity, key: key, for: [object])[0]
            if result.count == 1 { core.unstage(columns, of: object) }
            try await applyUpdated(result, [object])
        }
    }

    /// Applies the returned rows to their objects; throws if an object has none.
    func applyUpdated(_ result: QueryResult, _ objects: [DatabaseObject]) async throws {
        if objects.count == 1, result.count == 1 {
            try core.apply(EntityRows(result, of: objects[0].runtime)[0], to: objects[0])
            return
        }
        guard result.count >= objects.count else { throw try await unwritten(objects) }
        try applyReturned(result, objects[0].runtime)
    }

    /// Applies the returned rows to their objects in memory.
    func applyReturned(_ result: QueryResult, _ entity: EntityRuntime) throws {
        let rows = try EntityRows(result, of: entity)
        for position in 0..<rows.count {
            let row = try rows[position]
            if let key = try ObjectKey(row, entity.key), let object = core.liveObject(entity, key) {
                try core.apply(row, to: object)
            }
        }
    }
}
