/// The way of a client's statements: the checks before anything is sent, and the connection that the statements take.
///
/// Made once for a client, from its settings with the schema of its tenant, its positions, its limit of connections and the
/// pooler: a statement takes one route, whatever of this the client has.
final class StatementRoute: Sendable {
    let pool: ConnectionPool
    /// The settings of its statements; nil, as for the program's own SQL, stands for the settings of the surrounding
    /// transaction.
    let settings: SessionSettings?
    /// Takes the positions of its writes; nil if they are not asked for.
    private let positions: PositionRecord?
    /// The limit of the connections that it uses at once together with other clients; nil if there is only the pool's.
    let limit: ConnectionLimit?
    /// How often another connection is tried, if connections end before they can be used.
    let maximumAttempts: Int
    /// Whether each statement outside of transactions runs between BEGIN and COMMIT, because settings that are passed on hold
    /// there only.
    let passesSettings: Bool

    init(
        _ pool: ConnectionPool, settings: SessionSettings? = nil, positions: PositionRecord? = nil,
        limit: ConnectionLimit? = nil
    ) {
        (self.pool, self.settings, self.positions, self.limit) = (pool, settings, positions, limit)
        maximumAttempts = pool.context.configuration.pool.maximumConnections + 1
        passesSettings = settings?.passing != nil
    }

    /// Whether statements run with settings or a role of their own.
    var hasSettings: Bool { settings?.statement != nil }

    /// Whether a pooler, as configured or found so far, lends sessions by transaction.
    var hasTransactionPooler: Bool { pool.context.pooler == .transaction }
}

// The checks before anything is sent.
extension StatementRoute {
    /// Statements as they are sent; throws for statements that this client may not send, or not where the task is.
    ///
    /// - Parameter transaction: the task's own; nil outside of transactions.
    func admitted(_ statements: [Statement], in transaction: PostgresTransaction?) throws -> [Statement] {
        let statements = resolved(statements)
        try requireSettings(in: transaction)
        if transaction != nil {
            try PostgresTransaction.admit(statements)
        } else {
            try requireOneTransaction(statements)
        }
        try requireNoSession(statements)
        return statements
    }

    /// Statements with the names and types of the client's tenant, if it has one.
    func resolved(_ statements: [Statement]) -> [Statement] {
        guard let schema = settings?.schema else { return statements }
        return statements.map(schema.resolved)
    }

    /// Throws, before anything is sent, if the settings are refused, or if the task's transaction runs with other settings.
    ///
    /// A transaction that has none yet takes these.
    func requireSettings(in transaction: PostgresTransaction?) throws {
        guard let settings else { return }
        if let refusal = settings.refusal { throw refusal }
        try transaction?.adopt(settings)
    }

    /// Throws, outside of transactions, for statements that would end the implicit transaction with the settings, or
    /// make a longer transaction of it: the settings would be missing behind its COMMIT, or stay for the program's own
    /// statements.
    private func requireOneTransaction(_ statements: [Statement]) throws {
        guard hasSettings,
            let found = statements.first(where: { $0.text.mayCommitInside || $0.text.effect == .transactionControl })
        else { return }
        throw PostgresError(
            .invalidParameter,
            """
            BEGIN, COMMIT and their like, and what may commit, such as CALL, DO and VACUUM, cannot be sent alone with the \
            settings of a context, which end with the transaction: put CALL and DO into the context's transaction, and send \
            the others over the database
            """,
            statement: found.text.text)
    }

    /// Throws if the client has settings, for texts that are sent by the simple protocol, which takes no parameters,
    /// outside of the task's transaction.
    func requireNoSettings() throws {
        guard settings?.isEmpty == false else { return }
        throw PostgresError(
            .invalidParameter, "A script, and a COPY outside of transactions, cannot run with the settings of a context"
        )
    }

    /// Refuses SQL of the program whose text shows that it needs a session of its own; sends nothing.
    ///
    /// As help: functions that the text calls may do the same unseen.
    func requireNoSession(_ statements: [Statement]) throws(PostgresError) {
        guard hasTransactionPooler else { return }
        for statement in statements where statement.text.mayChangeSession {
            guard let need = statement.text.sessionNeed else { continue }
            throw PostgresError(
                .sessionNeeded,
                """
                \(need.found) needs a session of its own, and the pooler before the server lends sessions by transaction: \
                \(need.advice), or use a direct connection; set `pooler` to session if whole sessions are lent
                """,
                statement: statement.text.text)
        }
    }
}

