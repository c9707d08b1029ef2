import DequeModule
import Synchronization

/// A fair (FIFO) lock for tasks that blocks no thread.
package final class AsyncGate: Sendable {
    private struct State {
        var isHeld = false
        var waiters: Deque<CheckedContinuation<Void, Never>> = []
    }

    private let state = RankedMutex(State(), .leaf)

    package init() {}

    package func withLock<T>(_ body: () async throws -> T) async rethrows -> T {
        if !tryAcquire() { await wait() }
        defer { release() }
        return try await body()
    }

    private func tryAcquire() -> Bool {
        state.withLock { state in
            if state.isHeld { return false }
            state.isHeld = true
            return true
        }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isHeld {
                    state.waiters.append(continuation)
                    return false
                }
                state.isHeld = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func release() {
        // The lock is handed over, not opened, so that no task overtakes the first waiter.
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.isHeld = false }
            return next
        }
        next?.resume()
    }
}
