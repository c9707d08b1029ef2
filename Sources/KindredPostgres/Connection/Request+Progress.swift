extension Request {
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

    /// How far the answer to a request has come that was sent.
    struct Progress {
        var steps = Few<Step>()
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
    }

    var currentStep: Step? {
        progress.step < progress.steps.count ? progress.steps[progress.step] : nil
    }

    /// The first error of a request is its error; what follows is a consequence.
    func fail(_ error: PostgresError, at position: Int?) {
        guard progress.error == nil else { return }
        progress.error = error
        progress.failedPosition = position
    }

    /// How many statements were executed; of a script that is no COPY it is not known, and taken to be all.
    var executedCount: Int { script != nil && copy == nil ? .max : progress.results.count }

    /// What the caller gets once everything has been answered.
    var outcome: Result<[QueryResult], any Error> {
        guard let error = progress.error else {
            return .success(hiddenCount == 0 ? progress.results : Array(progress.results.dropFirst(hiddenCount)))
        }
        if let stop, error.sqlState == .queryCanceled || error.code == .connectionLost {
            return .failure(stopped(stop, error))
        }
        return .failure(error.of(statement: text(at: progress.failedPosition)))
    }

    /// The caller, taken out of a request that keeps its place without anybody who waits for it.
    func takeWaiter() -> Request {
        defer { waiter = nil }
        return Request(id: id, statements: statements, traits: traits, waiter: waiter)
    }
}
