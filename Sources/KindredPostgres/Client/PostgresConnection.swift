/// An exclusive connection, lent by ``PostgresClient/withConnection(_:)``.
///
/// Valid inside the closure only; later use throws `PostgresError` `.transactionEnded`.
public struct PostgresConnection: Sendable {
    let client: PostgresClient
    let owner: Owner

    /// The owner of the connection: the lease of the closure, or the transaction around it.
    enum Owner {
        case lease(ConnectionLease)
        case transaction(PostgresTransaction)
    }

    /// Runs a statement on this connection.
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - timeout: after which the statement is cancelled, counted from the call; nil takes the configuration's.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil, fileID: String = #fileID, line: Int = #line) async throws
        -> QueryResult
    {
        return try await client.called(at: fileID, line) {
            // The owner decides, not the calling task.
            switch owner {
            case .lease(let lease):
                if let transaction = client.currentTransaction, transaction.connection === lease.lent.connection {
                    return try await client.query(sql, timeout: timeout)
                }
                return try await ConnectionLease.$current.withValue(lease) {
                    try await PostgresTransaction.$current.withValue(nil) {
                        try await client.query(sql, timeout: timeout)
                    }
                }
            case .transaction(let transaction):
                return try await transaction.query(sql, timeout: timeout)
            }
        }
    }
}

/// One lease of a connection outside of transactions; bound to the task.
final class ConnectionLease: RequestScope {
    @TaskLocal static var current: ConnectionLease?

    let client: PostgresClient
    let lent: ConnectionPool.Lease
    /// The enclosing lease, of another client.
    let outer: ConnectionLease?
    let gate = LeaseGate()
    /// The positions that statements over the connection raise.
    let positions: SharedPositions

    init(
        client: PostgresClient, lent: ConnectionPool.Lease, outer: ConnectionLease?, raising positions: SharedPositions
    ) {
        self.client = client
        self.lent = lent
        self.outer = outer
        self.positions = positions
    }

    /// Waits until no transaction of another task is open on the connection.
    func waitForTransaction(by deadline: MonotonicTime) async throws {
        try await gate.enter(.statement, by: deadline)
        gate.leave(.statement)
    }

    func run(
        _ statements: [Statement], _ traits: Request.Traits, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        // Work inside the transaction, such as an earlier cursor's, must not wait for its end.
        if client.currentTransaction?.connection === lent.connection {
            return try await send(statements, traits, by: deadline)
        }
        try await gate.enter(.statement, by: deadline)
        defer { gate.leave(.statement) }
        return try await send(statements, traits, by: deadline)
    }

    /// Sends a request, unless the connection has been given back in the meantime.
    func send(_ request: Request, by deadline: MonotonicTime) {
        if gate.whileOpen({ lent.connection.enqueue(request, by: deadline) }) {
            lent.connection.sendEnqueued()
        } else {
            request.refuse(LeaseGate.over)
        }
    }

    /// Requests never wait here: the gate is passed before the request is made.
    func cancel(_: Request.ID) -> Bool { false }

    private func send(
        _ statements: [Statement], _ traits: Request.Traits, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        do {
            return try await lent.connection.run(
                statements, traits: traits, by: deadline, scope: self)
        } catch let gone as ConnectionGone {
            throw gone.lost(statements.first?.text.text)
        }
    }
}

extension PostgresClient {
    /// Lends a connection for the time of `body`; every statement of its task over this client goes there.
    ///
    /// For settings, temporary tables and advisory locks. Child tasks share the connection; while one task has a
    /// transaction open, the other tasks' statements and transactions wait for its end. When the connection is given
    /// back, an open transaction is rolled back, and settings, locks, temporary tables, LISTEN and their like are put
    /// back before its next use. Behind a pooler that lends sessions by transaction, statements in `body` may each
    /// reach another session. Inside a transaction or another lease `body` gets the connection that the task already
    /// has.
    @discardableResult
    public func withConnection<T>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        if let transaction = currentTransaction {
            return try await body(PostgresConnection(client: origin, owner: .transaction(transaction)))
        }
        if let lease = currentLease {
            return try await body(PostgresConnection(client: origin, owner: .lease(lease)))
        }
        return try await route.withExclusive { lent in
            let lease = ConnectionLease(
                client: origin, lent: lent, outer: ConnectionLease.current, raising: route.newPositions())
            do {
                let result = try await ConnectionLease.$current.withValue(lease) {
                    try await body(PostgresConnection(client: origin, owner: .lease(lease)))
                }
                await lease.gate.close()
                return result
            } catch {
                await lease.gate.close()
                throw error
            }
        }
    }

    /// The connection that this client has lent to the task.
    var currentLease: ConnectionLease? {
        var lease = ConnectionLease.current
        let origin = origin
        while let found = lease, found.client !== origin { lease = found.outer }
        return lease
    }
}
