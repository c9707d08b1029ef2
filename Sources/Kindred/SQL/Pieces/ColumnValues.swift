import KindredPostgres
import KindredSchema

/// New values for columns of one entity, by the column's position.
struct ColumnValues: Sendable {
    let entity: EntityRuntime
    private(set) var values: [Int: PostgresValue?] = [:]

    init(_ entity: EntityRuntime) {
        self.entity = entity
    }

    /// The columns in the entity's order, so that equal sets of keys make equal statements.
    var columns: [Int] { values.keys.sorted() }

    /// The value of a column, NULL as nil; nil if the column has no new value.
    subscript(column: Int) -> PostgresValue?? {
        get { values[column] }
        set { values[column] = newValue }
    }
}

/// Identifies the row that a write changes: its key, and its expected version.
struct VersionedKey: Sendable {
    let key: ObjectKey
    /// nil if the entity or the row has no version.
    let version: PostgresValue?
}
