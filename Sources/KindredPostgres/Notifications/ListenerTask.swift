import Logging
import Synchronization

/// Maintains a listener's connection while it has subscribers.
final class ListenerTask {
    /// The time between liveness tests.
    ///
    /// A test has two seconds, so that a dead connection is detected within five.
    private static let interval = Duration.seconds(3)

    private let listener: PostgresListener
    private let signals: AsyncStream<PostgresListener.Signal>.Continuation
    private var connection: PooledConnection?
    /// Holds notifications back until the gap before them is announced.
    private var gate: NotificationGate?
    /// Tests whether notifications arrive over the connection.
    private var probe: ListeningProbe?
    /// The channels for which the server has a LISTEN.
    private var known: Set<ServerText> = []
    /// The subscribers since the server last confirmed.
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var generation = 0
    private var failures = 0
    /// Whether the log has the present failure.
    private var hasWarned = false
    private var hadConnection = false
    /// How often the address had moved when the connection was opened.
    private var moves = 0
    /// Whether the server took writes at the last sign of life.
    private var tookWrites = true
    private var ticker: Task<Void, Never>?

    init(_ listener: PostgresListener, _ signals: AsyncStream<PostgresListener.Signal>.Continuation) {
        self.listener = listener
        self.signals = signals
    }

    func run(_ stream: AsyncStream<PostgresListener.Signal>) async {
        var isOver = false
        for await signal in stream {
            switch signal {
            case .listen(let waiter): waiters.append(waiter)
            // A connection that the task ended is reopened when due.
            case .ended(let ended):
                if ended != generation || connection == nil { continue }
                connection = nil
            case .tick: if !isOver { await askForSignOfLife() }
            case .change: break
            }
            // Resume the waiters even if the listener was closed meanwhile.
            if !isOver { isOver = await tend() }
        }
        ticker?.cancel()
        connection?.end(PostgresListener.closed)
        for waiter in waiters { waiter.resume(throwing: PostgresListener.closed) }
    }

    /// Brings the connection up to date; true if there is nothing left to do.
    private func tend() async -> Bool {
        if listener.channels.isEmpty, waiters.isEmpty, listener.endIfIdle() { return true }
        let primary = listener.startupRequirements.primary
        if let former = connection, primary.isOutdated(former.primary) || primary.moves != moves {
            former.end(PostgresError(.connectionLost, "Another server has taken the place of the primary"))
            connection = nil
        }
        do {
            if connection == nil { try await connect() }
            try await tellServer()
            (failures, hasWarned) = (0, false)
            for waiter in waiters { waiter.resume() }
            waiters = []
            tick(after: Self.interval)
        } catch {
            failures += 1
            // A caller that gets the error reports it.
            if waiters.isEmpty, !hasWarned {
                hasWarned = true
                listener.logger?.warning("the listener has no connection", metadata: ["error": "\(error)"])
            }
            // New subscribers get the error; earlier subscribers wait for the next attempt.
            for waiter in waiters { waiter.resume(throwing: error) }
            waiters = []
            connection?.end(PostgresListener.closed)
            connection = nil
            let ceiling = Duration.milliseconds(min(1_000, 50 << min(failures - 1, 5)))
            tick(after: ceiling * Double.random(in: 0.5...1))
        }
        return false
    }

    private func connect() async throws {
        generation += 1
        let (generation, signals) = (generation, signals)
        (moves, tookWrites) = (listener.startupRequirements.primary.moves, true)
        let gate = NotificationGate(listener)
        let probe = ListeningProbe()
        let opened = try await listener.open { if !probe.hears($0) { gate.pass($0) } }
        known = []
        let context = ConnectionContext(
            configuration: listener.configuration, types: TypeRegistry(), logger: listener.logger)
        connection = try PooledConnection(opened, context: context) { _ in
            signals.yield(.ended(generation: generation))
        }
        self.gate = gate
        self.probe = probe
        try await listener.check? { try await self.answer(to: $0) }
    }

    /// Sends LISTEN and UNLISTEN for the channels wanted.
    private func tellServer() async throws {
        let wanted = listener.channels
        let new = wanted.subtracting(known)
        let old = known.subtracting(wanted)
        // Queries the session's process only once.
        let texts =
            try (probe == nil ? [] : [ListeningProbe.question])
            + new.map { "LISTEN \(try SQLIdentifier.quote($0.text))" }
            + old.map { "UNLISTEN \(try SQLIdentifier.quote($0.text))" }
        if !texts.isEmpty {
            let answers: [QueryResult]
            do {
                answers = try await run(texts)
            } catch let error as PostgresError {
                throw error.lacking(.listen)
            }
            known = wanted
            if let probe, let connection {
                try await probe.check(connection, answer: answers.first, of: listener) { try await self.run($0) }
                self.probe = nil
            }
        }
        guard let gate else { return }
        if hadConnection { listener.tellGap() }
        hadConnection = true
        gate.open()
        self.gate = nil
    }

    @discardableResult
    private func run(_ texts: [String]) async throws -> [QueryResult] {
        try await run(texts.map { Statement(text: StatementText(oneTime: $0, effect: .lasting)) })
    }

    private func answer(to sql: SQL) async throws -> QueryResult {
        guard let answer = try await run([sql.statement(isProgrammed: false)]).first else {
            throw PostgresError(.connectionLost, "The connection has ended")
        }
        return answer
    }

    private func run(_ statements: [Statement]) async throws -> [QueryResult] {
        do {
            return try await connection?.run(
                statements, traits: Request.Traits(isUndoing: true), by: .now + .seconds(2), isShielded: true) ?? []
        } catch is ConnectionGone {
            throw PostgresError(.connectionLost, "The connection has ended")
        }
    }

    private func askForSignOfLife() async {
        guard let connection else { return }
        do {
            try await connection.test()
            let takesWrites = !connection.isSaidToBeReadOnly
            // The address may lead to another server, which has the notifications now.
            if tookWrites, !takesWrites { listener.startupRequirements.primary.noteReadOnly() }
            tookWrites = takesWrites
        } catch {
            connection.end(PostgresError(.connectionLost, "The connection did not answer its test"))
            self.connection = nil
        }
    }

    private func tick(after duration: Duration) {
        ticker?.cancel()
        let signals = signals
        ticker = Task.detached {
            try? await Task.sleep(for: duration)
            if !Task.isCancelled { signals.yield(.tick) }
        }
    }
}

/// Buffers a new connection's notifications until all subscribers have been told of the gap.
///
/// None is dropped: a subscriber that was told of the gap may already rely on the notifications after it.
private final class NotificationGate: Sendable {
    private struct State {
        var isOpen = false
        var kept: [PostgresNotification] = []
        /// Whether the buffer overflowed.
        var hasOverflown = false
    }

    /// LISTEN is answered within moments; no server sends more in between.
    private static let capacity = 10_000

    private let listener: PostgresListener
    private let state = RankedMutex(State(), .notificationGate)

    init(_ listener: PostgresListener) {
        self.listener = listener
    }

    func open() {
        state.withLock { state in
            // Under the lock, so that later notifications cannot overtake the kept ones.
            if state.hasOverflown { listener.tellGap(.overflow) }
            for notification in state.kept { listener.deliver(notification) }
            state = State(isOpen: true)
        }
    }

    func pass(_ notification: PostgresNotification) {
        let isOpen = state.withLock { state in
            if state.isOpen { return true }
            if state.kept.count >= Self.capacity {
                state.kept = []
                state.hasOverflown = true
            }
            state.kept.append(notification)
            return false
        }
        if isOpen { listener.deliver(notification) }
    }
}
