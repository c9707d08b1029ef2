import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Opens, lends and closes connections as the state machine decides.
final class ConnectionPool: PolledSource {
    typealias Machine = PoolStateMachine<PooledConnection, Int>

    private struct State {
        var machine: Machine
        var waiters: [Int: (continuation: CheckedContinuation<PooledConnection, any Error>, deadline: UInt64)] = [:]
        var nextWaiter = 0
        var metrics = PoolMetrics()
        var lastFailure: PostgresError?
        /// Doubles with each failed attempt in a row, up to a second.
        var backoff: UInt64 = 0
        /// Attempts that wait for their time.
        var retryAt: UInt64?
    }

    let configuration: PostgresConfiguration
    let types = TypeRegistry()
    private let logger: Logger?
    private let environment = ProcessInfo.processInfo.environment
    private let state: Mutex<State>

    init(_ configuration: PostgresConfiguration, logger: Logger?) throws {
        try configuration.validate()
        self.configuration = configuration
        self.logger = logger
        let options = configuration.pool
        state = Mutex(
            State(
                machine: Machine(
                    maximum: options.maximumConnections,
                    depth: options.pipelineDepth,
                    connectConcurrency: options.connectConcurrency,
                    maximumWaiters: options.maximumWaiters
                )
            )
        )
        try Poller.shared.addTimed(self)
        Poller.shared.wake(by: monotonicNow() + housekeeping)
    }

    /// How often idle and old connections are looked for.
    private let housekeeping: UInt64 = 1_000_000_000

    var metrics: PoolMetrics {
        state.withLock { state in
            var metrics = state.metrics
            metrics.idle = state.machine.idleCount
            metrics.inUse = state.machine.busyCount
            metrics.connecting = state.machine.connecting
            metrics.waiting = state.machine.waiterCount
            return metrics
        }
    }

    // MARK: Acquire and release

    /// Lends a connection; `release` gives it back.
    func acquire(_ need: Machine.Need) async throws -> PooledConnection {
        while true {
            let connection = try await acquireAny(need)
            // Whatever has arrived on a connection that nobody used is its end; the poller may not have seen it yet.
            if case .exclusive = need, !connection.isQuiet() {
                connection.end(Session.gone)
                continue
            }
            return connection
        }
    }

