import Synchronization

extension PostgresClient {
    /// Waits until the client is closed or the task is cancelled, and then closes it.
    ///
    /// For a task of the program's own. In a `ServiceGroup` use `DatabaseService` of `KindredService`, which also ends when the
    /// group shuts down gracefully; this would wait for ever then. The client can be used without either.
    public func run() async throws {
        await closing.wait()
        await close()
    }

    /// Waits until the client is closed or the task is cancelled.
    package func waitForClosing() async {
        await closing.wait()
    }
}

/// Tells the tasks that wait that a client closes.
final class ClosingSignal: Sendable {
    private struct State {
        var isOver = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    func send() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the signal or for the task's cancellation.
    func wait() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.isOver || Task.isCancelled { return true }
                    state.waiters[id] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
