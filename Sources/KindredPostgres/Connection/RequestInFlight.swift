/// A request that was sent, and how far its answer has come.
///
/// A class, so that taking in an answer moves no statements; it never leaves its connection's mutex.
final class RequestInFlight {
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

    var request: Request
    var steps: [Step] = []
    /// The step whose answer comes next.
    var step = 0
    /// Whether that step's answer has begun.
    var hasAnswer = false
    var results: [QueryResult] = []
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

    init(_ request: Request) {
        self.request = request
    }

    var currentStep: Step? { step < steps.count ? steps[step] : nil }

    /// The first error of a request is its error; what follows is a consequence.
    func fail(_ error: PostgresError, at position: Int?) {
        guard self.error == nil else { return }
        self.error = error
        failedPosition = position
    }

    /// How many statements were executed; of a script that is no COPY it is not known, and taken to be all.
    var executedCount: Int { request.script != nil && request.copy == nil ? .max : results.count }

    /// What the caller gets once everything has been answered.
    var outcome: Result<[QueryResult], any Error> {
        guard let error else {
            let hidden = request.hiddenCount
            return .success(hidden == 0 ? results : Array(results.dropFirst(hidden)))
        }
        if let stop = request.stop, error.sqlState == .queryCanceled || error.code == .connectionLost {
            return .failure(request.stopped(stop, error))
        }
        return .failure(error.of(statement: request.text(at: failedPosition)))
    }
}
