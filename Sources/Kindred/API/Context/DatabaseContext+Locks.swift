import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The objects among some whose rows another transaction of any client has locked, as the server says itself.
    ///
    /// For each entity a `SELECT … FOR NO KEY UPDATE SKIP LOCKED` and, if any row was skipped, a SELECT that tells
    /// locked rows from rows that are gone; both are rolled back. For that moment the other rows are locked by this
    /// call. Rows that are only referenced (`FOR KEY SHARE`) do not count, nor do locks of the task's own transaction.
    /// The locks may have ended when it returns.
    ///
    /// Throws `KindredError`: `.foreignContext`, `.notStored` and `.objectDeleted` before anything is sent,
    /// `.accessDenied` if the role may not update the rows.
    public func lockedObjects<Object: DatabaseObject>(
        among objects: [Object], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let locked = try await LockedRows(core).among(objects)
            return objects.filter { locked.contains($0) }
        }
    }
}
