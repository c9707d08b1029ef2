import KindredPostgres

/// Turns the answers to the catalog's queries into plain rows, cell by cell.
struct CatalogReader {
    private let result: QueryResult
    private var row = 0

    init(_ result: QueryResult) {
        self.result = result
    }

    /// Reads each row of a result with `read`.
    static func rows<T>(_ result: QueryResult, _ read: (CatalogReader) throws -> T) throws -> [T] {
        var reader = CatalogReader(result)
        var rows: [T] = []
        rows.reserveCapacity(result.count)
        for row in 0..<result.count {
            reader.row = row
            rows.append(try read(reader))
        }
        return rows
    }

    func integer(_ column: Int) throws -> Int64 {
        guard case .integer(let value)? = try result.value(row: row, column: column) else { throw unreadable(column) }
        return value
    }

    func oid(_ column: Int) throws -> UInt32 {
        guard let oid = UInt32(exactly: try integer(column)) else { throw unreadable(column) }
        return oid
    }

    func number(_ column: Int) throws -> Int16 {
        guard let number = Int16(exactly: try integer(column)) else { throw unreadable(column) }
        return number
    }

    func text(_ column: Int) throws -> String {
        guard let text = try optionalText(column) else { throw unreadable(column) }
        return text
    }

    func optionalText(_ column: Int) throws -> String? {
        switch try result.value(row: row, column: column) {
        case .string(let text)?: text
        case nil: nil
        default: throw unreadable(column)
        }
    }

    /// The one character of a `"char"` column; 0 for the empty one.
    func letter(_ column: Int) throws -> UInt8 {
        try text(column).utf8.first ?? 0
    }

    func bool(_ column: Int) throws -> Bool {
        guard case .bool(let value)? = try result.value(row: row, column: column) else { throw unreadable(column) }
        return value
    }

    func float(_ column: Int) throws -> Float {
        guard case .float(let value)? = try result.value(row: row, column: column) else { throw unreadable(column) }
        return value
    }

    /// An array of numbers; empty for NULL.
    func numbers(_ column: Int) throws -> [Int16] {
        switch try result.value(row: row, column: column) {
        case nil: return []
        case .array(let array)?:
            return try array.elements.map { element in
                guard case .integer(let value)? = element, let number = Int16(exactly: value) else {
                    throw unreadable(column)
                }
                return number
            }
        default: throw unreadable(column)
        }
    }

    func texts(_ column: Int) throws -> [String] {
        guard case .array(let array)? = try result.value(row: row, column: column) else { throw unreadable(column) }
        return try array.elements.map { element in
            guard case .string(let text)? = element else { throw unreadable(column) }
            return text
        }
    }

    private func unreadable(_ column: Int) -> SchemaError {
        SchemaError(
            .unreadableCatalog,
            "The catalog's column \"\(result.columns[column].name)\" has an unexpected value"
        )
    }
}
