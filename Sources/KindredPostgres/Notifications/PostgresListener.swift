public import Logging
import Synchronization

/// Listens to channels over a connection of its own, which is opened again whenever it is lost.
///
/// The connection is there as long as somebody listens. It is asked for a sign of life every few seconds.
public final class PostgresListener: Sendable {
    /// Something that the task which looks after the connection has to do.
    enum Signal: Sendable {
        /// Somebody listens to a channel, and waits until the server knows it.
        case listen(String, CheckedContinuation<Void, any Error>)
        /// Somebody went away.
        case change
        /// The connection has ended.
        case ended(generation: Int)
        /// Time to ask for a sign of life, or to connect again.
        case tick
    }

    private struct State {
        var queues: [ChannelName: [NotificationQueue]] = [:]
        var signals: AsyncStream<Signal>.Continuation?
        /// The attempt to connect that is under way.
        var opening: Task<Connector.Opened, any Error>?
        var isClosed = false
    }

    /// So many events wait for one subscriber.
    static let capacity = 10_000

    let configuration: PostgresConfiguration
    let logger: Logger?
    let manner = Connector.Manner()
    private let state = Mutex(State())

    /// A listener for the given database; connects when somebody listens.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    public init(_ configuration: PostgresConfiguration, logger: Logger? = nil) throws {
        try configuration.validate()
        self.configuration = configuration
        self.logger = logger
    }

    /// Listens to a channel, and returns once the server knows it: nothing that is sent afterwards is lost without a word.
    ///
    /// Sends LISTEN with the quoted name, so capital letters count: `LISTEN Orders` elsewhere means `orders`.
    /// Behind a pooler a notification is sent to itself over a second connection, to see whether any arrive.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a name that the server would cut, `.connectionFailed`, also where a
    /// pooler lends sessions by transaction so that LISTEN has no effect, `.passwordUnavailable` or `.closed`.
    public func listen(to channel: String) async throws -> Notifications {
        _ = try SQLIdentifier.quote(channel)
        let queue = NotificationQueue(capacity: Self.capacity)
        let subscription = Notifications.Subscription(listener: self, channel: channel, queue: queue)
        try await withCheckedThrowingContinuation { waiter in
            let isClosed = state.withLock { state in
                if state.isClosed { return true }
                state.queues[ChannelName(channel), default: []].append(queue)
                signals(&state).yield(.listen(channel, waiter))
                return false
            }
            if isClosed { waiter.resume(throwing: Self.closed) }
        }
        return Notifications(subscription: subscription)
    }

    /// Ends everybody's sequence and the connection.
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
        let channel = ChannelName(channel)
        state.withLock { state in
            state.queues[channel]?.removeAll { $0 === queue }
            if state.queues[channel]?.isEmpty == true { state.queues[channel] = nil }
            state.signals?.yield(.change)
        }
    }

    // MARK: For the task

    /// The channels that somebody listens to.
    var channels: Set<ChannelName> { state.withLock { Set($0.queues.keys) } }

    /// Hands a notification to those who listen to its channel.
    func deliver(_ notification: PostgresNotification) {
        for queue in state.withLock({ $0.queues[ChannelName(notification.channel)] ?? [] }) {
            queue.append(.notification(notification))
        }
    }

    /// Tells everybody that something may be missing.
    func tellGap(_ reason: NotificationEvent.Reason = .reconnected) {
        for queue in state.withLock({ Array($0.queues.values.joined()) }) { queue.append(.missed(reason)) }
    }

    /// Opens a connection; closing the listener ends that early.
    func open(onNotification: @escaping @Sendable (PostgresNotification) -> Void) async throws -> Connector.Opened {
        let opening = try state.withLock { state in
            if state.isClosed { throw Self.closed }
            let opening = Task.detached { [configuration, manner, logger] in
                try await Connector.open(configuration, manner, logger: logger, onNotification: onNotification)
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

    /// Ends the task's work if nobody listens; false if somebody has come in the meantime.
    func endIfIdle() -> Bool {
        state.withLock { state in
            guard state.queues.isEmpty else { return false }
            state.signals?.finish()
            state.signals = nil
            return true
        }
    }

    /// The way to the task, which is started if it does not run.
    private func signals(_ state: inout State) -> AsyncStream<Signal>.Continuation {
        if let signals = state.signals { return signals }
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
        state.signals = continuation
        Task.detached { await ListenerTask(self, continuation).run(stream) }
        return continuation
    }
}
