/// The counters of a pool, and the leases that were warned of; guarded by the pool's mutex.
struct PoolRecord {
    /// Its gauges are zero.
    var counters = PoolMetrics()
    /// Leases that were warned of, with their start.
    private var warned: [PoolStateMachine.ConnectionID: MonotonicTime] = [:]

    /// The counters, and the gauges of the pool's connections.
    func metrics(of machine: PoolStateMachine) -> PoolMetrics {
        var metrics = counters
        metrics.waiting = machine.waiters.count
        for connection in machine.connections {
            switch connection.state {
            case .connecting: metrics.connecting += 1
            case .testing: metrics.testing += 1
            case .idle: metrics.idle += 1
            case .shared: metrics.inUse += 1
            case .leased:
                metrics.inUse += 1
                metrics.leased += 1
            }
        }
        return metrics
    }

    /// Counts each overdue lease once; returns how many are new, and when the next one is due.
    mutating func noteLeases(
        of machine: PoolStateMachine, over threshold: Duration, _ now: MonotonicTime
    ) -> (late: Int, next: MonotonicTime) {
        var (late, next) = (0, MonotonicTime.never)
        for connection in machine.connections where connection.state == .leased {
            let due = connection.movedAt + threshold
            if due > now {
                next = min(next, due)
            } else if warned.updateValue(connection.movedAt, forKey: connection.id) != connection.movedAt {
                late += 1
            }
        }
        counters.longLeases += late
        warned = warned.filter { machine.index($0.key) != nil }
        return (late, next)
    }
}
