/// How strongly rows are locked, from a SELECT until the end of the transaction.
public enum RowLock: String, Sendable, Hashable, CaseIterable {
    /// Against everything but plain reading: nobody else changes, deletes or refers to the rows.
    case forUpdate = "FOR UPDATE"
    /// Against changing and deleting; others may still refer to the rows.
    case forNoKeyUpdate = "FOR NO KEY UPDATE"
    /// Against changing and deleting; others may take the same lock.
    case forShare = "FOR SHARE"
    /// Against deleting and changing the key; others may change the rest.
    case forKeyShare = "FOR KEY SHARE"

    /// What happens when somebody else has locked a row already.
    public enum Waiting: String, Sendable, Hashable, CaseIterable {
        /// The statement waits until the row is free.
        case wait = ""
        /// The row is left out: how workers take tasks from a table without meeting.
        case skipLocked = " SKIP LOCKED"
        /// The statement fails with SQLSTATE 55P03.
        case noWait = " NOWAIT"
    }
}
