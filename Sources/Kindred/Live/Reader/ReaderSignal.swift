import KindredPostgres

/// Wakes the change reader's loop.
final class ReaderSignal: Sendable {
    private struct State {
        /// A task of the process waits for a step.
        var isAsked = false
        /// The server said that something has changed.
        var isNotified = false
    }

    /// A wish says whether notifications count, too.
    private let queue = WaitQueue<State, Bool, Void>(State(), order: .any) { state, hearsNotifications in
        guard state.isAsked || hearsNotifications && state.isNotified else { return nil }
        state = State()
        return ()
    }

    func ask() { queue.change { $0.isAsked = true } }

    func notify() { queue.change { $0.isNotified = true } }

    /// Returns at a signal, or after some time; returns whether there was a signal.
    func wait(_ duration: Duration, hearsNotifications: Bool) async -> Bool {
        do {
            try await queue.wait(for: hearsNotifications, by: .now + duration)
            return true
        } catch {
            return false
        }
    }
}
