import KindredPostgres
import KindredSchema

// Rows whose unique key another row may have already.
extension DatabaseContext {
    /// Stores a new row, or changes the row that has its key already: `upsert("product", ["code": "A1", "stock": 5], on: "code")`.
    ///
    /// One `INSERT … ON CONFLICT … DO UPDATE … RETURNING`. An existing row takes the new values, except in the columns of the key
    /// and of the primary key. Concurrent callers do not fail. The objects in memory follow.
    ///
    /// - Parameters:
    ///   - entityName: the entity.
    ///   - values: as for `create(_:_:)`.
    ///   - key: the attributes by which rows conflict: the columns of a primary key, a UNIQUE constraint or a unique
    ///     index. The condition of a partial index decides which rows conflict: with `UNIQUE (email) WHERE deleted_at
    ///     IS NULL`, no deleted row does.
    ///   - further: the key's further attributes, if it has several.
    ///   - attributes: the attributes whose new values an existing row takes; nil for all.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Returns: the object of the resulting row.
    /// - Throws: as `create(_:_:)` does, and before anything is sent `KindredError` `.invalidRequest` if the key is not unique in the
    ///   database, `.missingValue` if it has no value.
    @discardableResult
    public func upsert(
        _ entityName: String, _ values: [String: (any PropertyValue)?], on key: String, and further: String...,
        setting attributes: [String]? = nil, fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        try await create(
            entityName, [values], by: .update([key] + further, setting: attributes), fileID: fileID, line: line)[0]
    }

    /// Stores rows by one statement, or changes rows whose key exists already; returns their objects in the order of
    /// the values.
    ///
    /// All rows must have values for the same keys. No two rows may have the same key: `.invalidRequest`, before anything is sent
    /// unless only the server treats the keys as equal. Else as for one row.
    @discardableResult
    public func upsert(
        _ entityName: String, _ rows: [[String: (any PropertyValue)?]], on key: String, and further: String...,
        setting attributes: [String]? = nil, fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await create(
            entityName, rows, by: .update([key] + further, setting: attributes), fileID: fileID, line: line)
    }

    /// Stores a new row of a typed class, or changes the row that has its key already: `upsert(Product.new(code: "a"), on: "code")`.
    ///
    /// As for an entity by name.
    @discardableResult
    public func upsert<Object: TypedObject>(
        _ new: NewValues<Object>, on key: String, and further: String..., setting attributes: [String]? = nil,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        try await create(
            [new], by: .update([key] + further, setting: attributes), fileID: fileID, line: line)[0]
    }

    /// Stores rows of a typed class by one statement, or changes rows whose key exists already.
    ///
    /// As for an entity by name.
    @discardableResult
    public func upsert<Object: TypedObject>(
        _ rows: [NewValues<Object>], on key: String, and further: String..., setting attributes: [String]? = nil,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await create(rows, by: .update([key] + further, setting: attributes), fileID: fileID, line: line)
    }

    /// Stores a new row unless its key is there already, and returns the object of the row that is there:
    /// `create("title", ["name": "Poet"], unlessExists: "name")`.
    ///
    /// One `INSERT … ON CONFLICT … DO NOTHING RETURNING`; with an existing row, which stays unchanged, a second statement reads it.
    /// Concurrent callers do not fail. The key is one as for `upsert`, and so are the errors.
    @discardableResult
    public func create(
        _ entityName: String, _ values: [String: (any PropertyValue)?], unlessExists key: String,
        and further: String...,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        try await create(entityName, [values], by: .keep([key] + further), fileID: fileID, line: line)[0]
    }

    /// Stores rows by one statement, except rows whose key exists already; returns the objects of all in the order of
    /// the values.
    ///
    /// All rows must have values for the same keys. Else as for one row.
    @discardableResult
    public func create(
        _ entityName: String, _ rows: [[String: (any PropertyValue)?]], unlessExists key: String,
        and further: String...,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await create(entityName, rows, by: .keep([key] + further), fileID: fileID, line: line)
    }

    /// Stores a new row of a typed class unless its key is there already, and returns the object of the row that is there.
    ///
    /// As for an entity by name.
    @discardableResult
    public func create<Object: TypedObject>(
        _ new: NewValues<Object>, unlessExists key: String, and further: String..., fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Object {
        try await create([new], by: .keep([key] + further), fileID: fileID, line: line)[0]
    }

    /// Stores rows of a typed class by one statement, except rows whose key exists already.
    ///
    /// As for an entity by name.
    @discardableResult
    public func create<Object: TypedObject>(
        _ rows: [NewValues<Object>], unlessExists key: String, and further: String..., fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [Object] {
        try await create(rows, by: .keep([key] + further), fileID: fileID, line: line)
    }

    @discardableResult
    package func create(
        _ entityName: String, _ values: [String: (any PropertyValue)?], by rule: ConflictRule,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        try await create(entityName, [values], by: rule, fileID: fileID, line: line)[0]
    }

    @discardableResult
    package func create(
        _ entityName: String, _ rows: [[String: (any PropertyValue)?]], by rule: ConflictRule,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            try await Upserter(core).upsert(rows, of: try core.runtime.entity(named: entityName), rule)
        }
    }

    func create<Object: TypedObject>(
        _ rows: [NewValues<Object>], by rule: ConflictRule, fileID: String, line: Int
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: Object.self)
            let rows = try rows.map { try $0.named(entity) }
            return try entity.typed(try await Upserter(core).upsert(rows, of: entity, rule))
        }
    }
}
