public import Kindred
import KindredPostgres
public import KindredSchema

extension Tracking {
    /// The state of change tracking in a database.
    public struct Status: Sendable {
        /// A table whose changes are recorded.
        public struct Table: Sendable, Hashable {
            /// The table's name, or a partition's.
            public let name: QualifiedName
            /// Whether it is a partition, whose changes count as changes of its root.
            public let isPartition: Bool
            /// The columns that name a row in records; empty if the table has no key, and no record names rows.
            public let key: [String]
            /// Why changes may be missing, such as `trigger disabled`; nil if none are.
            public let fault: String?
        }

        /// The installed version of the helper schema.
        public let version: Int
        /// Whether this library has a newer version, which it needs to follow changes; see
        /// ``Tracking/install(readers:retention:longestHold:)``.
        public var isUpgradeDue: Bool { version < Tracking.version }
        /// How long a change can be read after its commit, at least.
        public let retention: Duration
        /// The size of the outbox with its indexes.
        public let outboxBytes: Int64
        /// The age of the oldest record; nil if there is none.
        public let oldestRecord: Duration?
        /// Whether changes are recorded one by one: a reader was there within the retention, or a consumer is waited for.
        public let isRecording: Bool
        /// Whether new partitions, and tables that are made anew, are tracked at once.
        public let hasEventTriggers: Bool
        /// Whether sleeping readers are woken; not where transactions can be prepared, since these cannot notify.
        public let notifiesReaders: Bool
        /// The number of consumers whose cursors are kept.
        public let consumers: Int
        /// How long a consumer may have records wait for it, at most; nil for an older version.
        public let longestHold: Duration?
        /// The consumers that have asked for longer, which was cut, as far as the role may know of them.
        public let cutConsumers: [String]
        /// The tracked tables that the role may know of, by name.
        public let tables: [Table]

        init(_ row: Row, tables: [Table]) throws {
            version = Int(try row.decode(0, as: Int32.self) ?? 0)
            retention = .seconds(try row.decode(1, as: Double.self) ?? 0)
            outboxBytes = try row.decode(2, as: Int64.self) ?? 0
            oldestRecord = try row.decode(3, as: Double.self).map { .seconds($0) }
            isRecording = try row.decode(4, as: Bool.self) ?? false
            hasEventTriggers = try row.decode(5, as: Bool.self) ?? false
            notifiesReaders = try row.decode(6, as: Bool.self) ?? false
            consumers = Int(try row.decode(7, as: Int64.self) ?? 0)
            longestHold = try row.decode(8, as: Double.self).map { .seconds($0) }
            cutConsumers = try row.decode(9, as: [String].self) ?? []
            self.tables = tables
        }
    }
}

extension Tracking.Status.Table {
    init(_ row: Row) throws {
        name = QualifiedName(
            schema: try row.decode(0, as: String.self) ?? "", name: try row.decode(1, as: String.self) ?? "")
        isPartition = !(try row.decode(2, as: Bool.self) ?? true)
        key = try row.decode(3, as: [String].self) ?? []
        fault = try row.decode(4, as: String.self)
    }
}
