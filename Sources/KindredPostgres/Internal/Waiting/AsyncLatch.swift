/// An event that happens once, such as a client's end, and the tasks that wait for it.
package final class AsyncLatch: Sendable {
    private let queue = WaitQueue<Bool, Void, Void>(false, order: .any) { isOpen, _ in isOpen ? () : nil }

    package init() {}

    /// Notes the event; from then on no task waits.
    package func open() { queue.change { $0 = true } }

    /// Waits for the event; throws `CancellationError` in a cancelled task.
    package func wait() async throws { try await queue.wait(for: ()) }

    /// Waits for the event, also in a cancelled task.
    package func waitShielded() async { await queue.waitShielded(for: ()) }
}
