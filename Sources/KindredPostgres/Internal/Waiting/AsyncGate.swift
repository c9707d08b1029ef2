/// A fair (FIFO) lock for tasks that blocks no thread; with several places a semaphore.
package final class AsyncGate: Sendable {
    /// The number of free places.
    ///
    /// A place is handed over, so that no task overtakes the first waiter.
    private let queue: WaitQueue<Int, Void, Void>

    package init(places: Int = 1) {
        queue = WaitQueue(places) { free, _ in
            guard free > 0 else { return nil }
            free -= 1
            return ()
        }
    }

    /// Waits for a place, also in a cancelled task, and holds it while `body` runs.
    package func withLock<T>(_ body: () async throws -> T) async rethrows -> T {
        if queue.answerNow(to: ()) == nil { await queue.waitShielded(for: ()) }
        defer { queue.change { $0 += 1 } }
        return try await body()
    }
}