// The positions of writes.
extension StatementRoute {
    /// The positions of a transaction or a lent connection that begins.
    func newPositions() -> SharedPositions { SharedPositions(positions) }

    /// The question behind statements; nil where the position does not matter.
    ///
    /// - Parameter scope: the positions of the transaction or the lent connection, the client's own among them; nil outside.
    func question(
        behind mayWrite: @autoclosure () -> Bool, in scope: SharedPositions? = nil
    ) -> PositionQuestion? {
        let records = scope?.all ?? positions.map { [$0] } ?? []
        guard !records.isEmpty else { return nil }
        return PositionQuestion(raising: records, byWriting: mayWrite(), settings: settings)
    }

    /// Lets statements in a transaction, or on a lent connection, raise the client's position.
    func join(_ scope: SharedPositions) {
        if let positions { scope.add(positions) }
    }
}

// Connections of the pool, as statements and transactions take them.
//
// A use is nested if the task has a transaction or a connection already: it would wait for itself.
extension StatementRoute {
    /// Lends a connection for exclusive use.
    ///
    /// - Parameter mayMove: whether `body` has no effect if a server refuses it because it takes no writes.
    func withExclusive<T>(
        isNested: Bool = false, mayMove: Bool = false, by deadline: MonotonicTime = .never,
        _ body: (ConnectionPool.Lease) async throws -> T
    ) async throws -> T {
        try await withFreshConnection(.exclusive, isNested: isNested, mayMove: mayMove, by: deadline) { lease in
            do {
                let result = try await body(lease)
                await pool.releaseExclusive(lease)
                return result
            } catch {
                await pool.releaseExclusive(lease)
                throw error
            }
        }
    }

    /// Takes a connection for exclusive use; the caller gives it back with the pool's `releaseExclusive`.
    func acquireExclusive(by deadline: MonotonicTime) async throws -> ConnectionPool.Lease {
        for _ in 0..<maximumAttempts {
            let lease = try await acquire(.exclusive, isNested: false, by: deadline)
            if lease.connection.isAlive { return lease }
            lease.giveBack()
        }
        throw PostgresError(.connectionLost, "Every new connection ended before it could be used")
    }

    /// Whether what a server has refused, because it takes no writes, may succeed over another connection.
    func mayMove(after error: any Error) -> Bool {
        (error as? any SQLStateError)?.sqlState == .readOnlyTransaction && pool.hasOtherServer
    }

    /// Takes a connection of the pool, within the client's limit if it has one.
    private func acquire(
        _ use: PoolStateMachine.Use, isNested: Bool, by deadline: MonotonicTime
    ) async throws -> ConnectionPool.Lease {
        // A task that holds a connection would wait for itself.
        guard let limit, !isNested else { return try await pool.acquire(use, isNested: isNested, by: deadline) }
        return try await limit.acquire(use, by: deadline)
    }

    /// Retries with another connection while the lent one had ended before anything was sent, and once if its server takes no
    /// writes and another server may.
    ///
    /// - Parameter mayMove: whether `body` has no effect if a server refuses it because it takes no writes.
    @inline(__always)
    func withFreshConnection<T>(
        _ use: PoolStateMachine.Use, isNested: Bool, mayMove: Bool, by deadline: MonotonicTime,
        _ body: (ConnectionPool.Lease) async throws -> T
    ) async throws -> T {
        var refusal: (any Error)?
        for _ in 0..<maximumAttempts {
            let lease: ConnectionPool.Lease
            do {
                lease = try await acquire(use, isNested: isNested, by: deadline)
            } catch {
                throw error is CancellationError ? error : refusal ?? error
            }
            // An exclusive connection has to be alive before its user begins.
            if use == .exclusive, !lease.connection.isAlive {
                lease.giveBack()
                continue
            }
            do {
                return try await body(lease)
            } catch is ConnectionGone {
                continue
            } catch  where mayMove && refusal == nil && self.mayMove(after: error) {
                pool.count(\.retries)
                refusal = error
            }
        }
        throw refusal ?? PostgresError(.connectionLost, "Every new connection ended before it could be used")
    }
}

extension PostgresError {
    /// The error of a statement without a result.
    package static var noResult: PostgresError {
        PostgresError(.protocolViolation, "The server gave no result for a statement")
    }
}
