import Synchronization

/// The position to which the log has to be replayed to show a context's writes and reads.
package final class PositionRecord: Sendable {
    /// The place that a read needs.
    enum Need: Equatable {
        /// Any.
        case none
        case position(DatabasePosition)
        /// A write, by its time, which replicas may not show yet.
        case recent(DatabasePosition)
        /// Nothing is known of a write, so that only the primary is certain to show it.
        case unknown
    }

    private struct State {
        /// As servers have told it.
        var seen: DatabasePosition?
        /// As a client has told it, until the primary has been asked.
        var token: DatabasePosition?
        /// The number of writes and reads whose position the primary has not told.
        var unknowns = 0
        /// The number of such writes and reads that a later position covers.
        var covered = 0
        /// The last write where no positions are told, and when replicas show it.
        var written: (at: DatabasePosition, isShownAt: MonotonicTime)?
        /// Whether a token was ignored that the primary has not reached.
        var hasIgnored = false
        /// The rest of the time for which reads may wait for replicas.
        var budget: Duration = .milliseconds(20)

        var isUnknown: Bool { covered < unknowns }

        var need: Need {
            if isUnknown { return .unknown }
            guard let token else { return seen.map { .position($0) } ?? .none }
            guard let seen else { return .position(token) }
            return .position(seen.isComparable(with: token) && seen.location < token.location ? token : seen)
        }

        /// Never goes back within a log; a position of another timeline replaces positions of earlier timelines.
        mutating func raise(to position: DatabasePosition) {
            if let seen, seen.system == position.system,
                (seen.timeline, seen.location) >= (position.timeline, position.location)
            {
                return
            }
            seen = position
        }
    }

    private let state: RankedMutex<State>
    /// Whether the primary's position is also asked for behind reads, so that a replica never shows older rows.
    let coversReads: Bool

    /// The time in which replicas show a write; nil where the server tells positions.
    let delay: Duration?

    /// - Parameters:
    ///   - token: the position that another request has handed on. Where the server tells positions, a time leads to the
    ///     primary, which tells a position. Where it tells none, a position counts as the time of a write just now, and
    ///     so does a time in the future.
    ///   - coversReads: whether reads of the primary raise the position too.
    ///   - delay: the time in which replicas show a write; nil where the server tells positions.
    package init(after token: DatabasePosition? = nil, coversReads: Bool = false, delay: Duration? = nil) {
        self.coversReads = coversReads
        self.delay = delay
        var start = State()
        if let delay, let token {
            let age = token.age ?? .zero
            start.written = (
                at: age > .zero ? token : DatabasePosition.now,
                isShownAt: MonotonicTime.now + max(.zero, delay - age)
            )
        } else if let token, token.isTime {
            start.unknowns = 1
        } else {
            start.token = token
        }
        state = RankedMutex(start, .leaf)
    }

    var need: Need {
        state.withLock { state in
            guard delay != nil else { return state.need }
            guard let written = state.written, written.isShownAt > MonotonicTime.now else { return .none }
            return .recent(written.at)
        }
    }

    /// The position that the context has come to; nil while nothing is known.
    package var position: DatabasePosition? {
        if case .position(let position) = need { position } else { nil }
    }

    /// The token of the next request; nil where it may read any replica.
    package var token: DatabasePosition? {
        switch need {
        case .none: nil
        case .position(let position), .recent(let position): position
        case .unknown: DatabasePosition.now
        }
    }

    /// The mark of a question that is asked from now on, for `learn(_:since:)`.
    var mark: Int { state.withLock { $0.unknowns } }

    /// Takes the place in the primary's log behind a write, or behind a read; nil if the primary has not told it.
    ///
    /// - Parameter mark: the mark of a time before the primary was asked; positions that became unknown later stay
    ///   unknown.
    package func learn(_ position: DatabasePosition?, since mark: Int? = nil) {
        state.withLock { state in
            if let delay {
                return state.written = (at: DatabasePosition.now, isShownAt: MonotonicTime.now + delay)
            }
            guard let position, !position.isTime else { return state.unknowns += 1 }
            // Later than everything that the context has done, and than the token's position, if the token is genuine.
            state.covered = max(state.covered, mark ?? state.unknowns)
            if let token = state.token.take(), token.isComparable(with: position), token.location > position.location {
                state.hasIgnored = true
            }
            state.raise(to: position)
        }
    }

    /// Whether a position is wanted behind statements of the primary.
    func isRaised(byWriting mayWrite: Bool) -> Bool { mayWrite || coversReads && delay == nil }

    /// Whether a token was ignored that the primary has not reached; once.
    func takeIgnored() -> Bool {
        state.withLock { state in
            defer { state.hasIgnored = false }
            return state.hasIgnored
        }
    }

    /// Takes the place that a replica had replayed behind a read.
    func learn(replayed position: DatabasePosition) {
        state.withLock { $0.raise(to: position) }
    }

    /// The time that a read may wait for a replica.
    var budget: Duration { state.withLock { $0.budget } }

    func spend(_ time: Duration) { state.withLock { $0.budget -= time } }
}
