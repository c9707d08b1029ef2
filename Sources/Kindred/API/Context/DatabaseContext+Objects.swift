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
            try await RowWriter(core).insert(try core.runtime.entity(named: entityName), values)
        }
    }

    /// Stores a new row, or follows `onConflict` if another row has its key already; returns the object of the
    /// resulting row.
    ///
    /// One `INSERT … ON CONFLICT … RETURNING`; with ``ConflictResolution/keep(_:)`` and an existing row, a second
    /// statement reads it. Concurrent callers do not fail. The objects in memory follow. Throws as
    /// `create(_:_:)` does, and before anything is sent `KindredError` `.invalidRequest` if the key is not
    /// unique in the database, `.missingValue` if it has no value.
    @discardableResult
    public func create(
        _ entityName: String,
        _ values: [String: (any PropertyValue)?],
        onConflict resolution: ConflictResolution, fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        return try await client.called(at: fileID, line) {
            try await create(entityName, [values], onConflict: resolution)[0]
        }
    }

    /// Stores rows by one statement, or follows `onConflict` for rows whose key exists already; returns their objects
    /// in the order of the values.
    ///
    /// All rows must have values for the same keys. With ``ConflictResolution/update(_:)`` no two rows may have the
    /// same key: `.invalidRequest`, before anything is sent unless only the server treats the keys as equal.
    @discardableResult
    public func create(
        _ entityName: String,
        _ rows: [[String: (any PropertyValue)?]],
        onConflict resolution: ConflictResolution, fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        return try await client.called(at: fileID, line) {
            try await Upserter(core).upsert(rows, of: try core.runtime.entity(named: entityName), resolution)
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
            try await object(with: try ObjectID(uri: uri, core.entity(named:)))
        }
    }
}
