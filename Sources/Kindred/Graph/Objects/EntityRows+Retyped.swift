import KindredPostgres
import KindredSchema

// Results of a database that has changed since the model was read. The rows of objects always have the types of the model, so
// that rows of different statements, and staged values, can be compared and joined.
extension EntityRuntime {
    /// The columns of a result whose type differs from the model's.
    ///
    /// Throws `KindredError` `.schemaChanged` unless their values mean the same as values of the model's types.
    func retyped(in columns: RowColumns) throws -> [Int] {
        guard columns.count >= resultTypes.count else {
            throw schemaChanged("has \(columns.count) columns in a result, where the model has \(resultTypes.count)")
        }
        return try resultTypes.indices.filter { column in
            let (type, expected) = (columns.dataTypes[column], resultTypes[column])
            if type == expected { return false }
            // A column that was left out has no values.
            if columns.leftOut.contains(column) { return true }
            // Values of a key are compared as they arrive.
            let isKey =
                key.contains(column) && (type.isInteger != expected.isInteger || attributes([column])[0].isArray)
            guard !isKey, columns.types?.areAlike(type, expected) == true else {
                throw schemaChanged(
                    "is of the type \(type), where the model has \(entity.attributes[column].typeName)", column)
            }
            return true
        }
    }

    /// A row with the types of the model.
    ///
    /// Throws `KindredError` `.schemaChanged` for a value that the model's type cannot hold.
    func converted(_ row: Row, _ retyped: [Int]) throws -> Row {
        guard let types = row.columns.types else { return row }
        let empty = emptyRow(types)
        var cells = RowCells()
        for column in retyped {
            do {
                try cells.set(try row[column], at: column, of: self, types)
            } catch {
                throw schemaChanged(
                    "has a value that the model's type \(entity.attributes[column].typeName) cannot hold", column)
            }
        }
        return Row(
            columns: empty.columns, count: empty.count, leavingOut: row.leavesOut ? { row.isLeftOut(at: $0) } : nil
        ) { column, write in
            if cells.columns.contains(column) {
                cells.withBytes(at: column, write)
            } else {
                row.withBytes(at: column, write)
            }
        }
    }

    /// Throws `KindredError` `.schemaChanged` if a composite type has other fields than the client has learnt.
    ///
    /// The values of a column all have the same fields, so that the first one tells.
    func requireNamedFields(in result: QueryResult) throws {
        for column in compositeColumns where column < result.columns.count {
            for position in 0..<result.count {
                guard let value = try result.value(row: position, column: column), let isNamed = value.hasNamedFields
                else { continue }
                if isNamed { break }
                throw schemaChanged("has fields that the model does not have", column)
            }
        }
    }

    private func schemaChanged(_ what: String, _ column: Int? = nil) -> KindredError {
        let attribute = column.map { entity.attributes[$0].name }
        return KindredError(
            .schemaChanged,
            """
            \(name)\(attribute.map { ".\($0)" } ?? "") \(what): the database has changed since the model was read; call \
            refreshSchema(), and make a new context
            """,
            entity: name.description, key: attribute)
    }
}

extension PostgresValue {
    /// Whether the fields of the composites in the value have names; nil if it has none.
    fileprivate var hasNamedFields: Bool? {
        switch self {
        case .array(let array): array.elements.lazy.compactMap { $0?.hasNamedFields }.first
        case .composite(let composite):
            composite.fields.allSatisfy { $0.name != nil && $0.value?.hasNamedFields != false }
        default: nil
        }
    }
}
