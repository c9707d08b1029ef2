/// A limit of the connections of a pool that some clients may use at once, such as one tenant's contexts.
///
/// It stands in front of the pool: a task that waits here takes no place in the pool's queue, in which other tasks wait.
package final class ConnectionLimit: Sendable {
    private let pool: ConnectionPool
    private let options: PostgresConfiguration.PoolOptions
    private let maximum: Int
    /// The number of connections, and shares of them, that are lent.
    let queue: WaitQueue<Int, Void, Void>

    init(_ maximum: Int, of pool: ConnectionPool, _ options: PostgresConfiguration.PoolOptions) {
        (self.maximum, self.pool, self.options) = (maximum, pool, options)
        queue = WaitQueue(0) { lent, _ in
            guard lent < maximum else { return nil }
            lent += 1
            return ()
        }
    }

    /// Lends a connection of the pool; both waits together take at most the acquire timeout.
    ///
    /// Throws the pool's errors; `.poolTimeout` and `.poolOverloaded` also where the limit is reached.
    func acquire(
        _ use: PoolStateMachine.Use, by statementDeadline: MonotonicTime
    ) async throws -> ConnectionPool.Lease {
        let start = MonotonicTime.now
        try await enter(from: start, by: statementDeadline)
        do {
            return try await pool.acquire(use, isNested: false, from: start, by: statementDeadline).within(self)
        } catch {
            leave()
            throw error
        }
    }

    /// Takes one of the connections, by number alone; `leave()` gives it back.
    func enter(from start: MonotonicTime, by statementDeadline: MonotonicTime) async throws {
        if queue.answerNow(to: ()) != nil { return }
        let waiting = queue.waiterCount
        guard waiting < options.maximumWaiters else {
            throw PostgresError(
                .poolOverloaded, "Too many tasks wait for a connection (\(facts), \(waiting) other tasks wait)")
        }
        pool.count(\.tenantWaits)
        let limit = start + options.acquireTimeout
        do {
            try await queue.wait(for: (), by: min(limit, statementDeadline))
        } catch is WaitTimeout {
            pool.count(\.tenantTimeouts)
            let isStatements = statementDeadline < limit
            throw PostgresError(
                isStatements ? .timeout : .poolTimeout,
                """
                No connection became free within \(isStatements ? "the time of the statement" : "\(options.acquireTimeout)") \
                (\(facts), \(queue.waiterCount) other tasks wait)
                """)
        }
    }

    func leave() { queue.change { $0 -= 1 } }

    /// Takes back a lease of `acquire`.
    func takeBack(_ lease: ConnectionPool.Lease) {
        pool.release(lease)
        leave()
    }

    private var facts: String { "all \(maximum) that pool.maximumConnectionsPerTenant leaves to the tenant are in use" }
}
