import KindredPostgres

/// A rule of ``MigrationLint``: the problem that it finds, and how a migration avoids it.
///
/// Numbers and names are stable: M0 is about files that cannot run, M1 about locks that are held while a table is read,
/// M2 about tables that are written anew, M3 about statements that fail on rows, M4 about programs that run during the
/// migration, M5 about waiting.
public struct MigrationRule: Sendable, Hashable {
    /// How much a finding matters; the levels of `kindred doctor`.
    public enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Worth knowing; nothing is wrong.
        case note
        /// Blocks or breaks programs that run while the file does.
        case warning
        /// Fails, or will fail where the table has rows.
        case error

        /// Whether the left level matters less.
        public static func < (left: Self, right: Self) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    /// The number, such as `M101`.
    public let id: String
    /// The name, such as `index-not-concurrent`.
    public let name: String
    /// How much its findings matter.
    public let level: Level
    /// The reason why it is a finding, in one sentence.
    public let summary: String
    /// The way to write it instead.
    public let remedy: String

    init(_ id: String, _ name: String, level: Level = .warning, summary: String, remedy: String) {
        self.id = id
        self.name = name
        self.level = level
        self.summary = summary
        self.remedy = remedy
    }

    /// All rules, sorted by number.
    public static let all: [MigrationRule] = [
        invalidFile, indexNotConcurrent, dropIndexNotConcurrent, reindexNotConcurrent, notInTransaction,
        foreignKeyNotValid,
        checkNotValid, uniqueWithoutIndex, exclusionConstraint, setNotNull, validatedUnderLock, workUnderLock,
        attachPartition,
        detachNotConcurrent, refreshNotConcurrent, typeChange, volatileDefault, tableRewrite, requiredColumn,
        dropColumn,
        dropTable, rename, truncate, dropNotNull, noLockTimeout, severalLocks,
    ].sorted { $0.id < $1.id }

    /// The rule of a number, such as `M101`, or of a name; nil if there is none.
    public static func named(_ name: String) -> MigrationRule? {
        all.first { $0.id == name.uppercased() || $0.name == name }
    }
}
