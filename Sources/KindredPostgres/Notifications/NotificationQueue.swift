import DequeModule
import Synchronization

/// The events of one subscriber that nobody has taken yet.
final class NotificationQueue: Sendable {
    private struct State {
        var events: Deque<NotificationEvent> = []
        var waiters: Deque<(id: Int, waiter: CheckedContinuation<NotificationEvent?, Never>)> = []
        var lastWaiter = 0
        var isFinished = false
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds an event; if there are too many, they give way to the remark that some are missing.
    func append(_ event: NotificationEvent) {
        let waiter = state.withLock { state -> CheckedContinuation<NotificationEvent?, Never>? in
            if state.isFinished { return nil }
            if let first = state.waiters.popFirst() { return first.waiter }
            if state.events.count >= capacity { state.events = [.missed(.overflow)] }
            // A loss of the connection makes what came before it useless too.
            if case .missed = event { state.events = [] }
            state.events.append(event)
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Lets what is there be taken, and then nothing more.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.waiter.resume(returning: nil) }
    }

    /// The next event; nil at the end and when the task is cancelled.
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
