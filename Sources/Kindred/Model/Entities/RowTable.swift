import KindredPostgres
import KindredSchema

/// Distinguishes the rows of an entity in several tables: its own, and the tables that inherit from it.
///
/// The system column `tableoid` is a hidden part of their key. A foreign key refers to rows of one table alone.
package struct RowTable: Sendable {
    /// The position of the row's table among the entity's attributes.
    package let column: Int
    package let tables: RowTables

    /// nil if no other table inherits from the entity's.
    init?(_ entity: Entity) {
        guard let tables = entity.rowTables, let column = entity.attributeIndex(of: Attribute.table.name) else {
            return nil
        }
        self.column = column
        self.tables = tables
    }

    /// The entity's own table as a part of a key.
    var own: PostgresValue { .integer(Int64(tables.own)) }

    /// Whether a row is of the entity's own table.
    ///
    /// - Parameter column: the position of the table in the row, if the row does not have all columns.
    func holds(_ row: Row, at column: Int? = nil) -> Bool {
        row.valueOrRaw(at: column ?? self.column) == own
    }

    /// The own table as the value of a new row.
    var cells: RowCells {
        var cells = RowCells()
        let oid = tables.own
        cells.set(column) { bytes in
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: oid >> UInt32(shift))) }
            return true
        }
        return cells
    }
}

extension EntityRuntime {
    /// The key's columns to which a foreign key can refer: all but the row's table.
    package var referencedKey: [Int] { rowTable == nil ? key : Array(key.dropLast()) }

    /// Whether a foreign key that refers to some columns leads to a row by its key.
    func isKey(_ referenced: [Int]) -> Bool { rowTable == nil ? referenced == key : referenced == referencedKey }

    /// The identity key of the row to which a foreign key refers by the values of `referencedKey`.
    func identity(_ values: ObjectKey) -> ObjectKey {
        guard let rowTable else { return values }
        return ObjectKey(values.values + [rowTable.own])
    }

    /// The keys by which foreign keys refer to rows, in the order in which they come.
    ///
    /// - Parameters:
    ///   - referenced: the columns to which the foreign keys refer.
    ///   - columns: the columns that the rows have; nil for all.
    func referencedKeys(_ rows: some Sequence<Row>, _ referenced: [Int], in columns: [Int]? = nil) throws -> [ObjectKey]
    {
        let positions = columns.map { columns in referenced.compactMap(columns.firstIndex(of:)) } ?? referenced
        return try rows.compactMap { try isReferenced($0, in: columns) ? ObjectKey($0, positions) : nil }
    }

    /// Whether foreign keys can refer to a row: not to one of an inheriting table.
    func isReferenced(_ row: Row, in columns: [Int]? = nil) -> Bool {
        guard let rowTable else { return true }
        guard let columns else { return rowTable.holds(row) }
        return columns.firstIndex(of: rowTable.column).map { rowTable.holds(row, at: $0) } ?? false
    }
}
