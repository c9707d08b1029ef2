import KindredPostgres
import KindredSchema

extension DatabaseObject {
    /// Locks the object's row until the end of the transaction, and reads it again, so that its values stay current.
    ///
    /// One SELECT … FOR UPDATE by key. Loaded relationships are kept. Throws `KindredError`: `.invalidRequest` outside
    /// a transaction and `.notStored` for a new object, before anything is sent; `.objectDeleted` if the row is gone.
    /// `PostgresError` if another transaction has locked the row and `waiting` is `.noWait`; with `.skipLocked` that is
    /// an error `.notFound`, and `.unsupported` where the server has no SKIP LOCKED.
    ///
    /// - Parameters:
    ///   - lock: the strength of the lock.
    ///   - waiting: the behaviour while another transaction has locked the row.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    public func lock(
        _ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await called(at: fileID, line) { core in try await Refresher(core).lock(self, lock, waiting: waiting) }
    }
}

extension FetchRequest {
    /// Locks the selected rows until the end of the transaction.
    ///
    /// `SELECT … FOR UPDATE`, for objects, pages, streams and selected attributes. Rows of joined tables are not
    /// locked. Sending it outside a transaction, or with distinct rows, throws `KindredError` `.invalidRequest`, and
    /// `.skipLocked` `.unsupported` where the server has no SKIP LOCKED.
    /// `count()`, `exists()`, aggregates and groups lock nothing. Over rows of several tenants that Citus distributes, objects and
    /// streams take a SELECT of the keys and one for each tenant besides; pages and attributes are refused there.
    public func lock(_ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait) -> FetchRequest {
        var request = self
        request.query.lock = (lock, waiting)
        return request
    }
}
