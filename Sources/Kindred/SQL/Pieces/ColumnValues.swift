import KindredPostgres

/// New values for columns of one entity, by position.
struct ColumnValues: Sendable {
    let entity: EntityRuntime
    private(set) var values: [Int: PostgresValue?] = [:]

    init(_ entity: EntityRuntime) {
        self.entity = entity
    }

    /// The columns in the entity's order, so that equal sets of keys make equal statements.
    var columns: [Int] { values.keys.sorted() }

    /// The value of a column, NULL as nil; nil where the column has no new value.
    subscript(column: Int) -> PostgresValue?? {
        get { values[column] }
        set { values[column] = newValue }
    }

    /// Appends the values in the order of `columns`.
    func append(to bindings: inout Bindings) throws {
        for column in columns { try entity.bind(values[column] ?? nil, as: column, to: &bindings) }
    }
}

/// What a write finds a row by: its key, and the version that it is expected to have.
struct VersionedKey: Sendable {
    let key: ObjectKey
    /// nil where the entity has no versions, or the row none.
    let version: PostgresValue?
}
