import Kindred
import KindredPostgres

/// Where changes come from: the outbox of the helper schema; logical replication could be another.
///
/// All methods run statements of their own, `read` and `keys` in the task's transaction.
protocol ChangeSource: Sendable {
    /// A cursor from which on nothing is missed.
    ///
    /// - Throws: `KindredError` where changes cannot be read: `.trackingNotInstalled`, `.trackingVersion`,
    ///   `.trackingOnStandby`, `.accessDenied`.
    func begin() async throws -> ChangeCursor

    /// The place of the snapshot of the task's transaction, which may be read-only.
    func place() async throws -> ChangeCursor

    /// Reads the records that have become visible since a cursor, or a first piece of them if there are more than a
    /// limit.
    func read(from cursor: ChangeCursor, limit: Int) async throws -> ChangePiece

    /// The tables whose changes are recorded.
    func tables() async throws -> [UInt32: TrackedTable]

    /// Returns once everything is on disk that was visible before.
    func flush() async throws

    /// Whether the server can notify of changes, and the process wants that; known after `begin`.
    var notifies: Bool { get }

    /// Says that a notification is wanted for the next change.
    func sleep(for duration: Duration) async throws -> Int64

    /// Says that notifications are no longer wanted.
    func wake(_ token: Int64) async throws

    /// Notifications that something has changed.
    func notifications() async throws -> Notifications

    /// Keeps records coming, and throws old records away.
    func attend() async throws

    /// How often `attend` has to be called.
    var attendance: Duration { get }

    /// Looks for tables whose changes may be missing, and has it recorded.
    func check() async throws -> ChangeCheck
}

/// A table whose changes are recorded.
struct TrackedTable: Sendable {
    /// The columns of keys in records.
    var key: [String] = []
    /// Its name; nil where it is not known.
    var name: QualifiedName?
}

/// The findings of a look for missing changes.
struct ChangeCheck: Sendable {
    /// Whether records tell of changes of tables themselves.
    var tellsDefinitions: Bool
    /// Whether changes of tables are missing, as long as this lasts.
    var isMissing: Bool
}

/// Records of whole transactions, in the order in which the rows changed.
struct ChangePiece: Sendable {
    /// The place behind them.
    var cursor: ChangeCursor
    /// Whether nothing is left that the snapshot shows.
    var isLast = true
    /// Whether a crash may take some of it back until it is flushed.
    var isUnsafe = false
    /// Why the given cursor was of no use; then there are no records.
    var refusal: Tracking.Gap?
    var records: [ChangeRecord] = []
    /// The age of the oldest record.
    var age: Duration = .zero
}

/// The effect of one statement on a table.
struct ChangeRecord: Sendable, Equatable {
    enum Operation: Character, Sendable {
        case insert = "I"
        case update = "U"
        case delete = "D"
        case truncate = "T"
        /// Changes may be missing.
        case gap = "G"
        /// Changes made while no reader was there.
        case unread = "A"
        /// The table itself was changed.
        case schema = "S"
    }

    var transaction: Int64
    /// The table; of a partition the root.
    var relation: UInt32
    var operation: Operation
    /// The nesting of triggers.
    ///
    /// Changes of a statement's triggers are recorded before the statement.
    var depth = 1
    /// The keys of rows, one column after the other, row by row; nil if they are not named.
    var keys: [String]?
    /// The keys after an update that changed some, in the same order.
    var newKeys: [String]?
    /// The columns that an update changed; nil if they are not known.
    ///
    /// Of a table that the role may not read a text that stands for the role's rights.
    var columns: [String]?
    /// The columns of the keys, where they differ from `ChangeSource.keys`.
    var key: [String]?
    var reason: String?

    /// Why rows are not named; nil if all are.
    func gap(hasKey: Bool) -> Tracking.Gap? {
        switch operation {
        case .truncate: return .bulk
        case .schema: return .schemaChanged
        case .unread: return .unrecorded
        case .gap:
            if reason == "access" { return .accessDenied }
            return ["changed", "created again", "dropped"].contains(reason) ? .schemaChanged : .unrecorded
        case .insert, .update, .delete:
            if keys != nil { return nil }
            return reason == "policy" || !hasKey ? .unnamed : .bulk
        }
    }
}
