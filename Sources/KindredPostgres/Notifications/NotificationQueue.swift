import DequeModule
import Synchronization

/// A subscriber's pending events.
final class NotificationQueue: Sendable {
    private struct State {
        var events: Deque<NotificationEvent> = []
        var waiters: Deque<(id: Int, waiter: CheckedContinuation<NotificationEvent?, Never>)> = []
        var lastWaiter = 0
        var isFinished = false
    }

    private let capacity: Int
    private let state = RankedMutex(State(), .leaf)

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds an event; on overflow the events are replaced by `.missed`.
    func append(_ event: NotificationEvent) {
        let waiter = state.withLock { state -> CheckedContinuation<NotificationEvent?, Never>? in
            if state.isFinished { return nil }
            if let first = state.waiters.popFirst() { return first.waiter }
            if state.events.count >= capacity { state.events = [.missed(.overflow)] }
            // After a gap the earlier events are useless.
            if case .missed = event { state.events = [] }
            state.events.append(event)
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Ends the queue after its pending events.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.waiter.resume(returning: nil) }
    }

    /// The next event; nil at the end, and when the task is cancelled.
    func next() async -> NotificationEvent? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let event = state.withLock { state -> NotificationEvent?? in
                    if let event = state.events.popFirst() { return event }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    state.waiters.append((id, waiter))
                    return nil
                }
                if let event { waiter.resume(returning: event) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).waiter }
            }
            waiter?.resume(returning: nil)
        }
    }
}
