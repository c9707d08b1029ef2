import KindredPostgres
import KindredSchema

/// New values for columns of one entity, by the column's position.
struct ColumnValues: Sendable {
    let entity: EntityRuntime
    /// In the entity's order, so that equal sets of keys make equal statements.
    private(set) var values: [(column: Int, value: PostgresValue?)] = []

    init(_ entity: EntityRuntime) {
        self.entity = entity
    }

    /// The columns, in the entity's order.
    var columns: [Int] { values.map(\.column) }

    /// The value of a column, NULL as nil; nil if the column has no new value.
    subscript(column: Int) -> PostgresValue?? {
        get { values.first { $0.column == column }?.value }
        set {
            let place = values.firstIndex { $0.column >= column } ?? values.count
            if place < values.count, values[place].column == column { values.remove(at: place) }
            if let newValue { values.insert((column, newValue), at: place) }
        }
    }
}

/// Identifies the row that a write changes: its key, and its expected version.
struct VersionedKey: Sendable {
    let key: ObjectKey
    /// nil if the entity or the row has no version.
    let version: PostgresValue?
}
