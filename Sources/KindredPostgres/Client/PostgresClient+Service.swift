import Synchronization

extension PostgresClient {
    /// Waits until the client is closed or the task is cancelled, then closes the client.
    ///
    /// Optional; for a task of the program's own. In a `ServiceGroup` use `DatabaseService` of `KindredService`: this
    /// method does not notice a graceful shutdown.
    public func run() async throws {
        await closing.wait()
        await close()
    }

    /// Waits until the client is closed or the task is cancelled.
    package func waitForClosing() async {
        await closing.wait()
    }
}

/// Wakes the waiters when a client closes.
final class ClosingSignal: Sendable {
    private struct State {
        var isOver = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
    }

    private let state = RankedMutex(State(), .leaf)

    func send() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the signal or the task's cancellation.
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
