import CLibPQ

/// The rows of a statement, copied out of libpq's memory on access.
///
/// A collection of rows. Each access makes a new row; keep it in a variable to read several columns.
public final class QueryResult: Sendable {
    /// The columns; empty for a statement without rows.
    public let columns: RowColumns
    /// The number of rows.
    public let count: Int
    // Sound: a complete PGresult never changes, reading it from several threads is safe, and this object alone owns and
    // frees it.
    private nonisolated(unsafe) let handle: OpaquePointer

    /// Takes ownership of a complete PGresult; `columns` saves work if known from an earlier execution.
    package init(taking handle: OpaquePointer, columns known: RowColumns? = nil, types: TypeRegistry?) {
        self.handle = handle
        count = Int(PQntuples(handle))
        columns = known ?? Self.columns(of: handle, types)
    }

    deinit {
        PQclear(handle)
    }

    /// The number of rows inserted, updated, deleted or returned.
    public var affectedRows: Int {
        guard let text = PQcmdTuples(handle) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    /// The command tag, such as `INSERT 0 3`.
    public var commandTag: String {
        PQcmdStatus(handle).map { String(cString: $0) } ?? ""
    }

    /// The memory of the rows, in bytes.
    package var memorySize: Int { Int(clamping: PQresultMemorySize(handle)) }

    /// The columns of a PGresult.
    package static func columns(of handle: OpaquePointer, _ types: TypeRegistry?) -> RowColumns {
        RowColumns(
            (0..<PQnfields(handle)).map { column in
                RowColumns.Column(
                    // A name that is not valid UTF-8 is dropped; repairing it would alter it.
                    name: PQfname(handle, column).flatMap { String(validatingCString: $0) } ?? "",
                    dataType: PostgresDataType(rawValue: PQftype(handle, column)),
                    format: PQfformat(handle, column) == 1 ? .binary : .text,
                    table: PQftable(handle, column),
                    number: Int(PQftablecol(handle, column))
                )
            },
            types: types
        )
    }
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
        let isThere = position >= 0 && position < self.count
        let row = Int32(clamping: position)
        let count = isThere ? Swift.min(prefix ?? columns.count, columns.count) : 0
        let buffer = withUnsafeTemporaryAllocation(of: Int32.self, capacity: count) { lengths in
            var size = 4 * count
            for column in 0..<count {
                lengths[column] = PQgetlength(handle, row, Int32(column))
                size += Int(lengths[column])
            }
            return RowBuffer.filled(columns, count: count, size: size) { bytes in
                var end = 0
                for column in 0..<count {
                    let length = Int(lengths[column])
                    // Fits: libpq rejects messages, and so rows, of 2 GiB.
                    var mark = UInt32(end + length)
                    if length > 0, let value = PQgetvalue(handle, row, Int32(column)), let base = bytes.baseAddress {
                        (base + 4 * count + end).copyMemory(from: value, byteCount: length)
                    } else if PQgetisnull(handle, row, Int32(column)) == 1 {
                        mark |= 1 << 31
                    }
                    bytes.storeBytes(of: mark, toByteOffset: 4 * column, as: UInt32.self)
                    end += length
                }
            }
        }
        return Row(buffer)
    }

    /// Lends a cell's bytes without copying its row; nil for NULL, and out of range.
    package func withCell<T>(row: Int, column: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
        guard row >= 0, row < count, column >= 0, column < columns.count else { return nil }
        let (row, column) = (Int32(clamping: row), Int32(clamping: column))
        let length = Int(PQgetlength(handle, row, column))
        // A cell with bytes is not NULL.
        guard length > 0 || PQgetisnull(handle, row, column) == 0, let value = PQgetvalue(handle, row, column) else {
            return nil
        }
        return try body(UnsafeRawBufferPointer(start: value, count: length))
    }

    /// A cell's value without copying its row; nil for NULL.
    package func value(row: Int, column: Int) throws -> PostgresValue? {
        try withCell(row: row, column: column) { bytes in
            try PostgresValue.read(bytes, columns.cellType(at: column))
        }
    }

    /// An integer column's value without copying its row; nil for NULL.
    package func integer(row: Int, column: Int) throws -> Int64? {
        try withCell(row: row, column: column) { bytes in
            if let integer = columns.kind(at: column).integer(bytes) { return integer }
            // Reports an integer of unexpected width.
            return try Int64.read(bytes, columns.cellType(at: column))
        }
    }
}
