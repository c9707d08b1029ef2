/// A request that a connection has taken, and its progress; never leaves the connection's mutex.
///
/// Fields that change with each statement skip the exclusivity check, which costs 100 instructions each time: no method
/// here calls back into the same request.
final class PendingRequest {
    /// A part of a request with an answer of its own.
    enum Step {
        case prepare(StatementCache.Entry)
        /// `position` is the statement's index.
        case execute(StatementCache.Entry?, position: Int)
        /// Returns the columns only.
        case describe(StatementCache.Entry?)
        /// An internal statement of the connection.
        case discard
        /// A statement that puts the session back, under the Sync of the request.
        case reset

        /// The case's name, without the statement.
        var kind: String {
            switch self {
            case .prepare: "prepare"
            case .execute(_, let position): "execute \(position)"
            case .describe: "describe"
            case .discard: "discard"
            case .reset: "reset"
            }
        }
    }

    let request: Request
    /// The number of times it was sent before.
    let attempts: Int
    /// When the statement is cancelled.
    var deadline: MonotonicTime
    /// The reason why the answer is no longer wanted.
    var stop: Request.Stop?
    /// When the caller of a stopped request goes on without the server's confirmation.
    var leaveAt = MonotonicTime.never
    /// The parties not yet notified.
    var parties = Completion.Parties.all
    @safe @exclusivity(unchecked) var steps = SmallArray<Step>()
    /// The step that is answered next.
    @safe @exclusivity(unchecked) var step = 0
    /// Whether that step's answer has begun.
    var hasAnswer = false
    @safe @exclusivity(unchecked) private(set) var results: [QueryResult] = []
    /// The first error.
    var error: PostgresError?
    /// The statement that failed with the first error.
    var failedPosition: Int?
    /// Whether a cancel request for another statement may have hit it.
    var mayBeHit = false
    /// Whether it failed only because of a stale or unknown prepared statement.
    var isStale = false
    /// The direction of the running COPY.
    var copyPhase: CopyOperation.Direction?
    /// Whether copied data was discarded.
    var isCut = false
    /// Whether the data of a COPY was ended with a failure, so that nothing of it is stored.
    var isCopyUndone = false
    /// Whether it puts the session back.
    var isReset = false
    /// Whether the transaction that puts the session back had begun before the error.
    var isResetBegun = false

    init(_ request: Request, deadline: MonotonicTime = .never, attempts: Int = 0) {
        self.request = request
        self.deadline = deadline
        self.attempts = attempts
    }

    /// Whether a caller needs the answer, also the answer to a cancellation; a question behind a request has no caller
    /// of its own.
    var isAwaited: Bool {
        parties.contains(.caller)
            && (request.waiter != nil || request.copy != nil || request.onAnswer != nil && request.lease != nil)
    }

    /// Whether it may take effect although its answer is missing; not a COPY whose data has not come to its end.
    var mayTakeEffect: Bool { request.mayTakeEffect && copyPhase != .input && !isCopyUndone }

    /// The error of the stopped request, given the server's error, if any.
    func stopped(_ stop: Request.Stop, _ error: PostgresError?) -> any Error {
        request.stopped(stop, error, mayTakeEffect: mayTakeEffect)
    }

    var currentStep: Step? { step < steps.count ? steps[step] : nil }

    /// The statement that the next step executes.
    var positionAfterStep: Int? {
        guard step + 1 < steps.count, case .execute(_, let position) = steps[step + 1] else { return nil }
        return position
    }

    /// Adds the result of a statement.
    func append(_ result: QueryResult) {
        // There is mostly one; an array literal takes 200 instructions less than an append.
        if results.isEmpty { results = [result] } else { results.append(result) }
    }

    /// Records an error; the first counts, later errors are consequences.
    func fail(_ error: PostgresError, at position: Int?) {
        guard self.error == nil else { return }
        self.error = error
        failedPosition = position
    }

    /// Handles that the session has left the request's transaction.
    func transactionHasEnded() {
        // Before its BEGIN took effect there was no transaction.
        guard results.count >= request.hiddenCount else { return }
        error = .transactionBroken(error)
        failedPosition = nil
    }

    /// Handles that the server has stopped its wait for a synchronous standby.
    func wasNotReplicated() {
        fail(
            PostgresError(
                .commitUnknown,
                "The wait for a synchronous standby was cancelled: the server has committed, but its standbys may not have it"
            ), at: nil)
    }

    /// Handles that the session is in another transaction after COMMIT.
    func leftTransaction() {
        error = PostgresError(
            .commitUnknown,
            """
            The session is in a transaction after COMMIT; the connection was closed: the transaction may have taken effect or not
            """)
    }

    /// The number of executed statements; for a script other than COPY it is unknown, and counts as all statements.
    private var executedCount: Int { request.script != nil && request.copy == nil ? .max : results.count }

    /// Completes the request with a failure of the connection.
    func completion(_ error: any Error, executedCount: Int = 0) -> Completion {
        Completion(request: request, result: .failure(error), executedCount: executedCount, parties: parties)
    }

    /// Completes the answered request.
    var completion: Completion {
        Completion(request: request, result: outcome, executedCount: executedCount, parties: parties)
    }

    /// The caller's result.
    private var outcome: Result<[QueryResult], any Error> {
        guard let error else {
            if request.traits.end == .commit, stop != nil {
                return .failure(
                    PostgresError(
                        .commitUnknown,
                        "COMMIT timed out: the transaction took effect, but its standbys may not have it",
                        statement: request.text()))
            }
            // The server has finished the COPY before the stop; the discarded data is missing.
            if isCut, let stop { return .failure(stopped(stop, nil)) }
            return .success(request.own(results))
        }
        if request.traits.end == .commit, error.code == .server, results.count == request.statements.count {
            return .failure(
                PostgresError(
                    .commitUnknown,
                    "The server reported an error after confirming COMMIT: the transaction may or may not have taken effect",
                    statement: request.text(), underlying: [error.description]))
        }
        if let stop, error.sqlState == .queryCanceled || error.code == .connectionLost {
            return .failure(stopped(stop, error))
        }
        if let failedPosition, request.makesSettings(at: failedPosition),
            let refusal = PostgresError.refusal(ofSettings: error)
        {
            return .failure(refusal)
        }
        let mayHaveTakenEffect = error.mayHaveTakenEffect || request.mayTakeEffectInPart
        return .failure(error.of(statement: request.text(at: failedPosition), mayHaveTakenEffect: mayHaveTakenEffect))
    }
}
