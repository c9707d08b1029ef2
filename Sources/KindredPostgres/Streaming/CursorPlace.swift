import Synchronization

/// The place of a cursor: in the task's transaction, on the task's exclusive connection, or on one of its own.
enum CursorPlace {
    case transaction(PostgresTransaction)
    case lease(ConnectionLease)
    case own(OwnTransaction)

    /// The place for a cursor that the current task opens.
    static func find(for client: PostgresClient, by deadline: MonotonicTime) async throws -> CursorPlace {
        if let transaction = client.currentTransaction {
            client.route.join(transaction.positions)
            return .transaction(transaction)
        }
        if let lease = client.currentLease {
            client.route.join(lease.positions)
            return .lease(lease)
        }
        return .own(OwnTransaction(client: client, lease: try await client.route.acquireExclusive(by: deadline)))
    }

    /// Whether the cursor has to live without a transaction around it.
    var outlivesTransactions: Bool {
        if case .lease = self { true } else { false }
    }

    /// Opens the cursor of a client: the rows are as they were when the query began.
    ///
    /// - Parameter mayWrite: whether the query may write.
    func open(
        _ statements: [Statement], for client: PostgresClient, mayWrite: Bool, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        switch self {
        case .transaction: return try await run(statements, by: deadline)
        case .lease(let lease):
            return try await client.route.run(
                statements, Request.Traits(settings: client.settings), on: lease,
                asking: client.route.question(behind: mayWrite, in: lease.positions), by: deadline)
        case .own(let transaction):
            let results = try await transaction.run(statements, by: deadline)
            // The primary is asked behind the end alone: the transaction would fail with a question that is refused.
            transaction.forgetPosition(mayWrite: mayWrite)
            return results
        }
    }

    /// Runs statements of the cursor.
    func run(_ statements: [Statement], by deadline: MonotonicTime) async throws -> [QueryResult] {
        switch self {
        // Inside a savepoint the statement belongs to the savepoint, even if the cursor was opened outside.
        case .transaction(let transaction): try await transaction.innermost.run(statements, .init(), by: deadline)
        case .lease(let lease): try await lease.run(statements, Request.Traits(), by: deadline)
        case .own(let transaction): try await transaction.run(statements, by: deadline)
        }
    }

    /// The cursor has given its last row.
    func finish(closing statement: Statement, by deadline: MonotonicTime) async throws {
        if case .own(let transaction) = self { return try await transaction.commit(by: deadline) }
        _ = try await run([statement], by: deadline)
    }

    /// A statement of the cursor has failed, and the transaction around it with it.
    func fail() async {
        if case .own(let transaction) = self { await transaction.rollBack() }
    }

    /// The consumer dropped the cursor.
    func abandon(closing statement: Statement) {
        switch self {
        case .transaction(let transaction):
            transaction.send(Request(statements: [statement]), by: .never)
        case .lease:
            // The session is reset when the connection returns to the pool.
            break
        case .own(let transaction):
            // Detached: closing must not depend on the task that dropped the cursor, which may be cancelled.
            Task.detached { await transaction.rollBack() }
        }
    }
}

/// A connection for one cursor, with a transaction that begins with the first statement.
final class OwnTransaction: Sendable {
    private let client: PostgresClient
    private let lease: ConnectionPool.Lease
    /// Whether BEGIN was sent.
    ///
    /// The connection's state does not tell: a cancellation of its previous statement may still be in flight.
    private let hasBegun = Atomic(false)
    /// Whether statements in it may write.
    private let mayWrite = Atomic(false)

    init(client: PostgresClient, lease: ConnectionPool.Lease) {
        self.client = client
        self.lease = lease
    }

    func run(_ statements: [Statement], by deadline: MonotonicTime) async throws -> [QueryResult] {
        var openings: [Statement] = []
        // Only the first request on this connection opens the transaction.
        let isFirst = !hasBegun.exchange(true, ordering: .relaxed)
        if isFirst {
            let begin = Statement(text: StatementText("BEGIN"), resultFormat: .binary)
            client.observe([begin], rows: [0], kind: .transactionControl)
            // Most loops read every row; by default the planner optimises for the first tenth of them.
            let goal = Statement(text: StatementText("SET LOCAL cursor_tuple_fraction = 1"), resultFormat: .binary)
            openings = [begin, goal]
            openings += client.settings?.statements ?? []
        }
        do {
            let traits = Request.Traits(isCommittedLater: true)
            let results = try await lease.connection.run(openings + statements, traits: traits, by: deadline)
            return openings.isEmpty ? results : Array(results.dropFirst(openings.count))
        } catch let gone as ConnectionGone {
            throw gone.lost(statements.last?.text.text)
        }
    }

    /// Notes that the program has rows whose position is not known until the end.
    func forgetPosition(mayWrite: Bool) {
        self.mayWrite.store(mayWrite, ordering: .relaxed)
        client.route.question(behind: mayWrite)?.forget()
    }

    func commit(by deadline: MonotonicTime) async throws {
        try await end("COMMIT", .commit, by: deadline)
        await client.pool.releaseExclusive(lease)
    }

    /// Rolls back and returns the connection to the pool; closes it if the rollback fails.
    func rollBack() async {
        if lease.connection.condition != .clean { try? await end("ROLLBACK", .rollback, by: .now + .seconds(2)) }
        await client.pool.releaseExclusive(lease)
    }

    private func end(_ text: String, _ end: Request.TransactionEnd, by deadline: MonotonicTime) async throws {
        let statements = [Statement(text: StatementText(text), resultFormat: .binary)]
        let question = client.route.question(behind: mayWrite.load(ordering: .relaxed))
        do {
            _ = try await client.observing(statements, kind: .transactionControl) {
                try await lease.connection.run(
                    statements, traits: Request.Traits(end: end, isUndoing: end == .rollback, question: question),
                    by: deadline, isShielded: true)
            }
            await question?.raise()
        } catch is ConnectionGone {
            throw PostgresError(.connectionLost, "The connection ended before its transaction did")
        }
    }
}
