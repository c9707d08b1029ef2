extension PostgresClient {
    /// Runs `body` in a transaction, which covers everything that `body` and its child tasks send over this client.
    ///
    /// A call inside another is a savepoint. When `body` throws, the transaction or savepoint is rolled back and the error
    /// is thrown unchanged. BEGIN is sent with the first statement; a body without statements sends nothing.
    /// Statements in `body` that begin or end transactions or savepoints are refused with `.invalidParameter` unsent.
    ///
    /// Savepoints ignore all parameters but `body`.
    ///
    /// - Parameters:
    ///   - isolation: the isolation level; nil is the server's default.
    ///   - readOnly: whether writes are refused; nil is the server's default.
    ///   - deferrable: for serializable read-only transactions: wait for a snapshot with which no statement can fail.
    ///   - tracksCommit: whether to read the transaction's number, so that `resolveCommit` can find the outcome if the answer
    ///     to COMMIT is lost. Costs one more statement with each that may write, up to the first that does, but no round
    ///     trip; after scripts and COPY the number is asked for right before COMMIT.
    ///   - retry: whether `body` runs again after a serialization failure, a deadlock, a connection that was lost before COMMIT
    ///     was sent, or a write that a server refused because it takes none, where the address leads to another server.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: the work inside, run once for each attempt.
    /// - Throws: `PostgresError`: `.commitUnknown` if the answer to COMMIT was lost; `.transactionAborted` if `body` swallowed
    ///   an error that had aborted the transaction; `.unsupported` if the server has no savepoints for a call inside another, or
    ///   no positions in its log for `tracksCommit`; `.transactionBroken`, in place of an error of `body`, if the server
    ///   reports that the transaction ended before `body` did.
    @discardableResult
    public func withTransaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        tracksCommit: Bool = false,
        retry: RetryPolicy = .none,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let options = TransactionOptions(
            isolation: isolation, readOnly: readOnly, deferrable: deferrable, tracksCommit: tracksCommit, retry: retry)
        return try await withTransaction(options, at: SourcePlace(fileID: fileID, line: line), body)
    }

    /// Runs `body` in a transaction.
    package func withTransaction<T>(
        _ options: TransactionOptions, at place: SourcePlace, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        try requireSettings()
        if let outer = currentTransaction { return try await savepoint(in: outer, at: place, body) }
        return try await retrying(options.retry) { try await transaction(options, at: place, body) }
    }

    /// Runs a call that is a transaction of its own unless the task is in one, and again after a deadlock or a serialization
    /// failure.
    ///
    /// On a connection that the program has leased it runs once: the program may have begun a transaction there.
    // Inlined into the library's other modules, as `called`.
    @inlinable
    package func asCall<T>(_ body: () async throws -> T) async throws -> T {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch {
                guard try await repeatsCall(after: error, attempt) else { throw error }
                attempt += 1
            }
        }
    }

    /// Whether a call that has failed runs again; waits before it does.
    @usableFromInline
    package func repeatsCall(after error: any Error, _ attempt: Int) async throws -> Bool {
        if isInScope { return false }
        return try await isRepeated(after: error, attempt, by: .ofCall)
    }

    private func retrying<T>(_ policy: RetryPolicy, _ body: () async throws -> T) async throws -> T {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch {
                guard try await isRepeated(after: error, attempt, by: policy) else { throw error }
                attempt += 1
            }
        }
    }

    /// Whether another attempt follows a failed attempt; waits before it.
    private func isRepeated(after error: any Error, _ attempt: Int, by policy: RetryPolicy) async throws -> Bool {
        guard attempt < policy.attempts, mayRetry(error, by: policy) else { return false }
        // The writers that a call met may meet again: they part for longer.
        try await pause(after: policy.needsServer ? attempt + 2 : attempt)
        return true
    }

    /// Counts another attempt, and waits for a random time before it.
    package func pause(after attempt: Int) async throws {
        pool.count(\.retries)
        try await Task.sleep(for: RetryPolicy.pause(after: attempt))
    }

    /// Whether a transaction that failed with the error, and was rolled back, may succeed when it is run again.
    package func mayRetry(_ error: any Error) -> Bool { mayRetry(error, by: .none) }

    private func mayRetry(_ error: any Error, by policy: RetryPolicy) -> Bool {
        // A lease keeps its connection.
        RetryPolicy.mayRetry(error, canReconnect: currentLease == nil && !policy.needsServer)
            || currentLease == nil && route.mayMove(after: error)
    }

    /// The task's own transaction on this client.
    var currentTransaction: PostgresTransaction? { PostgresTransaction.current(of: origin) }

    /// Whether the task is in a transaction of this client.
    package var isInTransaction: Bool { currentTransaction != nil }

    /// Identifies the task's innermost open transaction or savepoint; nil outside.
    package var transactionScope: ObjectIdentifier? { currentTransaction.map { ObjectIdentifier($0) } }

    private func transaction<T>(
        _ options: TransactionOptions, at place: SourcePlace, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let lease = currentLease else {
            return try await route.withExclusive {
                try await transaction(
                    options, on: $0.connection, lease: nil, at: place, body)
            }
        }
        try await lease.gate.enter(.transaction)
        defer { lease.gate.leave(.transaction) }
        route.join(lease.positions)
        return try await transaction(options, on: lease.lent.connection, lease: lease, at: place, body)
    }

    private func transaction<T>(
        _ options: TransactionOptions,
        on connection: PooledConnection,
        lease: ConnectionLease?,
        at place: SourcePlace,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let gate = lease?.gate
        let control = TransactionControl(client: self, connection: connection)
        let scope = PostgresTransaction(
            client: origin, connection: connection, outer: PostgresTransaction.current, depth: 0,
            opening: options.begin, tracked: options.tracksCommit || configuration.tracksCommits ? TrackedID() : nil,
            positions: lease?.positions ?? route.newPositions())
        if let settings { try scope.adopt(settings) }
        gate?.began(scope)
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            let ending = scope.end()
            // The program has the rows that were read, and may show them.
            let asked = ending.isOpened ? route.question(behind: false, in: scope.positions) : nil
            if let broken = ending.brokenBy {
                asked?.forget()
                throw broken.joined(with: error)
            }
            // If the gate refuses, the owner of the connection has taken it back, and rolled back.
            if ending.isOpened, gate?.beginEnding() ?? true {
                await called(at: place) {
                    await control.undo(["ROLLBACK"], end: .rollback, asking: asked)
                }
            }
            await asked?.raise()
            throw error
        }
        let ending = scope.end()
        let asked =
            ending.isOpened ? route.question(behind: scope.mayHaveWritten, in: scope.positions) : nil
        if let broken = ending.brokenBy {
            asked?.forget()
            throw broken
        }
        if ending.isOpened {
            guard gate?.beginEnding() ?? true else {
                asked?.forget()
                throw LeaseGate.over
            }
            try await called(at: place) {
                try await PositionQuestion.recording(asked, afterReads: true) {
                    try await control.commit(firstError: ending.firstError, tracked: scope.tracked, asking: asked)
                }
            }
        }
        return result
    }
}

extension PostgresClient: TransactionClient {
    func query(
        _ sql: SQL, in scope: PostgresTransaction, timeout: Duration?, at place: SourcePlace
    ) async throws -> QueryResult {
        try await called(at: place) {
            try await PostgresTransaction.$current.withValue(scope) { try await query(sql, timeout: timeout) }
        }
    }

    func observeControl(_ statements: [Statement], rows: Int) {
        observe(statements, rows: [rows], kind: .transactionControl)
    }
}
