import Synchronization

/// The columns of a result, shared by its rows.
public final class RowColumns: Sendable {
    /// One column of a result.
    public struct Column: Sendable, Hashable {
        /// The column's name.
        public let name: String
        /// Its data type; for a domain its base type.
        public let dataType: PostgresDataType
        /// How its values are encoded.
        public let format: PostgresFormat
        /// The OID of the table it is a plain column of; 0 if it is computed.
        package let table: UInt32
        /// Its number in that table; 0 if it is computed.
        package let number: Int

        package init(
            name: String,
            dataType: PostgresDataType,
            format: PostgresFormat = .binary,
            table: UInt32 = 0,
            number: Int = 0
        ) {
            self.name = name
            self.dataType = dataType
            self.format = format
            self.table = table
            self.number = number
        }
    }

    /// Frequent kinds of values in binary form.
    enum Kind: UInt8 {
        case int2, int4, int8, text, numeric, other

        var isInteger: Bool { rawValue <= Kind.int8.rawValue }
    }

    /// The name by which a result tells that the statement left a column out, and gave NULL in its place.
    package static let leftOutName = "kindred: omitted"

    private let columns: [Column]
    private let cellTypes: [PostgresCellType]
    package let types: TypeRegistry?
    /// The columns' data types.
    package let dataTypes: [PostgresDataType]
    /// The types of binary columns that the library could not decode when the columns were made.
    let unknownTypes: [PostgresDataType]
    /// The columns that the statement left out.
    package let leftOut: [Int]
    let leavesOut: Bool
    /// The kind of each column, so that common values are decoded without a look-up of their type.
    private let kinds: [Kind]
    /// First positions by the bytes of the name; built at the first search if there are many columns.
    private let positions = RankedMutex<[[UInt8]: Int]?>(nil, .leaf)

    package init(_ columns: [Column], types: TypeRegistry?) {
        self.columns = columns
        self.types = types
        dataTypes = columns.map(\.dataType)
        leftOut = columns.indices.filter { columns[$0].table == 0 && columns[$0].name == Self.leftOutName }
        leavesOut = !leftOut.isEmpty
        unknownTypes = columns.compactMap { column in
            let isUnknown =
                column.format == .binary && column.dataType.isUserDefined && types?.isKnown(column.dataType) == false
            return isUnknown ? column.dataType : nil
        }
        kinds = columns.map { column in
            switch column.dataType {
            case .int2: column.format == .binary ? .int2 : .other
            case .int4: column.format == .binary ? .int4 : .other
            case .int8: column.format == .binary ? .int8 : .other
            case .text, .varchar: .text
            case .numeric: column.format == .binary ? .numeric : .other
            default: .other
            }
        }
        cellTypes = columns.map { PostgresCellType(dataType: $0.dataType, format: $0.format, types: types) }
    }

    /// Finds the first column of a name.
    ///
    /// Names are compared by their bytes, as the server does.
    public func firstIndex(named name: String) -> Int? {
        if columns.count <= 8 { return columns.firstIndex { $0.name == name } }
        return positions.withLock { positions in
            if let positions { return positions[Array(name.utf8)] }
            let entries = columns.enumerated().map { (Array($1.name.utf8), $0) }
            let made = Dictionary(entries, uniquingKeysWith: { first, _ in first })
            positions = made
            return made[Array(name.utf8)]
        }
    }

    /// Whether a column is an integer of any width in binary form; false for a missing column.
    package func isInteger(at column: Int) -> Bool {
        column >= 0 && column < kinds.count && kinds[column].isInteger
    }

    /// The kind of a column's values; the column must exist.
    func kind(at column: Int) -> Kind { kinds[column] }

    /// The type and format of a column's values; the column must exist.
    func cellType(at column: Int) -> PostgresCellType { cellTypes[column] }
}

extension RowColumns: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of columns.
    public var endIndex: Int { columns.count }
    /// The column at a position.
    public subscript(position: Int) -> Column { columns[position] }
}
