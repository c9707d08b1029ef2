import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Locks the object's row until the end of the transaction, and reads it again, so that what it shows stays true.
    ///
    /// One SELECT … FOR UPDATE by key. Loaded relationships are kept. Throws `KindredError`: `.invalidRequest` outside a
    /// transaction and `.notStored` for a new object, before anything is sent; `.objectDeleted` if the row is gone.
    /// `PostgresError` if the row is locked and `waiting` is `.noWait`; with `.skipLocked` a locked row is an error
    /// `.notFound`.
    public func lock(
        _ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.lock(self, lock, waiting)
        }
    }
}

extension FetchRequest {
    /// Locks the rows that are selected, until the end of the transaction.
    ///
    /// `SELECT … FOR UPDATE`, for objects, pages, streams and selected attributes. The rows of joined tables are not locked.
    /// Sending it outside a transaction throws `KindredError` `.invalidRequest`, as do distinct rows, which stand for
    /// several. Counting, `exists()`, aggregates and groups lock nothing.
    public func lock(_ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait) -> FetchRequest {
        var request = self
        request.query.lock = (lock, waiting)
        return request
    }
}
