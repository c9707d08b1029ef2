import Logging
import Synchronization

/// The connections of a client; carries out the decisions of `PoolStateMachine`.
final class ConnectionPool: PolledSource {
    private typealias Machine = PoolStateMachine

    private struct Waiter {
        let turn: CheckedContinuation<Lease, any Error>
        /// Whether the deadline is the statement's own, not the acquire timeout.
        let isStatements: Bool
    }

    private struct State {
        var machine: Machine
        var connections: [Machine.ConnectionID: PooledConnection] = [:]
        var waiters: [Machine.WaiterID: Waiter] = [:]
        /// Running attempts, to be cancelled when no longer needed.
        var connecting: [Machine.ConnectionID: Task<Void, Never>] = [:]
        var closeBy = MonotonicTime.never
        var lastWaiter: Machine.WaiterID = 0
        var lastFailure: PostgresError?
        var record = PoolRecord()
    }

    let context: ConnectionContext
    private let options: PostgresConfiguration.PoolOptions
    private let state: RankedMutex<State>
    /// The end of the last connection of a closed pool.
    private let closed = AsyncLatch()

    init(_ context: ConnectionContext) throws(PostgresError) {
        self.context = context
        options = context.configuration.pool
        state = RankedMutex(State(machine: Machine(options: context.configuration.pool)), .leaf)
        try Poller.shared.addTimed(self)
        context.primary.onChange { [weak self] in self?.endOutdated() }
        if context.seeksWrites { context.primary.onReadOnly { [weak self] in self?.search() } }
    }

    /// Ends every connection at once: the client was deinitialized.
    func abandon() {
        change { state, actions in state.machine.close(actions: &actions) }
        giveUpConnecting()
        abandonConnections(PostgresError(.closed, "The client was dropped without being closed"))
        Poller.shared.removeTimed(self)
    }

    /// Ends every open connection at once; new connections are made when they are needed.
    func abandonConnections(_ reason: PostgresError) {
        for connection in state.withLock({ Array($0.connections.values) }) { connection.abort(reason) }
    }

    /// Ends the connections to a former primary at once: nothing more is written to it.
    private func endOutdated() {
        let outdated = state.withLock { $0.connections.values.filter { context.primary.isOutdated($0.primary) } }
        for connection in outdated { connection.abort(Self.outdated) }
    }

    private static var outdated: PostgresError {
        PostgresError(.connectionLost, "Another server has taken the place of the primary")
    }

    // MARK: Callers

