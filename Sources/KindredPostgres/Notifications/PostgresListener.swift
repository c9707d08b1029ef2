public import Logging
import Synchronization

/// Listens to channels over a connection of its own, which is reopened when lost.
///
/// Connected while it has subscribers, and tested every few seconds.
public final class PostgresListener: Sendable {
    /// Work for the listener's task.
    enum Signal: Sendable {
        /// A new subscriber waits for the server's confirmation.
        case listen(CheckedContinuation<Void, any Error>)
        /// A subscriber left.
        case change
        /// The connection has ended.
        case ended(generation: Int)
        /// A liveness test or a reconnection is due.
        case tick
    }

    /// Checks a new connection by the server's answers over it; an error refuses the connection.
    package typealias Check = @Sendable (_ ask: (SQL) async throws -> QueryResult) async throws -> Void

    private struct State {
        var queues: [ServerText: [NotificationQueue]] = [:]
        var signals: AsyncStream<Signal>.Continuation?
        /// The running attempt to connect.
        var opening: Task<Connector.Opened, any Error>?
        var isClosed = false
    }

    /// The largest number of pending events of a subscriber.
    static let capacity = 10_000

    let configuration: PostgresConfiguration
    let logger: Logger?
    let startupRequirements = Connector.StartupRequirements()
    let check: Check?
    private let state = RankedMutex(State(), .leaf)

    /// Makes a listener, which connects with its first subscriber.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    public convenience init(_ configuration: PostgresConfiguration, logger: Logger? = nil) throws {
        try self.init(configuration, logger: logger, check: nil)
    }

    /// Makes a listener that checks each new connection before it listens.
    package init(_ configuration: PostgresConfiguration, logger: Logger?, check: Check?) throws {
        try configuration.validate()
        var configuration = configuration
        // The listener sees for itself whether notifications arrive.
        if configuration.pooler == .automatic { configuration.pooler = .session }
        self.configuration = configuration
        self.logger = logger
        self.check = check
        startupRequirements.primary.onChange { [weak self] in self?.state.withLock { _ = $0.signals?.yield(.change) } }
    }

    /// Listens to a channel, and returns once the server has confirmed; later losses are reported.
    ///
    /// Sends LISTEN with the quoted name, so case matters: `LISTEN Orders` elsewhere means `orders`. Behind a pooler a
    /// test notification is sent over a second connection, to see whether any arrive; nothing is sent where the configuration's
    /// `pooler` is `.transaction`.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a name that the server would truncate, `.connectionFailed`, also
    /// behind a transaction pooler, where LISTEN has no effect, `.unsupported` if the server has no LISTEN,
    /// `.passwordUnavailable` or `.closed`.
    public func listen(to channel: String) async throws -> Notifications {
        _ = try SQLIdentifier.quote(channel)
        guard configuration.pooler != .transaction else { throw ListeningProbe.withoutEffect(configuration) }
        let queue = NotificationQueue(capacity: Self.capacity)
        let subscription = Notifications.Subscription(listener: self, channel: channel, queue: queue)
        try await withCheckedThrowingContinuation { waiter in
            let isClosed = state.withLock { state in
                if state.isClosed { return true }
                state.queues[ServerText(channel), default: []].append(queue)
                signals(&state).yield(.listen(waiter))
                return false
            }
            if isClosed { waiter.resume(throwing: Self.closed) }
        }
        return Notifications(subscription: subscription)
    }

    /// Ends every sequence and the connection.
    public func close() {
        let (queues, opening) = state.withLock { state in
            state.isClosed = true
            state.signals?.yield(.change)
            defer { (state.queues, state.opening) = ([:], nil) }
            return (state.queues.values.joined(), state.opening)
        }
        opening?.cancel()
        for queue in queues { queue.finish() }
    }

    static var closed: PostgresError { PostgresError(.closed, "The listener is closed") }

    // MARK: For subscriptions

    func remove(_ queue: NotificationQueue, from channel: String) {
        let channel = ServerText(channel)
        state.withLock { state in
            state.queues[channel]?.removeAll { $0 === queue }
            if state.queues[channel]?.isEmpty == true { state.queues[channel] = nil }
            state.signals?.yield(.change)
        }
    }

    // MARK: For the task

    /// The channels with subscribers.
    var channels: Set<ServerText> { state.withLock { Set($0.queues.keys) } }

    /// Delivers a notification to the channel's subscribers.
    func deliver(_ notification: PostgresNotification) {
        for queue in state.withLock({ $0.queues[ServerText(notification.channel)] ?? [] }) {
            queue.append(.notification(notification))
        }
    }

    /// Tells every subscriber that notifications may be missing.
    func tellGap(_ reason: NotificationEvent.Reason = .reconnected) {
        for queue in state.withLock({ Array($0.queues.values.joined()) }) { queue.append(.missed(reason)) }
    }

    /// Opens a connection; closing the listener cancels that.
    func open(onNotification: @escaping @Sendable (PostgresNotification) -> Void) async throws -> Connector.Opened {
        let opening = try state.withLock { state in
            if state.isClosed { throw Self.closed }
            let opening = Task.detached { [configuration, startupRequirements, logger] in
                try await Connector.open(
                    configuration, startupRequirements, logger: logger, onNotification: onNotification)
            }
            state.opening = opening
            return opening
        }
        do {
            return try await opening.value
        } catch is CancellationError {
            throw Self.closed
        }
    }

    /// Ends the task if there are no subscribers; false if one was added meanwhile.
    func endIfIdle() -> Bool {
        state.withLock { state in
            guard state.queues.isEmpty else { return false }
            state.signals?.finish()
            state.signals = nil
            return true
        }
    }

    /// The stream of signals to the task, which is started if needed.
    private func signals(_ state: inout State) -> AsyncStream<Signal>.Continuation {
        if let signals = state.signals { return signals }
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
        state.signals = continuation
        Task.detached { await ListenerTask(self, continuation).run(stream) }
        return continuation
    }
}
