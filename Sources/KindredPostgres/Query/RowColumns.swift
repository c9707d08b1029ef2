import CLibPQ
import Synchronization

/// The columns of a result, shared by its rows.
public final class RowColumns: Sendable {
    /// One column of a result.
    public struct Column: Sendable, Hashable {
        /// The column's name.
        public let name: String
        /// Its data type; of a domain, the type below it.
        public let dataType: PostgresDataType
        /// How its values came.
        public let format: PostgresFormat
        /// The OID of the table it is a plain column of; 0 if it is computed.
        package let table: UInt32
        /// Its number in that table; 0 if it is computed.
        package let number: Int
    }

    private let columns: [Column]
    package let types: TypeRegistry?
    /// First positions by name, made when the first is looked for.
    private let positions = Mutex<[String: Int]?>(nil)

    package init(_ columns: [Column], types: TypeRegistry?) {
        self.columns = columns
        self.types = types
    }

    /// Finds the first column of a name.
    public func firstIndex(named name: String) -> Int? {
        positions.withLock { positions in
            if let positions { return positions[name] }
            let made = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
            positions = made
            return made[name]
        }
    }
}

extension RowColumns: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of columns.
    public var endIndex: Int { columns.count }
    /// The column at a position.
    public subscript(position: Int) -> Column { columns[position] }
}
