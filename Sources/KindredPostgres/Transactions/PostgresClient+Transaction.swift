extension PostgresClient {
    /// Runs `body` in a transaction: everything that it and its child tasks send over this client goes through it.
    ///
    /// A call inside another is a savepoint. When `body` throws, the transaction or savepoint is rolled back and the error
    /// is thrown unchanged. BEGIN travels with the first statement; if there is none, nothing is sent at all. Statements that
    /// begin or end transactions and savepoints are refused inside with `.invalidParameter`, before they are sent.
    ///
    /// - Parameters:
    ///   - isolation: the isolation level; nil is the server's default. Ignored by savepoints.
    ///   - readOnly: whether writes are refused; nil is the server's default. Ignored by savepoints.
    ///   - deferrable: for serializable read-only transactions: wait for a moment at which nothing can fail.
    ///   - tracksCommit: whether the server is asked for the transaction's number on the way to COMMIT, so that
    ///     `resolveCommit` can find out what became of it if the answer is lost. One statement more, no round trip more.
    ///     Ignored by savepoints.
    ///   - retry: whether `body` runs again after a serialization failure or a deadlock. Ignored by savepoints.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: what runs inside, once for each attempt.
    /// - Throws: `PostgresError`: `.commitUnknown` if the answer to COMMIT was lost, `.transactionAborted` if `body` swallowed
    ///   an error that had failed the transaction, `.transactionBroken` if the server says that the transaction has ended
    ///   before `body` did; that takes the place of the error that `body` throws.
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
        let place = SourcePlace(fileID: fileID, line: line)
        if let outer = currentTransaction { return try await savepoint(in: outer, at: place, body) }
        var attempt = 1
        while true {
            do {
                return try await transaction(Self.begin(isolation, readOnly, deferrable), tracksCommit, place, body)
            } catch let error where attempt < retry.attempts && RetryPolicy.mayRetry(error) {
                try await Task.sleep(for: RetryPolicy.pause(after: attempt))
                attempt += 1
            }
        }
    }

    /// The task's own transaction on this client.
    var currentTransaction: PostgresTransaction? {
        var scope = PostgresTransaction.current
        while let found = scope, found.client !== self { scope = found.outer }
        return scope
    }

    /// Whether the task is in a transaction of this client.
    package var isInTransaction: Bool { currentTransaction != nil }

    /// Tells apart the transactions and savepoints that are under way at one time; nil outside of one.
    package var transactionScope: ObjectIdentifier? { currentTransaction.map { ObjectIdentifier($0) } }

    private static func begin(_ isolation: IsolationLevel?, _ readOnly: Bool?, _ deferrable: Bool?) -> String {
        var text = "BEGIN"
        if let isolation { text += " ISOLATION LEVEL \(isolation.rawValue)" }
        if let readOnly { text += readOnly ? " READ ONLY" : " READ WRITE" }
        if let deferrable { text += deferrable ? " DEFERRABLE" : " NOT DEFERRABLE" }
        return text
    }

    private func transaction<T>(
        _ begin: String, _ tracksCommit: Bool, _ place: SourcePlace, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let lease = currentLease else {
            return try await withExclusive {
                try await transaction(on: $0.connection, nil, begin, tracksCommit, place, body)
            }
        }
        try await lease.gate.enter(.transaction)
        defer { lease.gate.leave(.transaction) }
        return try await transaction(on: lease.lent.connection, lease.gate, begin, tracksCommit, place, body)
    }

    private func transaction<T>(
        on connection: PooledConnection,
        _ gate: LeaseGate?,
        _ begin: String,
        _ tracksCommit: Bool,
        _ place: SourcePlace,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let scope = PostgresTransaction(
            client: self, connection: connection, outer: PostgresTransaction.current, depth: 0, opening: begin)
        gate?.began(scope)
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            let ending = scope.end()
            if let broken = ending.brokenBy { throw broken.joined(with: error) }
            // Whoever has taken the connection back has rolled back, too.
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
                try await commit(connection, ending.firstError, isTracked: tracksCommit)
            }
        }
        return result
    }

    /// Commits, whether the task is cancelled or not: from here on the truth about the commit counts.
    private func commit(
        _ connection: PooledConnection, _ firstError: PostgresError?, isTracked: Bool
    ) async throws {
        let tag: String?
        let tracked = TrackedID()
        if isTracked {
            ask(for: tracked, on: connection)
        }
        do {
            tag = try await control(["COMMIT"], on: connection, end: .commit).first?.commandTag
        } catch let error as PostgresError where Self.leavesDoubt(error, connection) {
            if let firstError, firstError.code == .connectionLost { throw firstError }
            let isSaid = error.code == .commitUnknown
            throw PostgresError(
                .commitUnknown,
                isSaid
                    ? error.message
                    : "The connection ended before the answer to COMMIT came: the transaction may have taken effect or not",
                sqlState: error.sqlState, server: error.server,
                underlying: isSaid ? error.underlying : [error.description], transactionID: tracked.id)
        } catch let gone as ConnectionGone {
            // COMMIT was never sent, so the server has rolled back.
            throw firstError
                ?? PostgresError(
                    .connectionLost, "The connection ended before COMMIT; the transaction was rolled back",
                    sqlState: gone.reason?.sqlState, server: gone.reason?.server)
        }
        guard tag == "COMMIT" else { throw Self.aborted(firstError) }
    }

    /// Whether the server may have committed all the same: it has not said that it has not.
    private static func leavesDoubt(_ error: PostgresError, _ connection: PooledConnection) -> Bool {
        switch error.code {
        case .connectionLost, .commitUnknown, .protocolViolation, .resultTooLarge: true
        case .server, .transactionBroken: false
        case .timeout where error.sqlState == .queryCanceled: false
        // Such as a server that was asked to stop and did not answer that either, so that the connection was given up.
        default: !connection.isAlive
        }
    }

    /// Asks for the transaction's number under a Sync of its own, so that the answer is on its way before the COMMIT begins.
    private func ask(for tracked: TrackedID, on connection: PooledConnection) {
        observe([PostgresTransactionID.question], rows: [1], kind: .transactionControl)
        let request = Request(
            statements: [PostgresTransactionID.question], traits: Request.Traits(isInTransaction: true),
            onAnswer: { tracked.take($0) })
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

    private func savepoint<T>(
        in outer: PostgresTransaction,
        at place: SourcePlace,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        // The server keeps the first 64 of a session's subtransactions in shared memory; more make everybody slow.
        guard outer.depth < 64 else {
            throw PostgresError(.invalidParameter, "Transactions can be nested 64 deep, no deeper")
        }
        try await outer.beginSavepoint()
        defer { outer.endSavepoint() }
        let name = "kindred_\(outer.depth + 1)"
        let scope = PostgresTransaction(
            client: self, connection: outer.connection, outer: outer, depth: outer.depth + 1,
            opening: "SAVEPOINT \(name)")
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
        do {
            _ = try await called(at: place) { try await control(["RELEASE SAVEPOINT \(name)"], on: outer.connection) }
        } catch {
            await undo(undoing, on: outer.connection)
            // A swallowed error has failed the savepoint; releasing it was refused because of that.
            if let error = error as? PostgresError, error.sqlState == .inFailedTransaction {
                throw Self.aborted(ending.firstError ?? error)
            }
            // Statements were sent: it is not for the transaction around it to begin anew.
            if let gone = error as? ConnectionGone { throw gone.lost("RELEASE SAVEPOINT") }
            throw error
        }
        return result
    }

    /// Rolls back whatever has happened, also in a task that was cancelled; a connection that cannot is closed.
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

    /// Runs transaction control, which the task's cancellation does not stop.
    @discardableResult
    private func control(
        _ texts: [String], on connection: PooledConnection, end: Request.TransactionEnd? = nil, isUndoing: Bool = false
    ) async throws -> [QueryResult] {
        // A task that was cancelled does not wait long for what the server does by itself when the connection is closed.
        let deadline = isUndoing && Task.isCancelled ? .now + configuration.cancellationGrace : deadline(nil)
        let statements = texts.map { Statement(text: StatementText($0), resultFormat: .binary) }
        return try await observing(statements, kind: .transactionControl) {
            try await connection.run(
                statements,
                traits: Request.Traits(isInTransaction: end == .commit, end: end, isUndoing: isUndoing),
                by: deadline, isShielded: true)
        }
    }
}
