/// A lock that one holder has at a time, with all of its tasks; blocks no thread.
///
/// Here and not beside its user: this module's optimizer specializes the queue, whose generic form costs thousands of
/// instructions for each context.
package final class AsyncTurn: Sendable {
    package typealias Holder = any AnyObject & Sendable

    private enum Outcome {
        case taken
        /// Another task of the same holder has taken the turn.
        case shared
    }

    /// The holder, and the tasks that wait for the turn.
    ///
    /// All tasks of the holder that gets it come in together.
    private let queue = WaitQueue<Holder?, Holder, Outcome>(nil, order: .any) { current, holder in
        if current === holder { return .shared }
        guard current == nil else { return nil }
        current = holder
        return .taken
    }

    package init() {}

    /// Waits for the turn; returns true if this call took it, false if the holder had it already.
    ///
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the timeout.
    package func acquire(for holder: Holder, within timeout: Duration) async throws -> Bool {
        if let outcome = queue.answerNow(to: holder) { return outcome == .taken }
        return try await queue.wait(for: holder, by: .now + timeout) == .taken
    }

    /// Ends the turn and gives it to the first waiter, with all waiters of the same holder.
    package func end() { queue.change { $0 = nil } }
}
