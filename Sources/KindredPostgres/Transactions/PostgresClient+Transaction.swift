extension PostgresClient {
    /// Runs `body` in a transaction: everything that it and its child tasks send over this client goes through it.
    ///
    /// A call inside another is a savepoint. When `body` throws, the transaction or savepoint is rolled back and the error
    /// is thrown unchanged.
    ///
    /// - Parameters:
    ///   - isolation: the isolation level; nil is the server's default. Ignored by savepoints.
    ///   - readOnly: whether writes are refused; nil is the server's default. Ignored by savepoints.
    ///   - deferrable: for serializable read-only transactions: wait for a moment at which nothing can fail.
    ///   - retry: whether `body` runs again after a serialization failure or a deadlock. Ignored by savepoints.
    /// - Throws: `PostgresError`: `.commitUnknown` if the answer to COMMIT was lost, `.transactionAborted` if `body` swallowed
    ///   an error that had failed the transaction.
    public func withTransaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        retry: RetryPolicy = .none,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        if let outer = currentTransaction { return try await savepoint(in: outer, body) }
        var attempt = 1
        while true {
            do {
                return try await transaction(begin(isolation, readOnly, deferrable), body)
            } catch let error where attempt < retry.attempts && Self.mayRetry(error) {
                // Full jitter: 5 ms, doubling, at most a quarter of a second.
                let limit = min(250.0, 5 * Double(1 << min(attempt, 10)))
                try await Task.sleep(for: .milliseconds(Double.random(in: 0...limit)))
                attempt += 1
            }
        }
    }

    private static func mayRetry(_ error: any Error) -> Bool {
        guard let state = (error as? any SQLStateError)?.sqlState else { return false }
        return state == .serializationFailure || state == .deadlockDetected
    }

    private func begin(_ isolation: IsolationLevel?, _ readOnly: Bool?, _ deferrable: Bool?) -> String {
        var text = "BEGIN"
        if let isolation { text += " ISOLATION LEVEL \(isolation.rawValue)" }
        if let readOnly { text += readOnly ? " READ ONLY" : " READ WRITE" }
        if let deferrable { text += deferrable ? " DEFERRABLE" : " NOT DEFERRABLE" }
        return text
    }

    private func transaction<T>(_ begin: String, _ body: (PostgresTransaction) async throws -> T) async throws -> T {
        if let lease = Lease.current, lease.client === self {
            return try await transaction(lease.connection, begin, body)
        }
        return try await withLease { try await transaction($0, begin, body) }
    }

    private func transaction<T>(
        _ connection: PooledConnection,
        _ begin: String,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        _ = try await control(begin, on: connection)
        let scope = PostgresTransaction(
            client: self,
            connection: connection,
            outer: PostgresTransaction.current,
            depth: 0
        )
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            scope.end()
            await rollBack("ROLLBACK", on: connection)
            throw error
        }
        scope.end()
        // From here on the task's cancellation comes too late: the truth about the commit counts.
        try await shielded { try await self.commit(connection, firstError: scope.firstError) }
        return result
    }

    private func commit(_ connection: PooledConnection, firstError: PostgresError?) async throws {
        do {
            let tag = try await control("COMMIT", on: connection)
            guard tag == "COMMIT" else {
                throw PostgresError(
                    .transactionAborted,
                    "The transaction was rolled back because a statement in it had failed",
                    sqlState: firstError?.sqlState,
                    server: firstError?.server,
                    underlying: firstError.map { [$0.description] } ?? []
                )
            }
        } catch let error as PostgresError where error.code == .connectionLost || error.code == .timeout {
            connection.end(error)
            throw PostgresError(
                .commitUnknown,
                "The connection ended before the answer to COMMIT came: the transaction may have taken effect or not",
                underlying: [error.description]
            )
        }
    }

    private func savepoint<T>(
        in outer: PostgresTransaction,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard outer.depth < 64 else {
            throw PostgresError(.invalidParameter, "Transactions can be nested 64 deep, no deeper")
        }
        return try await outer.withSavepoint {
            let name = "kindred_\(outer.depth + 1)"
            _ = try await control("SAVEPOINT \(name)", on: outer.connection)
            let scope = PostgresTransaction(
                client: self,
                connection: outer.connection,
                outer: PostgresTransaction.current,
                depth: outer.depth + 1
            )
            do {
                let result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
                scope.end()
                // A swallowed error has failed the transaction: releasing says so, and the savepoint is undone.
                _ = try await shielded { try await self.control("RELEASE SAVEPOINT \(name)", on: outer.connection) }
                return result
            } catch {
                scope.end()
                await rollBack("ROLLBACK TO SAVEPOINT \(name)", on: outer.connection)
                throw error
            }
        }
    }

    /// Rolls back whatever has happened, also in a task that was cancelled; a connection that cannot is closed.
    private func rollBack(_ text: String, on connection: PooledConnection) async {
        do {
            _ = try await shielded { try await self.control(text, on: connection) }
        } catch {
            connection.end(error as? PostgresError ?? Session.gone)
        }
    }

    /// Runs transaction control, which takes at most five seconds; returns its command tag.
    private func control(_ text: String, on connection: PooledConnection) async throws -> String {
        let statement = Statement(text: StatementText(text), resultFormat: .binary)
        let start = monotonicNow()
        do {
            let result = try await connection.run(.statements([statement]), deadline: start + 5_000_000_000)
            observe([statement], start, [0], nil, kind: .transactionControl)
            return result[0].commandTag
        } catch {
            observe([statement], start, [], error, kind: .transactionControl)
            throw error
        }
    }

    /// Runs `body` in a task of its own, which nobody cancels.
    private func shielded<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await Task { try await body() }.value
    }
}

/// An error that a SQLSTATE caused, of this layer or of one above it.
package protocol SQLStateError: Error {
    var sqlState: SQLState? { get }
}

extension PostgresError: SQLStateError {}
