import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// Stores a new row and returns its object, with the database's defaults.
    ///
    /// One INSERT … RETURNING. `values` may hold attributes, and to-one relationships whose foreign keys the new row
    /// holds, as objects or as their IDs. Throws `KindredError`: `.unknownEntity`, `.unknownKey`, `.wrongType`,
    /// `.missingValue` naming every required value that is missing, `.readOnly` for an entity without a key and for
    /// generated columns, all before anything is sent; `.constraintViolation` if the database refuses the row, or a
    /// trigger, rule or policy stores none, stores it elsewhere, or returns none with a key: then nothing is stored.
    /// An object of the same key in memory, whose row is gone without the context's knowledge, shows the new row and is
    /// returned.
    @discardableResult
    public func create(
        _ entityName: String,
        _ values: [String: (any PropertyValue)?] = [:], fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        return try await client.called(at: fileID, line) {
            let entity = try core.runtime.entity(named: entityName)
            guard !entity.entity.isReadOnly else {
                throw entity.notWritable
            }
            let given = try await reading(values, of: entity)
            var assignments = Assignments(entity)
            for (key, value) in given.sorted(by: { $0.key < $1.key }) {
                try assignments.assign(value, forKey: key, in: self)
            }
            try assignments.assignInitialVersion()
            try requireValues(assignments, entity)
            let values = assignments.written
            let statement = try RowStatements(entity: entity, columns: values.columns).insert(values)
            return try await write(of: entity) {
                let result = try await send([statement], entity)[0]
                guard result.count == 1, let key = try ObjectKey(result, 0, entity.key) else {
                    throw keptAway(entity)
                }
                // A known object, whose row is gone by other ways, shows the new one; a rollback puts its state back.
                let known = core.liveObject(entity, key)
                let object = try core.object(from: result, row: 0, of: entity, askedAt: core.tick())
                if object !== known { core.journal?.recordCreated(object) }
                core.noteRow(object.storedRow, of: entity, object.key)
                core.countNew(object.storedRow, of: entity)
                return object
            }
        }
    }

    /// The object of an ID: from memory, or by one SELECT by key, shared with other tasks as `find` does.
    ///
    /// Throws `KindredError` `.notFound` if there is no such row, `.invalidObjectID` for an unknown entity or key, and
    /// for a temporary ID.
    public func object(with id: ObjectID, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        return try await client.called(at: fileID, line) {
            try await Fetcher(core).identified(id)
        }
    }

    /// The object of an ID in its URI form.
    ///
    /// Throws `KindredError` `.invalidObjectID` if the text is not such a URI, `.notFound` if there is no such row.
    public func object(with uri: String, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        return try await client.called(at: fileID, line) {
            try await object(with: try ObjectID(uri: uri, schema: core.runtime))
        }
    }
}
