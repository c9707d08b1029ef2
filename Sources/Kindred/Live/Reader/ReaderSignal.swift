import KindredPostgres

/// Wakes the change reader's loop.
final class ReaderSignal: Sendable {
    private struct State {
        /// A task of the process waits for a step.
        var isAsked = false
        /// The server said that something has changed.
        var isNotified = false
    }

    /// A wish says whether notifications count, too; the answer, whether there was one.
    private let queue = WaitQueue<State, Bool, Bool>(State(), order: .any) { state, hearsNotifications in
        guard state.isAsked || hearsNotifications && state.isNotified else { return nil }
        defer { state = State() }
        return state.isNotified
    }

    func ask() { queue.change { $0.isAsked = true } }

    func notify() { queue.change { $0.isNotified = true } }

    /// Returns at a signal, or after some time; returns whether the server notified.
    @discardableResult
    func wait(_ duration: Duration, hearsNotifications: Bool) async -> Bool {
        (try? await queue.wait(for: hearsNotifications, by: .now + duration)) ?? false
    }
}
