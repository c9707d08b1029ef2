public import KindredPostgres

extension DatabaseContext {
    /// Runs `body`, which changes objects, and saves, in one transaction; repeats all of it after a conflict.
    ///
    /// ```swift
    /// try await context.save(retry: .attempts(5)) {
    ///     account["balance"] = (try account.value(forKey: "balance", as: Int.self) ?? 0) - 100
    /// }
    /// ```
    ///
    /// It is repeated after a stale write (`.staleObject`), a serialization failure and a deadlock. Each attempt begins
    /// with rows and objects as they were before, and with the objects concerned locked and read again: those in
    /// conflict and those that `body` had changed, by one SELECT … FOR UPDATE for each entity. The lock lets a second
    /// attempt succeed despite any number of concurrent writers. So `body` must compute from the values that objects
    /// show when it runs, and do nothing that cannot be repeated.
    ///
    /// Changes staged before are saved with it. Inside another transaction it is a savepoint, and only stale writes are
    /// tried again.
    ///
    /// - Parameters:
    ///   - isolation: the transaction's isolation level; nil is the server's default.
    ///   - retry: how often `body` runs at most; growing random pauses come in between.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: changes the objects, once for each attempt.
    /// - Throws: the errors of `body` and of `save()`, in the last attempt. The changes of `body` are rolled
    ///   back.
    public func save<T>(
        isolation: IsolationLevel? = nil,
        retry: RetryPolicy,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        let isNested = client.isInTransaction
        var concerned: [DatabaseObject] = []
        var attempt = 1
        while true {
            var attempted: TransactionJournal?
            do {
                return try await transaction(isolation: isolation, fileID: fileID, line: line) {
                    attempted = core.journal
                    try await client.called(at: fileID, line) { try await refreshAndLock(concerned) }
                    let result = try await body()
                    try await save(fileID: fileID, line: line)
                    return result
                }
            } catch  where attempt < retry.attempts && Self.mayRetry(error, isNested: isNested) {
                let conflicts = (error as? KindredError)?.conflicts ?? []
                var seen = Set<DatabaseObject>()
                concerned = (concerned + conflicts.map(\.object) + (attempted?.changedObjects ?? []))
                    .filter { $0.core === core && seen.insert($0).inserted }
                try await Task.sleep(for: RetryPolicy.pause(after: attempt))
                attempt += 1
            }
        }
    }

    /// Whether an attempt failed only because of concurrent writers.
    private static func mayRetry(_ error: any Error, isNested: Bool) -> Bool {
        if let error = error as? KindredError { return error.code == .staleObject }
        return !isNested && RetryPolicy.mayRetry(error)
    }
}
