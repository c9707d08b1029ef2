/// A request that a connection has taken on, and how far its answer has come; it never leaves the connection's mutex.
///
/// What changes with each statement is not checked for overlapping accesses at run time, which takes 100 instructions each
/// time: methods here call nothing that could come back to the same request.
final class PendingRequest {
    /// Part of a request that the server answers by itself.
    enum Step {
        case prepare(StatementCache.Entry)
        /// `position` counts the request's statements.
        case execute(StatementCache.Entry?, position: Int)
        /// Tells the columns only.
        case describe(StatementCache.Entry?)
        /// Something that the connection does for itself.
        case discard
    }

    let request: Request
    /// How often it was sent before.
    let attempts: Int
    /// When the statement is cancelled.
    var deadline: MonotonicTime
    /// Why nobody wants the answer any more.
    var stop: Request.Stop?
    /// When its caller goes on without the server's word.
    var leaveAt = MonotonicTime.never
    /// Who has not been told yet.
    var parties = Completion.Parties.all
    @exclusivity(unchecked) var steps = [Step]()
    /// The step whose answer comes next.
    @exclusivity(unchecked) var step = 0
    /// Whether that step's answer has begun.
    var hasAnswer = false
    @exclusivity(unchecked) private(set) var results: [QueryResult] = []
    /// The first error.
    var error: PostgresError?
    /// The statement that failed with the first error.
    var failedPosition: Int?
    /// Whether another request's cancellation may have hit this one.
    var mayBeHit = false
    /// Whether it failed only because a prepared statement no longer fits the schema or is gone.
    var isStale = false
    /// In which direction data is copied at the moment.
    var copyPhase: CopyOperation.Direction?
    /// Whether data was thrown away that the server copied.
    var isCut = false

    init(_ request: Request, deadline: MonotonicTime = .never, attempts: Int = 0) {
        self.request = request
        self.deadline = deadline
        self.attempts = attempts
    }

    /// Whether somebody waits for the answer.
    var isAwaited: Bool {
        parties.contains(.caller) && stop == nil
            && (request.waiter != nil || request.onAnswer != nil || request.copy != nil)
    }

    var currentStep: Step? { step < steps.count ? steps[step] : nil }

    /// The statement that the step after the current one executes.
    var positionAfterStep: Int? {
        guard step + 1 < steps.count, case .execute(_, let position) = steps[step + 1] else { return nil }
        return position
    }

    /// Notes the result of a statement.
    func append(_ result: QueryResult) {
        // Mostly there is one, and an array made for it takes 200 instructions less than one that grows.
        if results.isEmpty { results = [result] } else { results.append(result) }
    }

    /// The first error of a request is its error; what follows is a consequence.
    func fail(_ error: PostgresError, at position: Int?) {
        guard self.error == nil else { return }
        self.error = error
        failedPosition = position
    }

    /// Takes in that the session is in no transaction any more, though the request is part of one.
    func transactionHasEnded() {
        // Without its BEGIN there was none.
        guard results.count >= request.hiddenCount else { return }
        error = .transactionBroken(error)
        failedPosition = nil
    }

    /// Takes in that the session is in a transaction after COMMIT, which no server says.
    func leftTransaction() {
        error = PostgresError(
            .commitUnknown,
            """
            The session is in a transaction after COMMIT; the connection was closed: the transaction may have taken effect or not
            """)
    }

    /// How many statements were executed; of a script that is no COPY it is not known, and taken to be all.
    private var executedCount: Int { request.script != nil && request.copy == nil ? .max : results.count }

    /// The end of the request, with a failure that is not its own statements'.
    func completion(_ error: any Error, executedCount: Int = 0) -> Completion {
        Completion(request: request, result: .failure(error), executedCount: executedCount, parties: parties)
    }

    /// The end of the request, once everything has been answered.
    var completion: Completion {
        Completion(request: request, result: outcome, executedCount: executedCount, parties: parties)
    }

    /// What the caller gets once everything has been answered.
    private var outcome: Result<[QueryResult], any Error> {
        guard let error else {
            if request.traits.end == .commit, stop != nil {
                return .failure(
                    PostgresError(
                        .commitUnknown,
                        "COMMIT took longer than allowed: the transaction took effect, but its standbys may not have it",
                        statement: request.text()))
            }
            // The server may have copied all of it before it heard of the stop; what was thrown away is missing.
            if isCut, let stop { return .failure(request.stopped(stop, nil)) }
            let hidden = request.hiddenCount
            return .success(hidden == 0 ? results : Array(results.dropFirst(hidden)))
        }
        if request.traits.end == .commit, error.code == .server, results.count == request.statements.count {
            return .failure(
                PostgresError(
                    .commitUnknown,
                    "The server reported an error after it had confirmed COMMIT: the transaction may have taken effect or not",
                    statement: request.text(), underlying: [error.description]))
        }
        if let stop, error.sqlState == .queryCanceled || error.code == .connectionLost {
            return .failure(request.stopped(stop, error))
        }
        return .failure(error.of(statement: request.text(at: failedPosition)))
    }
}
