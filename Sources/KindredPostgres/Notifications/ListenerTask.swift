import Logging
import Synchronization

/// Looks after the connection of a listener as long as somebody listens.
final class ListenerTask {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    /// After so long a connection is asked for a sign of life.
    ///
    /// With the two seconds that it has for that, one that is dead is found out within five.
    private static let interval = Duration.seconds(3)

    private let listener: PostgresListener
    private let signals: AsyncStream<PostgresListener.Signal>.Continuation
    private var connection: PooledConnection?
    /// Lets notifications through once the gap before them is told.
    private var gate: NotificationGate?
    /// Whether notifications arrive over the connection.
    private var probe: ListeningProbe?
    /// What the server knows of.
    private var known: Set<ChannelName> = []
    private var waiters: [(channel: String, waiter: Waiter)] = []
    private var generation = 0
    private var failures = 0
    private var hadConnection = false
    private var ticker: Task<Void, Never>?

    init(_ listener: PostgresListener, _ signals: AsyncStream<PostgresListener.Signal>.Continuation) {
        self.listener = listener
        self.signals = signals
    }

    func run(_ stream: AsyncStream<PostgresListener.Signal>) async {
        var isOver = false
        for await signal in stream {
            switch signal {
            case .listen(let channel, let waiter): waiters.append((channel, waiter))
            // One that was ended here is opened again when it is time.
            case .ended(let ended):
                if ended != generation || connection == nil { continue }
                connection = nil
            case .tick: if !isOver { await askForSignOfLife() }
            case .change: break
            }
            // What came before the end is still taken out, for those who wait.
            if !isOver { isOver = await tend() }
        }
        ticker?.cancel()
        connection?.end(PostgresListener.closed)
        for (_, waiter) in waiters { waiter.resume(throwing: PostgresListener.closed) }
    }

    /// Makes the connection what it should be; true if there is nothing left to do.
    private func tend() async -> Bool {
        if listener.channels.isEmpty, waiters.isEmpty, listener.endIfIdle() { return true }
        do {
            if connection == nil { try await connect() }
            try await tellServer()
            failures = 0
            for (_, waiter) in waiters { waiter.resume() }
            waiters = []
            tick(after: Self.interval)
        } catch {
            failures += 1
            listener.logger?.warning("the listener has no connection", metadata: ["error": "\(error)"])
            // Those who have just come learn why; those who listen already wait for the next attempt.
            for (_, waiter) in waiters { waiter.resume(throwing: error) }
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
    }

    /// Sends LISTEN and UNLISTEN, so that the server knows what is wanted.
    private func tellServer() async throws {
        let wanted = listener.channels
        let new = wanted.subtracting(known)
        let old = known.subtracting(wanted)
        // Whose session it is, is asked once.
        let texts =
            try (probe == nil ? [] : [ListeningProbe.question])
            + new.map { "LISTEN \(try SQLIdentifier.quote($0.text))" }
            + old.map { "UNLISTEN \(try SQLIdentifier.quote($0.text))" }
        if !texts.isEmpty {
            let answers = try await run(texts)
            known = wanted
            if let probe, let connection {
                try await probe.check(connection, answers.first, listener) { try await self.run($0) }
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
        let statements = texts.map { Statement(text: StatementText(oneTime: $0, effect: .session)) }
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
        } catch {
            connection.end(PostgresError(.connectionLost, "The connection gave no sign of life"))
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

/// Keeps the notifications of a new connection back until everybody knows that there was a gap.
///
/// None is thrown away: who has just been told of the gap may already wait for what comes after it.
private final class NotificationGate: Sendable {
    private struct State {
        var isOpen = false
        var kept: [PostgresNotification] = []
        /// Whether there were too many to keep.
        var hasOverflown = false
    }

    /// LISTEN is answered within moments; no server has more to say in between.
    private static let capacity = 10_000

    private let listener: PostgresListener
    private let state = Mutex(State())

    init(_ listener: PostgresListener) {
        self.listener = listener
    }

    func open() {
        state.withLock { state in
            // Under the lock, so that nothing that comes now overtakes them.
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
