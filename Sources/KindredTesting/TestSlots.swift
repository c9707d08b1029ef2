import Synchronization

/// Limits the number of test databases in use: tests run in parallel without limit, but a server's connections are limited.
final class TestSlots: Sendable {
    /// Taken before a test without arguments begins.
    static let tests = TestSlots(count: 10)

    /// Taken by a case of a test with arguments, which has begun by then.
    ///
    /// Not the same slots: where the runner limits how many cases run at once, tests that hold all slots would wait for
    /// cases that wait for a slot.
    static let cases = TestSlots(count: 6)

    /// Whether the current task's test holds a slot.
    @TaskLocal static var isHeld = false

    private struct State {
        var free: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waits for a slot, runs `body`, and passes the slot on.
    func withSlot<T>(_ body: () async throws -> T) async rethrows -> T {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiters.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next: CheckedContinuation<Void, Never>? = state.withLock { state in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.free += 1
                return nil
            }
            next?.resume()
        }
        return try await Self.$isHeld.withValue(true) { try await body() }
    }
}
