public import Kindred
import KindredPostgres

/// Why a live request gives an update.
public enum LiveCause: Sendable, Hashable {
    /// It is the first update.
    case first
    /// Rows were changed.
    case change
    /// It is the first update of a request with a cursor, and the client has this list already.
    case unchanged
    /// Rows were changed, and it is not known which: the request was asked anew.
    ///
    /// As the first update of a request with a cursor: the client gets the whole list.
    case everything(Tracking.Gap)

    /// The cause of two updates in one.
    func merged(with later: LiveCause) -> LiveCause {
        switch (self, later) {
        case (.everything, _), (.first, _), (.unchanged, _): self
        case (_, .everything): later
        default: .change
        }
    }
}

/// An answer as it is given to consumers.
struct LiveAnswer: Sendable {
    /// The request in the model by which it was answered.
    var query: LiveQuery
    var snapshot: LiveSnapshot
    var cause: LiveCause
    var cursor: ChangeCursor
}

/// One iteration over a live request: it has the newest answer only, and is never waited for.
final class LiveConsumer: Sendable {
    private struct State: Sendable {
        var next: LiveAnswer?
        var error: (any Error)?
    }

    /// The request as it was begun.
    let query: LiveQuery
    /// Whether the program has objects of a class.
    let isTyped: Bool
    private let answers: WaitQueue<State, Void, Result<LiveAnswer, any Error>>

    init(_ query: LiveQuery, isTyped: Bool = false) {
        (self.query, self.isTyped) = (query, isTyped)
        answers = WaitQueue(State(), order: .any) { state, _ in
            // An answer that was found before an error is given before it.
            if let next = state.next {
                state.next = nil
                return .success(next)
            }
            return state.error.map { .failure($0) }
        }
    }

    /// The newest answer, as soon as one is there that was not given yet; throws `CancellationError` in a cancelled
    /// task.
    func next() async throws -> LiveAnswer { try await answers.wait(for: ()).get() }

    /// Replaces the answer that `next()` has not returned yet.
    func give(_ answer: LiveAnswer) {
        answers.change { state in
            var answer = answer
            if let waiting = state.next { answer.cause = waiting.cause.merged(with: answer.cause) }
            state.next = answer
        }
    }

    func fail(_ error: any Error) { answers.change { $0.error = $0.error ?? error } }
}
