import KindredPostgres
import KindredSchema

/// New values for some columns of a row, encoded one after the other in one buffer.
struct RowCells: Sendable {
    /// The columns with a new value, including NULL.
    private(set) var columns = ColumnSet()
    private var bytes: [UInt8] = []
    /// The values' places in the buffer, in column order.
    private var places: [CellPlace] = []

    /// The total number of bytes of the values.
    var size: Int { bytes.count }

    /// Reserves room for the values of some columns.
    mutating func reserveCapacity(_ count: Int) {
        places.reserveCapacity(count)
        // Most values are short.
        bytes.reserveCapacity(16 * count)
    }

    /// A row with the new values, and NULL in all other columns.
    func row(_ columns: RowColumns) -> Row {
        bytes.withBytes { Row(columns: columns, values: $0, at: places) }
    }

    /// A row with the new values instead of its own.
    fileprivate func replaced(in row: Row) -> Row {
        bytes.withBytes { row.withCells($0, at: places) }
    }

    /// Sets the encoded value that `write` appends, or NULL if it returns false; replaces an earlier value.
    mutating func set(_ column: Int, _ write: (inout [UInt8]) throws -> Bool) rethrows {
        let start = bytes.count
        let place = CellPlace(column: column, range: try write(&bytes) ? start..<bytes.count : nil)
        let rank = columns.rank(of: column)
        guard columns.insert(column) else {
            places[rank] = place
            return
        }
        // Nearly always behind the others.
        if rank == places.count { places.append(place) } else { places.insert(place, at: rank) }
    }

    /// Sets a value, encoded as in the entity's rows; nil for NULL.
    ///
    /// Throws `.wrongType` for a value that does not fit the attribute's type exactly, `.valueTooLarge` if the values
    /// together exceed a row's size.
    mutating func set(_ value: PostgresValue?, at column: Int, of entity: EntityRuntime, _ types: TypeRegistry?) throws
    {
        try set(column) { bytes in
            guard let value else { return false }
            let start = bytes.count
            try entity.appendCell(value, at: column, types, to: &bytes)
            guard bytes.count <= Row.maximumSize else {
                bytes.removeSubrange(start...)
                throw entity.tooLarge(column)
            }
            return true
        }
    }

    /// Sets a column to NULL.
    mutating func setNull(_ column: Int) {
        set(column) { _ in false }
    }

    /// Passes a column's new value to `body`; nil for NULL, and for a column without a new value.
    func withBytes<T>(at column: Int, _ body: (ByteView) -> T) -> T? {
        guard columns.contains(column), let range = places[columns.rank(of: column)].range else { return nil }
        return bytes.withBytes { body($0.part(range)) }
    }

    /// Whether both have the same value for a column.
    func hasSameBytes(as other: RowCells, at column: Int) -> Bool {
        func copy(_ cells: RowCells) -> [UInt8]? { cells.withBytes(at: column) { $0.array } }
        return copy(self) == copy(other)
    }
}

extension EntityRuntime {
    /// Appends a value in the rows' encoding.
    ///
    /// Throws `.wrongType` for a value that does not fit the attribute's type exactly.
    func appendCell(_ value: PostgresValue, at position: Int, _ types: TypeRegistry?, to bytes: inout [UInt8]) throws {
        let attribute = entity.attributes[position]
        let format: PostgresFormat
        do {
            format = try Codec.encode(value, as: attribute.baseType, types: types, into: &bytes)
        } catch let error as PostgresError {
            throw wrongType(attribute, error.message)
        }
        // A column read as text holds the text that is sent to the server.
        guard (format == .text) == attribute.isReadAsText else {
            let advice =
                attribute.isReadAsText
                ? "give it as a string in the server's text form"
                : "the text is not the server's text form of a value of the type"
            throw wrongType(attribute, advice)
        }
    }
}

extension Row {
    /// The row with new values in some columns.
    func replacing(_ cells: RowCells) -> Row { cells.replaced(in: self) }

    /// The row with another row's values in some columns.
    func replacing(_ columns: ColumnSet, from other: Row) -> Row {
        let mayLeaveOut = leavesOut || other.leavesOut
        return Row(
            columns: self.columns, count: count,
            leavingOut: mayLeaveOut ? { (columns.contains($0) ? other : self).isLeftOut(at: $0) } : nil
        ) { column, write in
            if columns.contains(column) {
                other.withBytes(at: column, write)
            } else {
                withBytes(at: column, write)
            }
        }
    }

    /// The value of a column, or its bytes if they are not a valid value of the column's type.
    package func valueOrRaw(at column: Int) -> PostgresValue? {
        do {
            return try self[column]
        } catch {
            return rawValue(at: column).map(PostgresValue.other)
        }
    }
}
