import KindredPostgres
import KindredSchema

// Writing rows through: one statement, then the memory after its answer.
extension DatabaseContext {
    /// Sends statements as one: outside a transaction they are one implicit transaction.
    ///
    /// Errors become this layer's.
    func send(
        _ statements: [Statement],
        _ entity: EntityRuntime,
        key: String? = nil,
        for objects: [DatabaseObject] = []
    ) async throws -> [QueryResult] {
        do {
            if statements.count == 1 { return [try await client.execute(statements[0])] }
            return try await client.executeBatch(statements)
        } catch let error as PostgresError {
            throw KindredError(refused: error, entity: entity, key: key, among: objects) ?? error
        }
    }

    /// `UPDATE entity SET … WHERE key RETURNING …` for one object; nothing if there is nothing to assign.
    func update(_ object: DatabaseObject, _ assignments: Assignments, key: String?) async throws {
        let columns = assignments.columns
        guard !columns.isEmpty else { return }
        try await write(of: object.runtime, columns) {
            try requireLive(object)
            let entity = object.runtime
            try await countFormer([object], entity, writing: columns)
            let shape = "update \(columns)"
            let text = try entity.text(shape) {
                let set = try columns.enumerated().map { "\(try entity.quoted($1)) = $\($0 + 1)" }
                return """
                    UPDATE \(try entity.quotedName) \
                    SET \(set.joined(separator: ", "))\(try entity.versionAssignment()) \
                    WHERE \(try entity.equality(entity.versionedKey, firstParameter: columns.count + 1)) \
                    RETURNING \(try entity.selectList())
                    """
            }
            var bindings = Bindings()
            try assignments.append(to: &bindings)
            try append(versionedKeyOf: object, to: &bindings)
            let statement = Statement(text: text, bindings: bindings, resultFormat: .binary)
            let result = try await send([statement], entity, key: key, for: [object])[0]
            if result.count == 1 { unstage(columns, of: object) }
            try await applyUpdated(result, [object])
        }
    }

    /// Appends the values by which a write finds an object's row: its key, and the version it was read with.
    func append(versionedKeyOf object: DatabaseObject, to bindings: inout Bindings) throws {
        let entity = object.runtime
        try entity.append(try requireKey(object), to: &bindings)
        if let version = entity.version {
            try entity.append([try object.expectedVersion()], for: [version.position], to: &bindings)
        }
    }

    /// Gives the returned rows to the objects they belong to; every object must have got one.
    func applyUpdated(_ result: QueryResult, _ objects: [DatabaseObject]) async throws {
        if objects.count == 1, result.count == 1 {
            try apply(EntityRows(result, of: objects[0].runtime)[0], to: objects[0])
            return
        }
        guard result.count >= objects.count else { throw try await unwritten(objects) }
        try applyReturned(result, objects[0].runtime)
    }

    /// Gives the returned rows to the objects of theirs that are in memory.
    func applyReturned(_ result: QueryResult, _ entity: EntityRuntime) throws {
        let rows = try EntityRows(result, of: entity)
        for position in 0..<rows.count {
            let row = try rows[position]
            if let key = try ObjectKey(row, entity.key), let object = liveObject(entity, key) {
                try apply(row, to: object)
            }
        }
    }

    /// The error for rows that a write did not find.
    func gone(_ objects: [DatabaseObject]) -> KindredError {
        let entity = objects[0].runtime.name
        let what = objects.count == 1 ? "\(objects[0]) is" : "One of \(objects.count) objects of \(entity) is"
        return KindredError(
            .objectDeleted,
            "\(what) no longer in the database, or a trigger or policy hides it; nothing was written",
            entity: entity.description
        )
    }

    func requireKey(_ object: DatabaseObject) throws -> ObjectKey {
        if object.entity.isReadOnly || object.runtime.key.isEmpty {
            throw object.runtime.notWritable
        }
        guard !object.isInserted else { throw object.notStored }
        guard let key = object.key else {
            throw KindredError(
                .readOnly,
                "The row of \(object.runtime.name) has no usable key",
                entity: object.runtime.name.description
            )
        }
        return key
    }
}
