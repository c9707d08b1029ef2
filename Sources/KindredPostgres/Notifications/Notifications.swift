/// The events of a channel from the subscription on; made by ``PostgresClient/listen(to:)``.
///
/// Ends when the listener is closed or the task is cancelled. Its deinit sends UNLISTEN.
public struct Notifications: AsyncSequence, Sendable {
    /// A notification, or the information that some may be missing.
    public typealias Element = NotificationEvent
    /// Nothing is thrown: failed connections are reopened.
    public typealias Failure = Never

    let subscription: Subscription

    /// Makes an iterator, which continues with the pending events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// Iterates over the events in order.
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

    /// Its deinit unsubscribes.
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
