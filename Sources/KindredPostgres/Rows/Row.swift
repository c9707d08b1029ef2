/// A row of a result: one contiguous buffer of encoded values, decoded when they are read.
///
/// A row keeps neither the result nor other rows in memory.
public struct Row: Sendable {
    // Immutable once filled; only its superclass keeps it from being Sendable.
    @safe nonisolated(unsafe) let buffer: RowBuffer

    init(_ buffer: RowBuffer) {
        self.buffer = buffer
    }

    /// The largest total size of a row's values, in bytes.
    package static let maximumSize = Int(RowBuffer.null) - 1

    /// The result's columns; a truncated row has values for the first of them only.
    public var columns: RowColumns { buffer.columns }

    /// The number of values.
    public var count: Int { buffer.count }

    /// The value of a column, nil for NULL.
    ///
    /// Throws `PostgresError` `.decodingFailed` if there is no such column, or if the bytes are not a valid value of its
    /// type.
    public subscript(column: Int) -> PostgresValue? {
        get throws { try decode(column, as: PostgresValue.self) }
    }

    /// The value of the first column of a name, nil for NULL.
    public subscript(name: String) -> PostgresValue? {
        get throws { try decode(try index(named: name), as: PostgresValue.self) }
    }

    /// The value of a column as a Swift type, nil for NULL.
    ///
    /// Throws `PostgresError` `.decodingFailed`, naming the column and both types, if the value is not exactly
    /// representable in the Swift type.
    @_specialize(where Value == Int)
    @_specialize(where Value == String)
    @_specialize(where Value == Double)
    @_specialize(where Value == Bool)
    @_specialize(where Value == PostgresNumeric)
    public func decode<Value: PostgresDecodable>(_ column: Int, as type: Value.Type = Value.self) throws -> Value? {
        // Specialized above for common types: to look up the metadata of `Value?` costs more than most values.
        guard column >= 0, column < count else {
            throw PostgresError(
                .decodingFailed,
                count == 0 && !columns.isEmpty
                    ? "The result has no such row" : "The row has no column \(column); it has \(count)")
        }
        do {
            return try buffer.withBytes { bytes in
                guard let range = range(column, bytes) else { return nil }
                let bytes = bytes.part(range)
                if let value: Value = try read(bytes, buffer.kind(at: column)) { return value }
                return try readOther(bytes, column)
            }
        } catch let error as PostgresError {
            throw named(error, column)
        }
    }

    /// The value of a column of any type; apart, because it holds the columns.
    @inline(never)
    private func readOther<Value: PostgresDecodable>(_ bytes: ByteView, _ column: Int) throws -> Value {
        try Value.read(bytes, columns.cellType(at: column))
    }

    @inline(never)
    private func named(_ error: PostgresError, _ column: Int) -> PostgresError {
        let column = columns[column]
        return PostgresError(
            error.code, "Column \"\(column.name)\" of the type \(column.dataType): \(error.message)")
    }

    /// The value of the first column of a name as a Swift type, nil for NULL.
    public func decode<Value: PostgresDecodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        try decode(try index(named: name), as: type)
    }

    /// Whether a column's value is NULL; true for a missing column.
    public func isNull(at column: Int) -> Bool {
        range(column) == nil
    }

    /// Whether the statement left columns out.
    package var leavesOut: Bool { buffer.leavesOut }

    /// Whether a column's value is unknown, because the statement left the column out; it reads as NULL.
    package func isLeftOut(at column: Int) -> Bool {
        guard buffer.leavesOut, column >= 0, column < count else { return false }
        return buffer.withBytes { bytes in
            let place = bytes.count - RowBuffer.marksSize(count) + column / 8
            return bytes.load(at: place, as: UInt8.self) >> UInt8(column % 8) & 1 == 1
        }
    }

    /// Lends the encoded bytes of a value; nil for NULL and for a missing column.
    @_specialize(where T == Void)
    package func withBytes<T>(at column: Int, _ body: (ByteView) throws -> T) rethrows -> T? {
        try buffer.withBytes { buffer in
            guard let range = range(column, buffer) else { return nil }
            return try body(buffer.part(range))
        }
    }

    /// Appends the encoded bytes of a value behind their number; returns false for NULL, for which it appends nothing.
    @inline(__always)
    func append(_ column: Int, to bytes: inout [UInt8]) -> Bool {
        buffer.withBytes { buffer in
            guard let range = range(column, buffer) else { return false }
            bytes.appendCell(buffer.part(range))
            return true
        }
    }

    /// The value of a column if type and column are of the common kinds, without looking up the column's full
    /// description.
    @inline(__always)
    private func read<Value>(_ bytes: ByteView, _ kind: RowColumns.Kind) throws -> Value? {
        // A cast would cost a look-up of metadata at run time.
        switch kind {
        case .int2 where Value.self == Int.self, .int4 where Value.self == Int.self, .int8 where Value.self == Int.self:
            guard let integer = kind.integer(bytes), let value = Int(exactly: integer) else { return nil }
            return sameValue(value)
        case .text where Value.self == String.self:
            return sameValue(try Codec.string(bytes))
        case .numeric where Value.self == PostgresNumeric.self:
            return sameValue(try BinaryDecoder(bytes, .numeric).numeric())
        default:
            return nil
        }
    }

    /// The value of an integer column of any width in binary form; nil for NULL, for every other column, and for a value
    /// whose width is not its type's.
    package func integer(at column: Int) -> Int64? {
        buffer.withBytes { bytes in
            guard let range = range(column, bytes) else { return nil }
            return buffer.kind(at: column).integer(bytes.part(range))
        }
    }

    private func index(named name: String) throws -> Int {
        if let index = columns.firstIndex(named: name), index < count { return index }
        throw PostgresError(.decodingFailed, "The row has no column named \"\(name)\"")
    }

    /// The place of a value in the buffer; nil for NULL.
    private func range(_ column: Int) -> Range<Int>? {
        buffer.withBytes { range(column, $0) }
    }

    @inline(__always)
    func range(_ column: Int, _ buffer: ByteView) -> Range<Int>? {
        guard column >= 0, column < count else { return nil }
        let end = buffer.load(at: 4 * column, as: UInt32.self)
        guard end & RowBuffer.null == 0 else { return nil }
        let start = column == 0 ? 0 : buffer.load(at: 4 * (column - 1), as: UInt32.self)
        return 4 * count + Int(start & ~RowBuffer.null)..<4 * count + Int(end)
    }
}

