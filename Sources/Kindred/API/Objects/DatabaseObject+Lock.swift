import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Locks the object's row until the end of the transaction, and reads it again, so that its values stay current.
    ///
    /// One SELECT … FOR UPDATE by key. Loaded relationships are kept. Throws `KindredError`: `.invalidRequest` outside
    /// a transaction and `.notStored` for a new object, before anything is sent; `.objectDeleted` if the row is gone.
    /// `PostgresError` if another transaction has locked the row and `waiting` is `.noWait`; with `.skipLocked` that is
    /// an error `.notFound`.
    public func lock(
        _ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await called(at: fileID, line) { context in
            try await Refresher(context.core).lock(self, lock, waiting: waiting)
        }
    }
}

extension FetchRequest {
    /// Locks the selected rows until the end of the transaction.
    ///
    /// `SELECT … FOR UPDATE`, for objects, pages, streams and selected attributes. Rows of joined tables are not
    /// locked. Sending it outside a transaction, or with distinct rows, throws `KindredError` `.invalidRequest`.
    /// `count()`, `exists()`, aggregates and groups lock nothing.
    public func lock(_ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait) -> FetchRequest {
        var request = self
        request.query.lock = (lock, waiting)
        return request
    }
}
