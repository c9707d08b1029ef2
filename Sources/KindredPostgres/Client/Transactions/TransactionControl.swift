/// The statements that end a transaction or a savepoint, on its connection.
struct TransactionControl {
    let client: PostgresClient
    let connection: PooledConnection

    /// Commits even in a cancelled task: from here on the outcome has to be known.
    func commit(
        firstError: PostgresError?, tracked: TrackedID?,
        asking question: PositionQuestion?
    ) async throws {
        let tag: String?
        if let tracked, tracked.id == nil { ask(for: tracked) }
        do {
            tag = try await run(["COMMIT"], end: .commit, asking: question).first?.commandTag
        } catch let error as PostgresError where error.code == .twoPrimaries {
            // COMMIT was not sent; the connection may be lent for longer than the transaction.
            await undo(["ROLLBACK"], end: .rollback)
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
    private func ask(for tracked: TrackedID) {
        client.observe([PostgresTransactionID.question], rows: [1], kind: .transactionControl)
        let request = Request(
            statements: [PostgresTransactionID.question], traits: Request.Traits(isInTransaction: true),
            onAnswer: { tracked.learn(from: try? $0.get().last) })
        connection.submit(request, by: client.deadline(nil))
    }

    /// The error of a transaction that its body wanted to commit although a statement had failed.
    static func aborted(_ firstError: PostgresError?) -> PostgresError {
        PostgresError(
            .transactionAborted,
            "The transaction was rolled back because a statement in it had failed"
                + (firstError.map { ": \($0.message)" } ?? ""),
            sqlState: firstError?.sqlState,
            server: firstError?.server,
            statement: firstError?.statement,
            underlying: firstError?.asCause ?? [])
    }

    /// Rolls back, even in a cancelled task; closes the connection if that fails.
    func undo(
        _ texts: [String], end: Request.TransactionEnd? = nil,
        asking question: PositionQuestion? = nil
    ) async {
        do {
            try await run(texts, end: end, isUndoing: true, asking: question)
        } catch {
            connection.end(
                error as? PostgresError ?? PostgresError(.connectionLost, "The transaction could not be rolled back"))
        }
    }

    /// Runs transaction control statements, shielded from the task's cancellation.
    @discardableResult
    func run(
        _ texts: [String], end: Request.TransactionEnd? = nil, isUndoing: Bool = false,
        asking question: PositionQuestion? = nil
    ) async throws -> [QueryResult] {
        // A cancelled task does not wait long: closing the connection rolls back too.
        let deadline =
            isUndoing && Task.isCancelled ? .now + client.configuration.cancellationGrace : client.deadline(nil)
        let statements = texts.map { Statement(text: StatementText($0), resultFormat: .binary) }
        return try await client.observing(statements, kind: .transactionControl) {
            try await connection.run(
                statements,
                traits: Request.Traits(
                    isInTransaction: end == .commit, end: end, isUndoing: isUndoing, question: question),
                by: deadline, isShielded: true)
        }
    }
}
