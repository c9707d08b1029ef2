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

    /// The object of an ID: from memory, or by one SELECT by key, shared with other tasks as `find` does.
    ///
    /// Throws `KindredError` `.notFound` if there is no such row, `.invalidObjectID` for an unknown entity or key, and
    /// for a temporary ID.
    public func get(_ id: ObjectID, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        try await client.called(at: fileID, line) { try await Fetcher(core).get(id) }
    }

    /// The object of an ID in its URI form.
    ///
    /// Throws `KindredError` `.invalidObjectID` if the text is not such a URI, `.notFound` if there is no such row.
    public func get(uri: String, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject {
        try await client.called(at: fileID, line) {
            try await Fetcher(core).get(try ObjectID(uri: uri, core.entity(named:)))
        }
    }

    /// The object of an ID, or nil if there is no such row: from memory, or by one SELECT by key.
    ///
    /// Throws `KindredError` `.invalidObjectID` for an unknown entity or key, and for a temporary ID.
    public func find(_ id: ObjectID, fileID: String = #fileID, line: Int = #line) async throws -> DatabaseObject? {
        try await client.called(at: fileID, line) { try await Fetcher(core).find(id) }
    }

    /// Reads the rows of all objects that the program holds again.
    ///
    /// One SELECT for each entity, in slices of 10,000 rows, all in one round trip for an entity. `isDeleted` is true
    /// afterwards for objects whose rows are gone. Staged changes stay staged. Loaded relationships become stale, and
    /// are loaded again, for all objects that were read together, on their next use; so are loaded lazy columns. New
    /// objects, and objects of entities without a key, stay as they are. Throws the errors of a query.
    public func refresh(fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) { try await Refresher(core).refreshAll() }
    }
}
