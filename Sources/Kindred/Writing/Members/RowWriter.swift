import KindredPostgres
import KindredSchema

/// Writes rows of objects through: one statement, then its result is applied to memory.
struct RowWriter: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Stores a new row and returns its object.
    func insert(_ entity: EntityRuntime, _ given: [String: (any PropertyValue)?]) async throws -> DatabaseObject {
        guard !entity.entity.isReadOnly else { throw entity.notWritable }
        let values = try await newValues(given, of: entity)
        let statement = try RowStatements(entity: entity, columns: values.columns).insert(values)
        return try await core.write(of: entity) {
            let result = try await core.client.send([statement], entity)[0]
            guard result.count == 1, let key = try ObjectKey(result, row: 0, entity.key) else {
                throw entity.keptAway
            }
            // A known object whose row another session has deleted gets the new row; a rollback puts its state back.
            let known = core.liveObject(entity, key)
            let object = try core.take(result, row: 0, of: entity, askedAt: core.tick())
            if object !== known { core.journal?.recordCreated(object) }
            core.take(storedRowOf: object, isNew: true)
            return object
        }
    }

    /// The column values of a new row, checked.
    ///
    /// Sends one SELECT for each ID whose object has to be read.
    func newValues(_ given: [String: (any PropertyValue)?], of entity: EntityRuntime) async throws -> ColumnValues {
        let values = try await RelationshipValues(core).reading(given, of: entity)
        var assignments = Assignments(entity)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            try assignments.assign(value, forKey: key, in: core)
        }
        assignments.assignTenant(of: core)
        try assignments.assignInitialVersion()
        try assignments.requireComplete()
        return assignments.written
    }

    /// `UPDATE entity SET … WHERE key RETURNING …` for one object; nothing without assignments.
    func update(_ object: DatabaseObject, _ assignments: Assignments, key: String?) async throws {
        let columns = assignments.written.columns
        guard !columns.isEmpty else { return }
        try await core.write(of: object.runtime, columns) {
            try object.requireLive()
            let entity = object.runtime
            if core.counting != nil { try await CountCheck(core).noteFormer([object], writing: columns) }
            let statement = try RowStatements(entity: entity, columns: columns)
                .update(assignments.written, try object.versionedKey)
            let result = try await core.client.send([statement], entity, key: key, for: [object])[0]
            if result.count == 1 { core.unstage(columns, of: object) }
            try await applyUpdated(result, [object])
        }
    }

    /// Applies the returned rows to their objects; throws if an object has none.
    func applyUpdated(_ result: QueryResult, _ objects: [DatabaseObject]) async throws {
        if objects.count == 1, result.count == 1 {
            try core.take(EntityRows(result, of: objects[0].runtime)[0], for: objects[0])
            return
        }
        guard result.count >= objects.count else { throw try await Refresher(core).unwritten(objects) }
        try core.take(written: EntityRows(result, of: objects[0].runtime), of: objects[0].runtime)
    }
}

extension EntityRuntime {
    /// The error for a row that a statement should have stored, and did not.
    var keptAway: KindredError {
        KindredError(
            .constraintViolation,
            "A trigger, rule or policy of \(name), or a concurrent deletion, kept a row from being stored",
            entity: name.description
        )
    }
}
