import KindredPostgres
import Metrics
import Synchronization

/// Measures statements and the pool.
final class StatementMetrics: Sendable {
    /// The dimensions of a histogram; few combinations, since statement texts are not among them.
    private struct Key: Hashable {
        let operation: String
        let error: String?
        let state: String?
    }

    private let place: DatabasePlace
    private let durations = Mutex<[Key: Recorder]>([:])
    private let idle: Meter
    private let used: Meter
    private let maximum: Meter
    private let waiting: Meter
    private let counters: [(counter: Counter, count: @Sendable (PoolMetrics) -> Int)]
    private let lastCounts: Mutex<[Int]>

    init(_ place: DatabasePlace) {
        self.place = place
        let pool = [("db.client.connection.pool.name", place.poolName)]
        let count = "db.client.connection.count"
        idle = Meter(label: count, dimensions: pool + [("db.client.connection.state", "idle")])
        used = Meter(label: count, dimensions: pool + [("db.client.connection.state", "used")])
        maximum = Meter(label: "db.client.connection.max", dimensions: pool)
        waiting = Meter(label: "db.client.connection.pending_requests", dimensions: pool)
        let counts: [(String, @Sendable (PoolMetrics) -> Int)] = [
            ("db.client.connection.timeouts", { $0.timeouts }), ("kindred.pool.waits", { $0.waits }),
            ("kindred.pool.tenant_waits", { $0.tenantWaits }), ("kindred.pool.tenant_timeouts", { $0.tenantTimeouts }),
            ("kindred.pool.opened", { $0.opened }), ("kindred.pool.failed_attempts", { $0.failedAttempts }),
            ("kindred.pool.closed", { $0.closed }), ("kindred.pool.lost", { $0.lost }),
            ("kindred.pool.long_leases", { $0.longLeases }), ("kindred.retries", { $0.retries }),
        ]
        counters = counts.map { (Counter(label: $0.0, dimensions: pool), $0.1) }
        lastCounts = Mutex(counts.map { _ in 0 })
    }

    /// `db.client.operation.duration`, in seconds.
    func report(_ event: StatementEvent, _ summary: StatementSummary) {
        let key = Key(
            operation: summary.operation,
            error: event.error?.reportedType,
            state: event.error?.sqlState.map { "\($0)" }
        )
        let recorder = durations.withLock { durations in
            if let known = durations[key] { return known }
            var dimensions = place.dimensions + [("db.operation.name", key.operation)]
            if let error = key.error { dimensions.append(("error.type", error)) }
            if let state = key.state { dimensions.append(("db.response.status_code", state)) }
            let made = Recorder(label: "db.client.operation.duration", dimensions: dimensions, aggregate: true)
            durations[key] = made
            return made
        }
        recorder.record(event.duration / .seconds(1))
    }

    /// The pool's gauges and counters.
    func report(_ figures: PoolMetrics, maximum: Int) {
        idle.set(Double(figures.idle))
        used.set(Double(figures.inUse))
        waiting.set(Double(figures.waiting))
        self.maximum.set(Double(maximum))
        let counts = counters.map { $0.count(figures) }
        let before = lastCounts.withLock { last in
            // Another task may come with older figures.
            defer { last = zip(last, counts).map { max($0, $1) } }
            return last
        }
        for (index, count) in counts.enumerated() where count > before[index] {
            counters[index].counter.increment(by: count - before[index])
        }
    }
}
