import KindredPostgres

// `create(…, onConflict:)` is `upsert(…, on:)` and `create(…, unlessExists:)`.

/// The treatment of a new row whose unique key another row already has.
@available(*, deprecated, message: "write upsert(…, on:), or create(…, unlessExists:) to keep the row that is there")
public struct ConflictResolution: Sendable, Hashable {
    let rule: ConflictRule

    /// The existing row takes the new values.
    public static func update(_ key: String...) -> ConflictResolution {
        ConflictResolution(rule: .update(key, setting: nil))
    }

    /// The existing row takes some of the new values, given by attribute.
    public static func update(_ key: String..., setting attributes: [String]) -> ConflictResolution {
        ConflictResolution(rule: .update(key, setting: attributes))
    }

    /// The existing row stays unchanged, and its object is returned.
    public static func keep(_ key: String...) -> ConflictResolution { ConflictResolution(rule: .keep(key)) }
}

@available(*, deprecated)
extension DatabaseContext {
    /// Stores a new row, or follows `onConflict` if another row has its key already.
    @available(
        *, deprecated, message: "write upsert(…, on:), or create(…, unlessExists:) to keep the row that is there"
    )
    @discardableResult
    public func create(
        _ entityName: String, _ values: [String: (any PropertyValue)?], onConflict resolution: ConflictResolution,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        try await create(entityName, [values], by: resolution.rule, fileID: fileID, line: line)[0]
    }

    /// Stores rows by one statement, or follows `onConflict` for rows whose key other rows have.
    @available(
        *, deprecated, message: "write upsert(…, on:), or create(…, unlessExists:) to keep the rows that are there"
    )
    @discardableResult
    public func create(
        _ entityName: String, _ rows: [[String: (any PropertyValue)?]], onConflict resolution: ConflictResolution,
        fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await create(entityName, rows, by: resolution.rule, fileID: fileID, line: line)
    }

    /// Stores a new row of a typed class, or follows `onConflict` if another row has its key already.
    @available(
        *, deprecated, message: "write upsert(…, on:), or create(…, unlessExists:) to keep the row that is there"
    )
    @discardableResult
    public func create<Object: TypedObject>(
        _ new: NewValues<Object>, onConflict resolution: ConflictResolution, fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        try await create([new], by: resolution.rule, fileID: fileID, line: line)[0]
    }

    /// Stores rows of a typed class by one statement; `onConflict` decides about rows whose key already exists.
    @available(
        *, deprecated, message: "write upsert(…, on:), or create(…, unlessExists:) to keep the rows that are there"
    )
    @discardableResult
    public func create<Object: TypedObject>(
        _ rows: [NewValues<Object>], onConflict resolution: ConflictResolution, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [Object] {
        try await create(rows, by: resolution.rule, fileID: fileID, line: line)
    }
}
