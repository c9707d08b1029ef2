import DequeModule

/// A subscriber's pending events.
final class NotificationQueue: Sendable {
    private struct State {
        var events: Deque<NotificationEvent> = []
        var isFinished = false
    }

    private let capacity: Int
    private let queue = WaitQueue<State, Void, NotificationEvent?>(State()) { state, _ in
        if let event = state.events.popFirst() { return .some(event) }
        return state.isFinished ? .some(nil) : nil
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds an event; on overflow the events are replaced by `.missed`.
    func append(_ event: NotificationEvent) {
        queue.change { state in
            if state.isFinished { return }
            if state.events.count >= capacity { state.events = [.missed(.overflow)] }
            // After a gap the earlier events are useless.
            if case .missed = event { state.events = [] }
            state.events.append(event)
        }
    }

    /// Ends the queue after its pending events.
    func finish() { queue.change { $0.isFinished = true } }

    /// The next event; nil at the end, and when the task is cancelled.
    func next() async -> NotificationEvent? {
        do { return try await queue.wait(for: ()) } catch { return nil }
    }
}
