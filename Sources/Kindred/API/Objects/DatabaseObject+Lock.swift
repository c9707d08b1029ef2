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

extension DatabaseContext {
    func lock(_ object: DatabaseObject, _ lock: RowLock, _ waiting: RowLock.Waiting) async throws {
        try requireLive(object)
        try requireTransaction()
        let key = try requireKey(object)
        let entity = object.runtime
        let clause = lock.rawValue + waiting.rawValue
        let text = try entity.text("lock \(clause)") {
            """
            SELECT \(try entity.selectList()) FROM \(try entity.quotedName) \
            WHERE \(try entity.equality(entity.key, firstParameter: 1)) \(clause)
            """
        }
        var bindings = Bindings()
        try entity.append(key, to: &bindings)
        let askedAt = now
        let statement = Statement(text: text, bindings: bindings, resultFormat: .binary)
        let result = try await client.execute(statement, for: entity.name)
        if result.count == 1 {
            try apply(EntityRows(result, of: entity)[0], to: object, askedAt: askedAt)
            return object.withState { $0.acceptStoredVersion() }
        }
        guard waiting != .skipLocked else {
            throw KindredError(
                .notFound, "\(object) is locked by somebody else, or gone", entity: entity.name.description)
        }
        try applyDelete(object)
        throw gone([object])
    }
}