extension RowColumns.Kind {
    /// The integer encoded in binary form; nil for other kinds, and if the number of bytes is not the type's.
    @inline(__always)
    func integer(_ bytes: ByteView) -> Int64? {
        switch (self, bytes.count) {
        case (.int2, 2): Int64(bytes.bigEndian(as: Int16.self))
        case (.int4, 4): Int64(bytes.bigEndian(as: Int32.self))
        case (.int8, 8): bytes.bigEndian(as: Int64.self)
        default: nil
        }
    }
}

extension Row {
    /// The undecoded bytes of a value, for types unknown to the library.
    package func rawValue(at column: Int) -> PostgresRawValue? {
        withBytes(at: column) {
            PostgresRawValue(dataType: columns[column].dataType, format: columns[column].format, bytes: Array($0))
        }
    }

    /// Whether the two rows hold the same values, byte by byte.
    package func hasSameBytes(as other: Row) -> Bool {
        count == other.count && buffer.withBytes { bytes in other.buffer.withBytes { bytes.isEqual(to: $0) } }
    }

    /// Whether the two rows hold the same value in a column, byte by byte.
    package func hasSameBytes(as other: Row, at column: Int) -> Bool {
        buffer.withBytes { buffer in
            other.buffer.withBytes { otherBuffer in
                guard let bytes = range(column, buffer), let otherBytes = other.range(column, otherBuffer) else {
                    return range(column, buffer) == other.range(column, otherBuffer)
                        && isLeftOut(at: column) == other.isLeftOut(at: column)
                }
                return buffer.part(bytes).isEqual(to: otherBuffer.part(otherBytes))
            }
        }
    }

    /// Whether the value in a column comes before another row's, in the order of their bytes; NULL comes first.
    ///
    /// - Parameter isSigned: whether the first bit is a sign, as in integers and times.
    package func precedes(_ other: Row, at column: Int, isSigned: Bool) -> Bool {
        buffer.withBytes { buffer in
            other.buffer.withBytes { otherBuffer in
                guard let place = other.range(column, otherBuffer) else { return false }
                guard let own = range(column, buffer) else { return true }
                let (bytes, others) = (buffer.part(own), otherBuffer.part(place))
                if isSigned, let first = bytes.first, let otherFirst = others.first, (first ^ otherFirst) & 0x80 != 0 {
                    return first & 0x80 != 0
                }
                return bytes.precedes(others)
            }
        }
    }

    /// The row with NULL in the given columns.
    package func settingNull(_ columns: [Int]) -> Row {
        Row(
            columns: self.columns, count: count,
            leavingOut: leavesOut ? { !columns.contains($0) && isLeftOut(at: $0) } : nil
        ) {
            column, write in
            if !columns.contains(column) { withBytes(at: column, write) }
        }
    }

    /// The row without the values of the given columns.
    package func leavingOut(_ columns: some Collection<Int>) -> Row {
        Row(columns: self.columns, count: count, leavingOut: { columns.contains($0) || isLeftOut(at: $0) }) {
            column, write in
            if !columns.contains(column) { withBytes(at: column, write) }
        }
    }

    /// The total size of the values, in bytes.
    package var size: Int {
        buffer.withBytes { $0.count - 4 * count - (leavesOut ? RowBuffer.marksSize(count) : 0) }
    }

    /// Makes a row from a source that writes each column's value, or nothing for NULL; called twice for each column.
    ///
    /// A value that would make the row larger than ``maximumSize`` becomes NULL; callers rule that out.
    ///
    /// - Parameter leavingOut: whether a column is left out; nil if none is.
    package init(
        columns: RowColumns, count: Int, leavingOut: ((Int) -> Bool)? = nil,
        _ value: (Int, (ByteView) -> Void) -> Void
    ) {
        var leavesOut = false
        if let leavingOut { leavesOut = (0..<count).contains(where: leavingOut) }
        var size = 0
        for column in 0..<count {
            value(column) { if size + $0.count <= Self.maximumSize { size += $0.count } }
        }
        self.init(
            RowBuffer.filled(columns, count: count, size: size, leavesOut: leavesOut) { writer in
                for column in 0..<count {
                    if leavesOut, leavingOut?(column) == true {
                        writer.leaveOut()
                        continue
                    }
                    value(column) { if writer.column == column { writer.append($0) } }
                    if writer.column == column { writer.appendNull() }
                }
            })
    }
}

extension Row: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the columns, without the values.
    public var description: String {
        "Row(\(columns.prefix(count).map(\.name).joined(separator: ", ")))"
    }

    /// The names and values of the columns.
    public var debugDescription: String {
        let cells = (0..<count).map { column in
            let value = try? self[column]
            return "\(columns[column].name): \(value.map(\.description) ?? (isNull(at: column) ? "NULL" : "?"))"
        }
        return "Row(\(cells.joined(separator: ", ")))"
    }

    /// The names of the columns only.
    public var customMirror: Mirror { Mirror(self, children: ["columns": columns.prefix(count).map(\.name)]) }
}