    /// Lends a connection; the caller gives it back with `release`.
    ///
    /// Throws `PostgresError` `.poolTimeout`, `.poolOverloaded`, `.connectionFailed`, `.nestedAcquire` or `.closed`,
    /// and `.timeout` at the statement's deadline.
    ///
    /// - Parameter now: when the caller began to wait.
    func acquire(
        _ use: PoolStateMachine.Use, isNested: Bool, from now: MonotonicTime = .now, by statementDeadline: MonotonicTime
    ) async throws -> Lease {
        if use == .exclusive, let threshold = options.leaseWarning { Poller.shared.wake(by: now + threshold) }
        if let lease = try acquireNow(use, isNested: isNested, now) { return lease }
        let limit = now + options.acquireTimeout
        let deadline = min(limit, statementDeadline)
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(
                    Waiter(turn: continuation, isStatements: deadline < limit),
                    Machine.Waiter(id: id, use: use, deadline: deadline), isNested: isNested)
            }
        } onCancel: {
            Poller.shared.later {
                let waiter = self.change { state, actions in
                    state.machine.cancel(id, now: .now, actions: &actions) ? state.waiters.removeValue(forKey: id) : nil
                }
                waiter?.turn.resume(throwing: CancellationError())
            }
        }
    }

    private func acquireNow(
        _ use: PoolStateMachine.Use, isNested: Bool, _ now: MonotonicTime
    ) throws -> Lease? {
        try change(now: now) { state, actions in
            state.record.counters.acquisitions += 1
            switch state.machine.acquire(use, waiter: nil, isNested: isNested, now: now, actions: &actions) {
            case .connection(let id): return state.connections[id].map { Lease(id: id, connection: $0, pool: self) }
            case .wait: return nil
            case .refused(let refusal): throw error(refusal, state)
            }
        }
    }

    private func wait(
        _ own: Waiter, _ waiter: PoolStateMachine.Waiter, isNested: Bool
    ) {
        let result: Result<Lease, any Error>? = change { state, actions in
            // A later cancellation finds the waiter; an earlier one shows here.
            if Task.isCancelled { return .failure(CancellationError()) }
            let answer = state.machine.acquire(
                waiter.use, waiter: waiter, isNested: isNested, now: .now, actions: &actions)
            switch answer {
            case .connection(let id):
                return state.connections[id].map { .success(Lease(id: id, connection: $0, pool: self)) }
                    ?? .failure(error(.timedOut, state))
            case .refused(let refusal):
                return .failure(error(refusal, state))
            case .wait:
                state.record.counters.waits += 1
                state.waiters[waiter.id] = own
                return nil
            }
        }
        if let result {
            own.turn.resume(with: result)
        } else {
            Poller.shared.wake(by: waiter.deadline)
        }
    }

    /// Takes a connection lent for exclusive use back, without an open transaction.
    func releaseExclusive(_ lease: Lease) async {
        switch lease.connection.condition {
        case .clean: endUseAndRelease(lease)
        case .inTransaction: await rollBackAndRelease(lease)
        // A statement was just cancelled; its caller does not wait for the server again.
        case .unusable: Task.detached { await self.rollBackAndRelease(lease) }
        }
    }

    private func rollBackAndRelease(_ lease: Lease) async {
        do {
            try await lease.connection.rollBack()
        } catch {
            lease.connection.end(PostgresError(.closed, "The connection was left in an unusable state"))
        }
        endUseAndRelease(lease)
    }

    private func endUseAndRelease(_ lease: Lease) {
        lease.connection.endUse()
        lease.giveBack()
    }

    /// Takes a lent connection back, for `Lease.giveBack()`.
    func release(_ lease: Lease) {
        let now = MonotonicTime.now
        change(now: now) { state, actions in state.machine.release(lease.id, now: now, actions: &actions) }
    }

    // MARK: Connections

    /// Opens the first connection, which tests the address.
    func openFirst() async throws {
        try await connect(state.withLock { $0.machine.addConnection() })
    }

    private func startConnecting(_ id: PoolStateMachine.ConnectionID) {
        state.withLock { state in
            guard state.machine.index(id) != nil else { return }
            // Detached: a connection inherits no task-local values.
            state.connecting[id] = Task.detached { try? await self.connect(id) }
        }
    }

    /// Cancels the attempts to connect of a closed pool.
    private func giveUpConnecting() {
        let attempts = state.withLock { state in
            defer { state.connecting = [:] }
            return state.connecting.values
        }
        for attempt in attempts { attempt.cancel() }
    }

    private func connect(_ id: PoolStateMachine.ConnectionID) async throws {
        do {
            let opened = try await Connector.open(
                context.configuration, context.startupRequirements, logger: context.logger, notices: context.notices)
            context.warn(of: opened)
            context.tellOfPooler()
            let connection = try PooledConnection(opened, context: context) {
                self.ended(id, $0)
            } onRetirement: {
                self.change { state, actions in state.machine.retire(id, now: .now, actions: &actions) }
            } onRefusal: {
                self.search { machine, actions in machine.refused(id, now: .now, actions: &actions) }
            }
            let isOutdated = change { state, actions in
                state.connecting[id] = nil
                state.record.counters.opened += 1
                // A higher timeline may have become known since it was opened.
                if context.primary.isOutdated(opened.primary) {
                    state.record.counters.lost += 1
                    state.machine.ended(id, now: .now, actions: &actions)
                    return true
                }
                guard state.machine.isClosing || state.machine.index(id) != nil else {
                    // It ended before it was registered.
                    state.record.counters.lost += 1
                    return false
                }
                state.connections[id] = connection
                state.machine.connected(id, jitter: .random(in: -1...1), now: .now, actions: &actions)
                return false
            }
            if isOutdated { connection.end(Self.outdated) }
        } catch {
            let failure = error as? PostgresError ?? PostgresError(.connectionFailed, "Connecting was cancelled")
            change { state, actions in
                state.connecting[id] = nil
                state.record.counters.failedAttempts += 1
                state.lastFailure = failure
                state.machine.connectFailed(
                    id, isPermanent: failure.isPermanent, jitter: .random(in: 0...1), now: .now, actions: &actions)
            }
            if !(error is CancellationError) {
                context.logger?.warning("could not connect", metadata: ["error": "\(failure)"])
            }
            throw error
        }
    }

    private func ended(_ id: PoolStateMachine.ConnectionID, _ reason: PostgresError) {
        change { state, actions in
            if state.connections.removeValue(forKey: id) != nil {
                if reason.code == .closed { state.record.counters.closed += 1 } else { state.record.counters.lost += 1 }
            }
            state.machine.ended(id, reason.endOfConnection, now: .now, actions: &actions)
        }
    }

    private func test(_ id: PoolStateMachine.ConnectionID, _ connection: PooledConnection, isDoubted: Bool) async {
        do {
            guard isDoubted else {
                try await connection.test()
                return change { state, actions in
                    state.machine.connected(id, jitter: 0, now: .now, actions: &actions)
                }
            }
            let takesWrites = try await connection.takesWrites()
            let isNew = change { state, actions in
                let isTrial = state.machine.search.isRunning || state.machine.search.trial == id
                state.machine.answered(id, takesWrites: takesWrites, now: .now, actions: &actions)
                return isTrial && takesWrites
            }
            if isNew {
                context.primary.noteMove()
                context.logger?.notice(
                    "a server that takes writes was found; older connections are asked before they are used")
            }
        } catch {
            connection.end(PostgresError(.connectionLost, "The connection did not answer its test"))
        }
    }

    // MARK: Servers that take no writes

    /// Looks for a server that takes writes, as the address may lead to another server now.
    private func search() { search { machine, actions in machine.search(.now, &actions) } }

    private func search(_ body: (inout PoolStateMachine, inout PoolStateMachine.Actions) -> Void) {
        let (isNew, wasInVain) = change { state, actions in
            let former = state.machine.search
            body(&state.machine, &actions)
            return (state.machine.search.startedAt != former.startedAt, former.startedAt != nil && !former.hasFound)
        }
        // A role that only reads may be refused each second.
        if isNew {
            context.logger?.log(
                level: wasInVain ? .debug : .notice,
                "the server takes no writes; a new connection shows whether another server does")
        }
    }

    /// Whether a write that a server has refused, because it takes none, may succeed over another connection.
    var hasOtherServer: Bool { state.withLock { $0.machine.hasOtherServer } }

    // MARK: Time and end

    func socketIsReady() {}

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        let next = min(
            change { state, actions in state.machine.tick(now: now, actions: &actions) }, warnOfLongLeases(now))
        let closeBy = state.withLock { $0.closeBy }
        guard closeBy <= now else { return min(next, closeBy) }
        abandonConnections(PostgresError(.closed, "The client was closed while the statement ran"))
        return next
    }

    /// Warns once of each overdue lease, which may be a leak.
    private func warnOfLongLeases(_ now: MonotonicTime) -> MonotonicTime {
        guard let threshold = options.leaseWarning else { return .never }
        let (late, next) = state.withLock { $0.record.noteLeases(of: $0.machine, over: threshold, now) }
        if late > 0 {
            context.logger?.warning(
                "connections are lent for too long", metadata: ["count": "\(late)", "longer than": "\(threshold)"])
        }
        return next
    }

    /// Replaces every open connection, each as soon as it is free.
    func renew() {
        let now = MonotonicTime.now
        change(now: now) { state, actions in state.machine.renew(now: now, actions: &actions) }
    }

    /// Refuses new callers and waits at most `timeout` for the connections in use.
    func close(timeout: Duration) async {
        let deadline = MonotonicTime.now + timeout
        change { state, actions in
            state.machine.close(actions: &actions)
            state.closeBy = min(state.closeBy, deadline)
        }
        Poller.shared.wake(by: deadline)
        giveUpConnecting()
        await closed.waitShielded()
    }

    var metrics: PoolMetrics { state.withLock { $0.record.metrics(of: $0.machine) } }

    /// Adds to a counter of events in front of the pool.
    func count(_ counter: WritableKeyPath<PoolMetrics, Int>) {
        state.withLock { $0.record.counters[keyPath: counter] += 1 }
    }

    // MARK: Actions

    /// The actions to take once the mutex is free.
    private struct Consequences {
        var resumed: [(CheckedContinuation<Lease, any Error>, Result<Lease, any Error>)] = []
        var closing: [PooledConnection] = []
        var tested: [(id: Int, connection: PooledConnection, isDoubted: Bool)] = []
        var isClosed = false
    }

    /// Changes the state under the mutex, then carries out the machine's decisions.
    private func change<T>(
        now: MonotonicTime = .now, _ body: (inout State, inout PoolStateMachine.Actions) throws -> T
    ) rethrows -> T {
        var actions = PoolStateMachine.Actions()
        var consequences: Consequences?
        var next = MonotonicTime.never
        let result = try state.withLock { state in
            let result = try body(&state, &actions)
            // Mostly there is nothing to do.
            if !actions.isEmpty || state.machine.isClosing {
                consequences = self.consequences(of: actions, &state)
            }
            next = state.machine.isClosing ? .never : state.machine.nextTick(now)
            return result
        }
        if next != .never { Poller.shared.wake(by: next) }
        guard let consequences else { return result }
        for (waiter, result) in consequences.resumed { waiter.resume(with: result) }
        for connection in consequences.closing {
            connection.end(PostgresError(.closed, "The connection was closed"))
        }
        if consequences.isClosed { closed.open() }
        for id in actions.connect { startConnecting(id) }
        // Detached: a connection inherits no task-local values.
        for (id, connection, isDoubted) in consequences.tested {
            Task.detached { await self.test(id, connection, isDoubted: isDoubted) }
        }
        return result
    }

    private func consequences(of actions: PoolStateMachine.Actions, _ state: inout State) -> Consequences {
        var consequences = Consequences()
        for assignment in actions.assign {
            guard let waiter = state.waiters.removeValue(forKey: assignment.waiter),
                let connection = state.connections[assignment.connection]
            else { continue }
            consequences.resumed.append(
                (waiter.turn, .success(Lease(id: assignment.connection, connection: connection, pool: self))))
        }
        for refused in actions.refuse {
            guard let waiter = state.waiters.removeValue(forKey: refused.waiter) else { continue }
            if refused.refusal == .timedOut { state.record.counters.timeouts += 1 }
            consequences.resumed.append(
                (waiter.turn, .failure(error(refused.refusal, state, isStatements: waiter.isStatements))))
        }
        for id in actions.close {
            guard let connection = state.connections.removeValue(forKey: id) else { continue }
            state.record.counters.closed += 1
            consequences.closing.append(connection)
        }
        for id in actions.test {
            guard let connection = state.connections[id], let index = state.machine.index(id) else { continue }
            consequences.tested.append((id, connection, state.machine.connections[index].isDoubted))
        }
        if state.machine.isClosing, state.machine.connections.isEmpty {
            consequences.isClosed = true
            state.closeBy = .never
        }
        return consequences
    }

    private func error(
        _ refusal: PoolStateMachine.Refusal, _ state: State, isStatements: Bool = false
    ) -> PostgresError {
        state.machine.error(refusal, lastFailure: state.lastFailure, isStatements: isStatements)
    }
}
