import KindredPostgres

/// Limits the number of test databases in use: tests run in parallel without limit, but a server's connections are limited.
struct TestSlots: Sendable {
    /// Taken before a test without arguments begins.
    static let tests = TestSlots(count: 10)

    /// Taken by a case of a test with arguments, which has begun by then.
    ///
    /// Not the same slots: where the runner limits how many cases run at once, tests that hold all slots would wait for
    /// cases that wait for a slot.
    static let cases = TestSlots(count: 6)

    /// Whether the current task's test holds a slot.
    @TaskLocal static var isHeld = false

    private let gate: AsyncGate

    init(count: Int) {
        gate = AsyncGate(places: count)
    }

    /// Waits for a slot, runs `body`, and passes the slot on.
    func withSlot<T>(_ body: () async throws -> T) async rethrows -> T {
        try await gate.withLock { try await Self.$isHeld.withValue(true) { try await body() } }
    }
}
