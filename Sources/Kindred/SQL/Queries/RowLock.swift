import KindredPostgres

/// The strength of a row lock, which lasts from a SELECT until the end of the transaction.
public enum RowLock: String, Sendable, Hashable, CaseIterable {
    /// Blocks everything but plain reading: other transactions cannot change, delete or reference the rows.
    case forUpdate = "FOR UPDATE"
    /// Blocks changes and deletion; other transactions can still reference the rows.
    case forNoKeyUpdate = "FOR NO KEY UPDATE"
    /// Blocks changes and deletion; other transactions can take the same lock.
    case forShare = "FOR SHARE"
    /// Blocks deletion and changes of the key; other transactions can change the rest.
    case forKeyShare = "FOR KEY SHARE"

    /// The treatment of a row that another transaction has locked.
    public enum Waiting: String, Sendable, Hashable, CaseIterable {
        /// The statement waits until the row is unlocked.
        case wait = ""
        /// The row is skipped: workers can take distinct tasks from one table without waiting.
        case skipLocked = " SKIP LOCKED"
        /// The statement fails with SQLSTATE 55P03.
        case noWait = " NOWAIT"
    }
}
