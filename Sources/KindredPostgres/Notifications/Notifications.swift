/// What arrives on a channel from the moment at which it was made; made by ``PostgresClient/listen(to:)``.
///
/// It ends when the listener is closed or the task is cancelled. Once nobody keeps it, the server is told to send no more.
public struct Notifications: AsyncSequence, Sendable {
    /// A notification, or the remark that some may be missing.
    public typealias Element = NotificationEvent
    /// Connections that fail are opened again, so nothing is thrown.
    public typealias Failure = Never

    let subscription: Subscription

    /// Goes on with what nobody has taken yet.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// Takes the events in their order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next event; nil once the listener is closed or the task is cancelled.
        public mutating func next() async -> NotificationEvent? {
            await subscription.queue.next()
        }

        /// The next event; nil once the listener is closed or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NotificationEvent? {
            await subscription.queue.next()
        }
    }

    /// Listens as long as somebody keeps it.
    final class Subscription: Sendable {
        let listener: PostgresListener
        let channel: String
        let queue: NotificationQueue

        init(listener: PostgresListener, channel: String, queue: NotificationQueue) {
            self.listener = listener
            self.channel = channel
            self.queue = queue
        }

        deinit {
            listener.remove(queue, from: channel)
        }
    }
}
