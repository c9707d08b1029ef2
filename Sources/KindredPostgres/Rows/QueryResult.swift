/// The rows of a statement, copied out of libpq's memory on access.
///
/// A collection of rows. Each access makes a new row; keep it in a variable to read several columns.
public final class QueryResult: Sendable {
    /// The columns; empty for a statement without rows.
    public let columns: RowColumns
    /// The number of rows.
    public let count: Int
    /// Owned by this object alone, which frees it.
    private let handle: ResultHandle

    /// Takes ownership of a complete result; `columns` saves work if known from an earlier execution.
    package init(taking handle: ResultHandle, columns known: RowColumns? = nil, types: TypeRegistry?) {
        self.handle = handle
        count = handle.rowCount
        columns = known ?? handle.columns(types)
    }

    deinit {
        handle.clear()
    }

    /// The number of rows inserted, updated, deleted or returned.
    public var affectedRows: Int { handle.affectedRows }

    /// The command tag, such as `INSERT 0 3`.
    public var commandTag: String { handle.commandTag }

    /// The memory of the rows, in bytes.
    package var memorySize: Int { handle.memorySize }
}

extension QueryResult: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { count }
    /// The row at a position; out of range, a row without values, whose columns throw `.decodingFailed`.
    ///
    /// So `try rows[0][0]` of an empty result throws instead of trapping.
    public subscript(position: Int) -> Row { row(at: position) }
}

extension QueryResult {
    /// The row at a position, limited to its first `prefix` columns.
    package func row(at position: Int, prefix: Int? = nil) -> Row {
        Row(handle.row(at: position, columns, count: Swift.min(prefix ?? columns.count, columns.count)))
    }

    /// Lends a cell's bytes without copying its row; nil for NULL, and out of range.
    package func withCell<T>(row: Int, column: Int, _ body: (ByteView) throws -> T) rethrows -> T? {
        guard column < columns.count else { return nil }
        return try handle.withCell(row: row, column: column, body)
    }

    /// A cell's value without copying its row; nil for NULL.
    package func value(row: Int, column: Int) throws -> PostgresValue? {
        try withCell(row: row, column: column) { bytes in
            try PostgresValue.read(bytes, columns.cellType(at: column))
        }
    }

    /// An integer column's values without copying the rows; nil if one is NULL.
    package func integers(column: Int) throws -> [Int64]? {
        guard column >= 0, column < columns.count else { return nil }
        let kind = columns.kind(at: column)
        var integers: [Int64] = []
        integers.reserveCapacity(count)
        for row in 0..<count {
            let value = try handle.withCell(row: row, column: column) { try integer($0, kind, at: column) }
            guard let value else { return nil }
            integers.append(value)
        }
        return integers
    }

    /// An integer column's value without copying its row; nil for NULL.
    package func integer(row: Int, column: Int) throws -> Int64? {
        try withCell(row: row, column: column) { try integer($0, columns.kind(at: column), at: column) }
    }

    @inline(__always)
    private func integer(_ bytes: ByteView, _ kind: RowColumns.Kind, at column: Int) throws -> Int64 {
        // Reports an integer of unexpected width.
        try kind.integer(bytes) ?? Int64.read(bytes, columns.cellType(at: column))
    }
}
