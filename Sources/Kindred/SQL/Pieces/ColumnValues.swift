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

    /// Appends the values in the order of `columns`.
    func append(to bindings: inout Bindings) throws {
        for column in columns { try entity.bind(values[column] ?? nil, as: column, to: &bindings) }
    }
}

/// Identifies the row that a write changes: its key, and its expected version.
struct VersionedKey: Sendable {
    let key: ObjectKey
    /// nil if the entity or the row has no version.
    let version: PostgresValue?
}

/// Columns of many rows as parameters of one statement: an array for each column, for any number of rows.
///
/// Types whose arrays have a binary codec are copied from the rows as they are; others are sent as text and cast by the
/// server.
struct ColumnArrays {
    let entity: EntityRuntime
    let columns: [Int]

    /// `$1, $2::text[]`: the arguments of `unnest`.
    func parameters(first: Int) -> String {
        columns.enumerated().map { position, column in
            isText(column) ? "$\(first + position)::text[]" : "$\(first + position)"
        }.joined(separator: ", ")
    }

    /// The column names of `unnest`'s result.
    func names(_ prefix: String) -> [String] {
        columns.indices.map { "\(prefix)\($0)" }
    }

    /// The expressions assigned to the columns: `new.c0, new.c1::mood`.
    func expressions(_ prefix: String) -> [String] {
        zip(columns, names(prefix)).map { column, name in
            isText(column)
                ? "new.\(name)::\(Attribute.castName(of: entity.entity.attributes[column].typeName))" : "new.\(name)"
        }
    }

    /// Appends an array for each column.
    func append(_ rows: [Row], to bindings: inout Bindings) throws {
        for column in columns {
            let attribute = entity.entity.attributes[column]
            let isText = isText(column)
            // A value that the rows do not hold as text must be printed.
            let isPrinted = isText && !attribute.isReadAsText && (attribute.isArray || attribute.enumLabels == nil)
            let type = isText ? .text : attribute.baseType
            try bindings.appendArray(count: rows.count, of: type) { position, write in
                guard isPrinted else {
                    rows[position].withBytes(at: column, write)
                    return
                }
                guard let value = try rows[position][column] else { return }
                value.description.withBytes(write)
            }
        }
    }

    private func isText(_ column: Int) -> Bool {
        let attribute = entity.entity.attributes[column]
        // `unnest` flattens arrays of arrays completely.
        return attribute.isReadAsText || attribute.isArray || attribute.baseType.arrayType == nil
    }
}
