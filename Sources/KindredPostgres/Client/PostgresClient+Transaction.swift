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
    ///   - retry: whether `body` runs again after a serialization failure, a deadlock, or a connection that was lost before COMMIT
    ///     was sent.
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
        var attempt = 1
        while true {
            do {
                return try await transaction(options, at: place, body)
            } catch let error where attempt < options.retry.attempts && mayRetry(error) {
                try await Task.sleep(for: RetryPolicy.pause(after: attempt))
                attempt += 1
            }
        }
    }

    /// Whether a transaction that failed with the error, and was rolled back, may succeed when it is run again.
    package func mayRetry(_ error: any Error) -> Bool {
        // A lease keeps its connection.
        RetryPolicy.mayRetry(error, canReconnect: currentLease == nil)
    }

    /// The task's own transaction on this client.
    var currentTransaction: PostgresTransaction? { PostgresTransaction.current(of: origin) }

    /// Whether the task is in a transaction of this client.
    package var isInTransaction: Bool { currentTransaction != nil }

    /// Identifies the task's innermost transaction or savepoint among those that are open; nil outside.
    package var transactionScope: ObjectIdentifier? { currentTransaction.map { ObjectIdentifier($0) } }

    private func transaction<T>(
        _ options: TransactionOptions, at place: SourcePlace, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let lease = currentLease else {
            return try await withExclusive {
                try await transaction(options, on: $0.connection, gate: nil, at: place, body)
            }
        }
        try await lease.gate.enter(.transaction)
        defer { lease.gate.leave(.transaction) }
        return try await transaction(options, on: lease.lent.connection, gate: lease.gate, at: place, body)
    }

    private func transaction<T>(
        _ options: TransactionOptions,
        on connection: PooledConnection,
        gate: LeaseGate?,
        at place: SourcePlace,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let scope = PostgresTransaction(
            client: origin, connection: connection, outer: PostgresTransaction.current, depth: 0,
            opening: options.begin, tracked: options.tracksCommit ? TrackedID() : nil)
        if let settings { try scope.adopt(settings) }
        gate?.began(scope)
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            let ending = scope.end()
            if let broken = ending.brokenBy { throw broken.joined(with: error) }
            // The owner of the connection took it back, and rolled back.
            if ending.isOpened, gate?.beginEnding() ?? true {
                await called(at: place) { await undo(["ROLLBACK"], on: connection, end: .rollback) }
            }
            throw error
        }
        let ending = scope.end()
        if let broken = ending.brokenBy { throw broken }
        if ending.isOpened {
            guard gate?.beginEnding() ?? true else { throw LeaseGate.over }
            try await called(at: place) {
                let question = question(behind: scope.mayHaveWritten)
                try await recording(question) {
                    try await commit(
                        on: connection, firstError: ending.firstError, tracked: scope.tracked, asking: question)
                }
            }
        }
        return result
    }

    /// Commits even in a cancelled task: from here on the outcome has to be known.
    private func commit(
        on connection: PooledConnection, firstError: PostgresError?, tracked: TrackedID?,
        asking question: PositionQuestion?
    ) async throws {
        let tag: String?
        if let tracked, tracked.id == nil { ask(for: tracked, on: connection) }
        do {
            tag = try await control(["COMMIT"], on: connection, end: .commit, asking: question).first?.commandTag
        } catch let error as PostgresError where error.code == .twoPrimaries {
            // COMMIT was not sent; the connection may be lent for longer than the transaction.
            await undo(["ROLLBACK"], on: connection, end: .rollback)
            throw error
        } catch let error as PostgresError where Self.leavesDoubt(error, connection) {
            if let firstError, firstError.code == .connectionLost { throw firstError }
            let isSaid = error.code == .commitUnknown
            throw PostgresError(
                .commitUnknown,
                isSaid
                    ? error.message
                    : "The connection ended before the answer to COMMIT came: the transaction may or may not have taken effect",
                sqlState: error.sqlState, server: error.server,
                underlying: isSaid ? error.underlying : [error.description], transactionID: tracked?.id)
        } catch let gone as ConnectionGone {
            // COMMIT was never sent, so the server rolled back.
            throw firstError
                ?? PostgresError(
                    .connectionLost, "The connection ended before COMMIT; the transaction was rolled back",
                    sqlState: gone.reason?.sqlState, server: gone.reason?.server)
        }
        guard tag == "COMMIT" else { throw Self.aborted(firstError) }
    }

    /// Whether the server may have committed despite the error: it did not report a rollback.
    private static func leavesDoubt(_ error: PostgresError, _ connection: PooledConnection) -> Bool {
        switch error.code {
        case .connectionLost, .commitUnknown, .protocolViolation, .resultTooLarge: true
        case .server, .transactionBroken: false
        case .timeout where error.sqlState == .queryCanceled: false
        // For example, the server did not answer the cancellation either, and the connection was closed.
        default: !connection.isAlive
        }
    }

    /// Reads the transaction's number under a Sync of its own, so that the answer is sent before COMMIT begins.
    private func ask(for tracked: TrackedID, on connection: PooledConnection) {
        observe([PostgresTransactionID.question], rows: [1], kind: .transactionControl)
        let request = Request(
            statements: [PostgresTransactionID.question], traits: Request.Traits(isInTransaction: true),
            onAnswer: { tracked.learn(from: try? $0.get().last) })
        connection.submit(request, by: deadline(nil))
    }

    private static func aborted(_ firstError: PostgresError?) -> PostgresError {
        PostgresError(
            .transactionAborted,
            "The transaction was rolled back because a statement in it had failed"
                + (firstError.map { ": \($0.message)" } ?? ""),
            sqlState: firstError?.sqlState,
            server: firstError?.server,
            statement: firstError?.statement,
            underlying: firstError?.asCause ?? [])
    }

    /// Runs `body` in a savepoint of the task's transaction, which is rolled back at its end, also after success: its statements may
    /// run with settings that the transaction around it, which has none, does not have.
    ///
    /// For a transaction that reads for several: RELEASE would leave the settings to it. SAVEPOINT is sent with the first
    /// statement; a body without statements sends nothing.
    package func withOwnSettings<T>(
        fileID: String = #fileID, line: Int = #line, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let outer = currentTransaction else {
            throw PostgresError(.invalidParameter, "A savepoint with settings of its own needs a transaction around it")
        }
        return try await savepoint(
            in: outer, at: SourcePlace(fileID: fileID, line: line), mayHaveOwnSettings: true, body)
    }

    /// - Parameter mayHaveOwnSettings: whether it is rolled back in any case, with the settings that it has made.
    private func savepoint<T>(
        in outer: PostgresTransaction,
        at place: SourcePlace,
        mayHaveOwnSettings: Bool = false,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        // The server keeps 64 of a session's subtransactions in shared memory; more slow down every session.
        guard outer.depth < 64 else {
            throw PostgresError(.invalidParameter, "Transactions are nested more than 64 deep")
        }
        try await outer.beginSavepoint()
        defer { outer.endSavepoint() }
        let name = "kindred_\(outer.depth + 1)"
        let scope = PostgresTransaction(
            client: origin, connection: outer.connection, outer: outer, depth: outer.depth + 1,
            opening: "SAVEPOINT \(name)", tracked: outer.tracked, mayHaveOwnSettings: mayHaveOwnSettings)
        let undoing = ["ROLLBACK TO SAVEPOINT \(name)", "RELEASE SAVEPOINT \(name)"]
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            let ending = scope.end()
            if let broken = ending.brokenBy { throw broken.joined(with: error) }
            if ending.isOpened { await called(at: place) { await undo(undoing, on: outer.connection) } }
            throw error
        }
        let ending = scope.end()
        if let broken = ending.brokenBy { throw broken }
        guard ending.isOpened else { return result }
        if mayHaveOwnSettings {
            await called(at: place) { await undo(undoing, on: outer.connection) }
            return result
        }
        do {
            _ = try await called(at: place) { try await control(["RELEASE SAVEPOINT \(name)"], on: outer.connection) }
            outer.keepSettings(of: scope)
        } catch {
            await undo(undoing, on: outer.connection)
            // A swallowed error aborted the savepoint, so its release was refused.
            if let error = error as? PostgresError, error.sqlState == .inFailedTransaction {
                throw Self.aborted(ending.firstError ?? error)
            }
            // Statements were sent, so the transaction outside must not run its closure again.
            if let gone = error as? ConnectionGone { throw gone.lost("RELEASE SAVEPOINT") }
            throw error
        }
        return result
    }

    /// Rolls back, even in a cancelled task; closes the connection if that fails.
    private func undo(
        _ texts: [String], on connection: PooledConnection, end: Request.TransactionEnd? = nil
    ) async {
        do {
            try await control(texts, on: connection, end: end, isUndoing: true)
        } catch {
            connection.end(
                error as? PostgresError ?? PostgresError(.connectionLost, "The transaction could not be rolled back"))
        }
    }

    /// Runs transaction control statements, shielded from the task's cancellation.
    @discardableResult
    private func control(
        _ texts: [String], on connection: PooledConnection, end: Request.TransactionEnd? = nil, isUndoing: Bool = false,
        asking question: PositionQuestion? = nil
    ) async throws -> [QueryResult] {
        // A cancelled task does not wait long: closing the connection rolls back too.
        let deadline = isUndoing && Task.isCancelled ? .now + configuration.cancellationGrace : deadline(nil)
        let statements = texts.map { Statement(text: StatementText($0), resultFormat: .binary) }
        return try await observing(statements, kind: .transactionControl) {
            try await connection.run(
                statements,
                traits: Request.Traits(
                    isInTransaction: end == .commit, end: end, isUndoing: isUndoing, question: question),
                by: deadline, isShielded: true)
        }
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
