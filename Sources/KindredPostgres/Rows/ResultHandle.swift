import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A complete result of libpq, or a notice.
///
/// Safe while its owner has not cleared it: it never changes, so several threads may read it. Rows and columns are checked
/// before libpq gets their numbers, and memory lent by libpq is copied, or lent to a closure.
@safe
package struct ResultHandle: Sendable {
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes a result.
    @unsafe
    package init(_ pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    /// Frees the result; the owner calls it once, and the handle is not used afterwards.
    func clear() { unsafe PQclear(pointer) }

    // MARK: The whole

    var status: ExecStatusType { unsafe PQresultStatus(pointer) }
    var rowCount: Int { unsafe Int(PQntuples(pointer)) }
    var columnCount: Int { unsafe Int(PQnfields(pointer)) }
    var memorySize: Int { unsafe Int(clamping: PQresultMemorySize(pointer)) }
    /// Whether the first column's values are in binary form.
    ///
    /// For a column that is not there libpq would write a notice.
    var isBinary: Bool { unsafe columnCount > 0 && PQfformat(pointer, 0) == 1 }

    /// The command tag, such as `INSERT 0 3`.
    var commandTag: String { unsafe PQcmdStatus(pointer).map { unsafe String(cString: $0) } ?? "" }
    var commandTagSize: Int { unsafe PQcmdStatus(pointer).map { unsafe strlen($0) } ?? 0 }
    /// Whether the command tag is missing, which ends each result.
    var hasNoCommandTag: Bool { unsafe PQcmdStatus(pointer).map { unsafe $0.pointee == 0 } ?? true }

    /// The number of rows that the statement inserted, updated, deleted or returned.
    var affectedRows: Int { unsafe PQcmdTuples(pointer).flatMap { unsafe Int(String(cString: $0)) } ?? 0 }

    // MARK: Rows

    /// The columns.
    func columns(_ types: TypeRegistry?) -> RowColumns {
        RowColumns(
            (0..<Int32(clamping: columnCount)).map { column in
                let type = unsafe PostgresDataType(rawValue: PQftype(pointer, column))
                return unsafe RowColumns.Column(
                    // A name that is not valid UTF-8 is dropped; repairing it would alter it.
                    name: PQfname(pointer, column).flatMap { unsafe String(validatingCString: $0) } ?? "",
                    dataType: types?.shared(type) ?? type,
                    format: PQfformat(pointer, column) == 1 ? .binary : .text,
                    table: PQftable(pointer, column),
                    number: Int(PQftablecol(pointer, column)))
            },
            types: types)
    }

    /// The values of the first `count` columns of a row; without values if there is no such row.
    func row(at position: Int, _ columns: RowColumns, count: Int) -> RowBuffer {
        let isThere = position >= 0 && position < rowCount
        let count = isThere ? Swift.max(0, Swift.min(count, columnCount)) : 0
        let row = Int32(clamping: position)
        if columns.leavesOut { return rowLeavingOut(row, columns, count: count) }
        return unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: count) { lengths in
            for column in 0..<count {
                let length = unsafe PQgetlength(pointer, row, Int32(column))
                // A value with bytes is not NULL.
                let isNull = unsafe length <= 0 && PQgetisnull(pointer, row, Int32(column)) == 1
                unsafe lengths[column] = isNull ? -1 : length
            }
            let filled = unsafe RowBuffer.filled(columns, lengths: lengths) { column in
                unsafe UnsafePointer(PQgetvalue(pointer, row, Int32(column)))
            }
            // A message of the protocol, and so a row, is smaller than the largest buffer.
            return filled ?? RowBuffer.filled(columns, count: 0, size: 0) { _ in }
        }
    }

    /// A row of a result that leaves columns out, whose NULLs stand for unknown values.
    private func rowLeavingOut(_ row: Int32, _ columns: RowColumns, count: Int) -> RowBuffer {
        let size = (0..<count).reduce(0) { unsafe $0 + Int(PQgetlength(pointer, row, Int32($1))) }
        return RowBuffer.filled(columns, count: count, size: size, leavesOut: true) { writer in
            for column in 0..<count {
                let isThere: Void? = withCell(row: Int(row), column: column) { writer.append($0) }
                if isThere != nil { continue }
                if columns.leftOut.contains(column) { writer.leaveOut() } else { writer.appendNull() }
            }
        }
    }

    /// Lends a value's bytes; nil for NULL, and where there is none.
    @inline(__always)
    func withCell<T>(row: Int, column: Int, _ body: (ByteView) throws -> T) rethrows -> T? {
        guard row >= 0, row < rowCount, column >= 0, column < columnCount else { return nil }
        let (row, column) = (Int32(clamping: row), Int32(clamping: column))
        let length = unsafe Int(PQgetlength(pointer, row, column))
        // A cell with bytes is not NULL.
        guard unsafe length > 0 || PQgetisnull(pointer, row, column) == 0,
            let value = unsafe PQgetvalue(pointer, row, column)
        else { return nil }
        return try unsafe body(ByteView(lending: UnsafeRawBufferPointer(start: value, count: length)))
    }

    /// The values of a row that is in text form; an SQL NULL is empty.
    func texts(row: Int) -> [String?] {
        (0..<columnCount).map { column in
            withCell(row: row, column: column) { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    // MARK: Errors and notices

    /// A field of an error, by its letter in the protocol.
    ///
    /// For messages only, so invalid UTF-8 may be replaced.
    func field(_ letter: Unicode.Scalar) -> String? {
        unsafe PQresultErrorField(pointer, Int32(letter.value)).map { unsafe Self.beginning($0) }
    }

    /// The number of bytes of a field.
    func fieldSize(_ letter: UInt32) -> Int? {
        unsafe PQresultErrorField(pointer, Int32(letter)).map { unsafe strlen($0) }
    }

    /// libpq's message about the result.
    var errorMessage: String { unsafe PQresultErrorMessage(pointer).map { unsafe Self.beginning($0) } ?? "" }

    /// The first 64 KiB of a text of libpq, which ends with a NUL.
    @unsafe
    static func beginning(_ text: UnsafePointer<CChar>) -> String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: strnlen(text, 65_536)), as: UTF8.self)
    }
}
