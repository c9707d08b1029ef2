import KindredPostgres
import KindredSchema

/// Columns of many rows as parameters of one statement: an array for each column, whatever the number of rows.
///
/// Types whose arrays the library can send in binary form go so, copied from the rows as they are; the others go as
/// text and are cast by the server.
struct ColumnArrays {
    let entity: EntityRuntime
    let columns: [Int]

    /// `$1, $2::text[]`: the arguments of `unnest`.
    func parameters(first: Int) -> String {
        columns.enumerated().map { position, column in
            isText(column) ? "$\(first + position)::text[]" : "$\(first + position)"
        }.joined(separator: ", ")
    }

    /// The names of the columns that `unnest` gives.
    func names(_ prefix: String) -> [String] {
        columns.indices.map { "\(prefix)\($0)" }
    }

    /// The values as the columns take them: `new.c0, new.c1::mood`.
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
            // What is no text in the rows either has to be printed.
            let isPrinted = isText && !attribute.isReadAsText && (attribute.isArray || attribute.enumLabels == nil)
            try bindings.appendArray(count: rows.count, of: isText ? .text : attribute.baseType) { position, write in
                guard isPrinted else {
                    rows[position].withBytes(at: column, write)
                    return
                }
                guard let value = try rows[position][column] else { return }
                Array(value.description.utf8).withUnsafeBytes(write)
            }
        }
    }

    private func isText(_ column: Int) -> Bool {
        let attribute = entity.entity.attributes[column]
        // `unnest` takes arrays of arrays apart to the last element.
        return attribute.isReadAsText || attribute.isArray || attribute.baseType.arrayType == nil
    }
}
