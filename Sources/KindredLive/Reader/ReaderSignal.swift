import Kindred
import KindredPostgres

/// Wakes the change reader's loop.
final class ReaderSignal: Sendable {
    private struct State {
        /// A task of the process waits for a step.
        var isAsked = false
        /// A step is wished for, which can wait for the end of a pause.
        var isWished = false
        /// The server said that something has changed.
        var isNotified = false
    }

    /// A wish says whether all signals count, or only waiting tasks; the answer, whether the server has notified.
    private let queue = WaitQueue<State, Bool, Bool>(State(), order: .any) { state, hearsAll in
        guard state.isAsked || hearsAll && (state.isWished || state.isNotified) else { return nil }
        defer { state = State() }
        return state.isNotified
    }

    func ask() { queue.change { $0.isAsked = true } }

    func wish() { queue.change { $0.isWished = true } }

    func notify() { queue.change { $0.isNotified = true } }

    /// Returns at a signal, or after some time; returns whether the server notified.
    @discardableResult
    func wait(_ duration: Duration, hearsAll: Bool) async -> Bool {
        if let isNotified = try? await queue.wait(for: hearsAll, by: .now + duration) { return isNotified }
        // The caller's next step fulfils the wish.
        queue.change { $0.isWished = false }
        return false
    }
}
