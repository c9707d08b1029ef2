public import KindredPostgres

extension DatabaseContext {
    /// Runs `body` in a transaction: all statements that it and its child tasks send through this database belong to
    /// it, including statements of set proxies and other contexts.
    ///
    /// A nested call is a savepoint. If `body` throws, rows are rolled back, objects in memory are restored, and the
    /// error is rethrown unchanged; changes that other tasks staged in the context meanwhile stay. A task that outlives
    /// the transaction gets an error, never another connection.
    ///
    /// A context runs one transaction at a time: another task's transaction, or its write outside of a transaction,
    /// waits for the end. A wait that cannot end throws `KindredError` `.contextBusy` after the pool's acquire timeout.
    ///
    /// Nothing is read before the error reaches the caller. Objects read before the transaction had written anything
    /// stay as they are; raw SQL counts as writing, except `SET`. Objects written, or read after that, show their
    /// former row again. An object whose former row is not known, because it was first read then, is stale: its
    /// attributes show their last values, and the row is read again before a relationship is followed, before
    /// `value(forKey:)` returns, and before anything of it is written. If another object has its key again, it is
    /// deleted instead.
    ///
    /// If the answer to COMMIT is lost, or a statement inside ended the transaction, objects are restored as well, and
    /// changed, deleted and created objects are stale. Objects stored by `save()` are new again; ask
    /// `PostgresClient.resolveCommit`, or the database, before saving them once more. Statements that begin or end
    /// transactions are refused inside.
    ///
    /// - Parameters:
    ///   - isolation: the isolation level; nil is the server's default. Ignored by savepoints.
    ///   - readOnly: whether writes are refused; nil is the server's default. Ignored by savepoints.
    ///   - deferrable: for serializable read-only transactions: wait for a snapshot that cannot fail.
    ///   - tracksCommit: whether `PostgresClient.resolveCommit` can determine the transaction's outcome if the answer
    ///     to COMMIT is lost; costs one more statement, no round trip. Ignored by savepoints.
    ///   - retry: whether `body` runs again, on restored objects, after a serialization failure, a deadlock, or a connection that was
    ///     lost before COMMIT was sent.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: runs inside, once for each attempt.
    /// - Throws: `PostgresError` `.commitUnknown` if the answer to COMMIT was lost, `.transactionAborted` if `body`
    ///   swallowed an error that had failed the transaction, `.transactionBroken` if the transaction ended before
    ///   `body` did, `.settingsDiffer` inside a transaction that runs with the settings of another context; `KindredError`
    ///   `.countOutOfRange` if a set with a declared count has too few or too many members
    ///   at the end.
    public func transaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        tracksCommit: Bool = false,
        retry: RetryPolicy = .none,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        try await database.transaction(
            TransactionOptions(
                isolation: isolation, readOnly: readOnly, deferrable: deferrable, tracksCommit: tracksCommit,
                retry: retry),
            changing: core, at: SourcePlace(fileID: fileID, line: line), body)
    }
}

extension Database {
    /// Runs `body` in a transaction, as ``DatabaseContext/transaction(isolation:readOnly:deferrable:tracksCommit:retry:fileID:line:_:)`` does.
    public func transaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        tracksCommit: Bool = false,
        retry: RetryPolicy = .none,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        try await transaction(
            TransactionOptions(
                isolation: isolation, readOnly: readOnly, deferrable: deferrable, tracksCommit: tracksCommit,
                retry: retry),
            changing: nil, at: SourcePlace(fileID: fileID, line: line), body)
    }
}
