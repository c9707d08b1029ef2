import KindredPostgres
import KindredSchema

/// Columns of many rows as parameters of one statement: an array for each column, for any number of rows.
///
/// Types whose arrays have a binary codec are copied from the rows as they are; other columns are sent as text and cast
/// by the server.
struct ColumnArrays {
    let entity: EntityRuntime
    let columns: [Int]
    /// The number of the first array.
    let first: Int
    /// The beginning of the columns' names in `unnest`'s result.
    let prefix: String

    /// `$1`, `$2::text[]`: the arguments of `unnest`.
    var arrays: [String] {
        columns.enumerated().map { position, column in
            let parameter = Parameter(number: first + position)
            return isText(column) ? "\(parameter)::text[]" : parameter.description
        }
    }

    /// The column names of `unnest`'s result.
    var names: [String] { columns.indices.map { "\(prefix)\($0)" } }

    /// The expressions assigned to the columns: `new.c0`, `new.c1::mood`.
    var expressions: [String] {
        zip(columns, names).map { column, name in
            isText(column)
                ? "new.\(name)::\(Attribute.castName(of: entity.entity.attributes[column].sqlType))" : "new.\(name)"
        }
    }

    /// `unnest($1, $2) AS new(c0, c1)`: the rows as a FROM item.
    var table: String { "unnest(\(arrays.joined(separator: ", "))) AS new(\(names.joined(separator: ", ")))" }

    /// The table of the arrays with the rows' places, counted from 1.
    var placedTable: String { Self.placedTable(arrays, names: names) }

    /// `unnest($1, $2) WITH ORDINALITY AS new(c0, c1, place)`.
    static func placedTable(_ arrays: [String], names: [String]) -> String {
        "unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY AS new(\((names + ["place"]).joined(separator: ", ")))"
    }

    /// `t."a" = new.k0 AND t."b" = new.k1`: whether a row has the columns' values.
    func equality(_ alias: String) throws -> String {
        try zip(columns, expressions).map { try entity.texts.equality($0, alias: alias, to: $1) }.joined(
            separator: " AND ")
    }

    /// Appends an array for each column.
    func append(_ rows: [Row], to bindings: inout Bindings) throws {
        for column in columns {
            let attribute = entity.entity.attributes[column]
            let isText = isText(column)
            // A value that the rows do not hold as text must be printed.
            let isPrinted = isText && !attribute.isReadAsText && (attribute.isArray || attribute.enumLabels == nil)
            let type = isText ? .text : attribute.baseType
            if !isPrinted {
                try bindings.appendArray(column, of: rows, as: type)
                continue
            }
            try bindings.appendArray(count: rows.count, of: type) { position, write in
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
