// Connections of the pool, as statements and transactions take them.
//
// A use is nested if the task has a transaction or a connection already: it would wait for itself.
extension StatementRoute {
    /// Lends a connection for exclusive use.
    func withExclusive<T>(
        isNested: Bool = false, by deadline: MonotonicTime = .never, _ body: (ConnectionPool.Lease) async throws -> T
    ) async throws -> T {
        try await withFreshConnection(.exclusive, isNested: isNested, by: deadline) { lease in
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

    /// Takes a connection of the pool, within the client's limit if it has one.
    private func acquire(
        _ use: PoolStateMachine.Use, isNested: Bool, by deadline: MonotonicTime
    ) async throws -> ConnectionPool.Lease {
        // A task that holds a connection would wait for itself.
        guard let limit, !isNested else { return try await pool.acquire(use, isNested: isNested, by: deadline) }
        return try await limit.acquire(use, by: deadline)
    }

    /// Retries with another connection while the lent one had ended before anything was sent.
    @inline(__always)
    func withFreshConnection<T>(
        _ use: PoolStateMachine.Use, isNested: Bool, by deadline: MonotonicTime,
        _ body: (ConnectionPool.Lease) async throws -> T
    ) async throws -> T {
        for _ in 0..<maximumAttempts {
            let lease = try await acquire(use, isNested: isNested, by: deadline)
            // An exclusive connection has to be alive before its user begins.
            if use == .exclusive, !lease.connection.isAlive {
                lease.giveBack()
                continue
            }
            do {
                return try await body(lease)
            } catch is ConnectionGone {
                continue
            }
        }
        throw PostgresError(.connectionLost, "Every new connection ended before it could be used")
    }
}