    private func acquireAny(_ need: Machine.Need) async throws -> PooledConnection {
        try Task.checkCancellation()
        let (id, acquired) = state.withLock { state in
            state.nextWaiter += 1
            // A waiter is entered together with his continuation, below; this is the way without waiting.
            return (state.nextWaiter, state.machine.acquireNow(need))
        }
        if let acquired { return acquired }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(id, need, continuation)
            }
        } onCancel: {
            giveUp(id, CancellationError())
        }
    }

    private func enqueue(
        _ id: Int,
        _ need: Machine.Need,
        _ continuation: CheckedContinuation<PooledConnection, any Error>
    ) {
        let deadline = monotonicNow() &+ configuration.pool.acquireTimeout.nanoseconds
        enum Outcome {
            case ready(PooledConnection)
            case failed(any Error)
            case waiting(connect: Bool)
        }
        let outcome: Outcome = state.withLock { state in
            if Task.isCancelled { return .failed(CancellationError()) }
            switch state.machine.acquire(id, need) {
            case .connection(let connection): return .ready(connection)
            case .overloaded:
                return .failed(
                    PostgresError(.poolOverloaded, "\(state.machine.waiterCount) tasks wait for a connection already")
                )
            case .closed: return .failed(PostgresError(.closed, "The client is closed"))
            case .wait(let connect):
                state.waiters[id] = (continuation, deadline)
                return .waiting(connect: connect)
            }
        }
        switch outcome {
        case .ready(let connection): continuation.resume(returning: connection)
        case .failed(let error): continuation.resume(throwing: error)
        case .waiting(let connect):
            Poller.shared.wake(by: deadline)
            if connect { open() }
        }
    }

    private func giveUp(_ id: Int, _ error: any Error) {
        let (continuation, actions) = state.withLock { state in
            let (wasWaiting, actions) = state.machine.cancel(id)
            return (wasWaiting ? state.waiters.removeValue(forKey: id)?.continuation : nil, actions)
        }
        continuation?.resume(throwing: error)
        perform(actions)
    }

    func release(_ connection: PooledConnection) {
        let isClean = connection.isClean
        perform(state.withLock { $0.machine.release(connection, isClean: isClean, now: monotonicNow()) })
    }

    /// Gives back a connection that other requests may still be using.
    func releaseShared(_ connection: PooledConnection) {
        // A raw BEGIN has no owner here: the connection is given up with its transaction.
        let isClean = connection.isUsable && !connection.isInTransaction
        perform(state.withLock { $0.machine.release(connection, isClean: isClean, now: monotonicNow()) })
    }

    // MARK: Open and close

    private func perform(_ actions: Machine.Actions) {
        if actions.hand.isEmpty && actions.close.isEmpty && actions.connect == 0 && actions.fail.isEmpty { return }
        let (handed, failed, failure) = state.withLock { state in
            (
                actions.hand.compactMap { waiter, connection in
                    state.waiters.removeValue(forKey: waiter).map { ($0.continuation, connection) }
                },
                actions.fail.compactMap { state.waiters.removeValue(forKey: $0)?.continuation },
                state.lastFailure
            )
        }
        for (continuation, connection) in handed { continuation.resume(returning: connection) }
        for continuation in failed {
            continuation.resume(throwing: failure ?? PostgresError(.closed, "The client is closed"))
        }
        for connection in actions.close { connection.end(PostgresError(.closed, "The connection was closed")) }
        for _ in 0..<actions.connect { open() }
    }

    /// Opens a connection for those who wait, in a task of its own.
    private func open() {
        Task {
            do {
                try await openOne()
            } catch {
                openFailed(error as? PostgresError ?? PostgresError(.connectionFailed, "Connecting was cancelled"))
            }
        }
    }

    /// Opens the first connection, so that a wrong address or password is found out at once.
    func openFirst() async throws {
        guard state.withLock({ $0.machine.reservePlace() }) else { return }
        do {
            try await openOne()
        } catch {
            _ = state.withLock { $0.machine.openFailed(isPermanent: false) }
            throw error
        }
    }

    private func openOne() async throws {
        let opened = try await Connector.open(configuration, environment: environment)
        let connection = try PooledConnection(
            opened,
            types: types,
            cacheCapacity: configuration.statementCacheCapacity,
            logger: logger
        ) { [weak self] in
            self?.died($0)
        }
        let now = monotonicNow()
        let lifetime = configuration.pool.maximumLifetime.nanoseconds
        let jitter = lifetime / 10 == 0 ? 0 : UInt64.random(in: 0...lifetime / 5)
        perform(
            state.withLock { state in
                state.metrics.opened += 1
                state.lastFailure = nil
                state.backoff = 0
                return state.machine.opened(connection, now: now, diesAt: now + lifetime - lifetime / 10 + jitter)
            }
        )
    }

    private func openFailed(_ error: PostgresError) {
        // A wrong password or database will not come right by trying again; neither will a wrong certificate.
        let isPermanent =
            error.code == .invalidConfiguration || error.sqlState?.class == .invalidAuthorizationSpecification
            || error.sqlState == .invalidCatalogName
        let retryAt: UInt64? = state.withLock { state in
            state.metrics.failedAttempts += 1
            state.lastFailure = error
            state.backoff = min(1_000_000_000, max(50_000_000, 2 * state.backoff))
            let time = monotonicNow() + UInt64.random(in: state.backoff / 2...state.backoff)
            state.retryAt = time
            return time
        }
        logger?.warning("A connection could not be opened: \(error.description)")
        perform(state.withLock { $0.machine.openFailed(isPermanent: isPermanent) })
        if let retryAt { Poller.shared.wake(by: retryAt) }
    }

    private func died(_ connection: PooledConnection) {
        perform(
            state.withLock { state in
                state.metrics.closed += 1
                return state.machine.died(connection)
            }
        )
    }

    /// Closes the pool: nobody is lent a connection any more, those lent may be used until the deadline.
    func close(timeout: Duration) async {
        perform(state.withLock { $0.machine.close() })
        let deadline = monotonicNow() &+ timeout.nanoseconds
        while state.withLock({ $0.machine.openCount > 0 }), monotonicNow() < deadline {
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { break }
        }
        for connection in state.withLock({ $0.machine.connections }) {
            connection.end(PostgresError(.closed, "The client was closed"))
        }
    }

    // MARK: Poller

    func socketIsReady() {}

    func deadlinesPassed(now: UInt64) -> UInt64? {
        let (late, reaped, retries, next) = state.withLock { state in
            let late = state.waiters.filter { $0.value.deadline <= now }.map(\.key)
            let reaped = state.machine.reap(
                now: now,
                idleTimeout: configuration.pool.idleTimeout.nanoseconds,
                minimum: configuration.pool.minimumConnections
            )
            var retries = 0
            if let retryAt = state.retryAt, retryAt <= now {
                state.retryAt = nil
                while state.machine.wantsRetry() { retries += 1 }
            }
            var next = state.waiters.values.map(\.deadline).filter { $0 > now }.min() ?? .max
            if let retryAt = state.retryAt { next = min(next, retryAt) }
            if state.machine.idleCount > 0 { next = min(next, now + housekeeping) }
            return (late, reaped, retries, next)
        }
        for id in late { giveUp(id, timeoutError()) }
        for connection in reaped { connection.end(PostgresError(.closed, "The connection was idle or old")) }
        for _ in 0..<retries { open() }
        return next
    }

    private func timeoutError() -> PostgresError {
        let (metrics, failure) = (metrics, state.withLock { $0.lastFailure })
        state.withLock { $0.metrics.timeouts += 1 }
        return PostgresError(
            .poolTimeout,
            """
            No connection became free within \(configuration.pool.acquireTimeout): \(metrics.inUse) in use, \
            \(metrics.idle) idle, \(metrics.connecting) being opened, \(metrics.waiting) tasks waiting
            """,
            underlying: failure.map { [$0.description] } ?? []
        )
    }
}
