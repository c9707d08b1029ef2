/// A request's result, collected under the mutex and delivered outside of it.
struct Completion {
    /// The parties that await a request's end.
    struct Parties: OptionSet {
        let rawValue: UInt8
        /// The caller, with its COPY.
        static let caller = Parties(rawValue: 1)
        /// The pool, which takes the share of the connection back.
        static let pool = Parties(rawValue: 2)
        static let scope = Parties(rawValue: 4)
        static let all: Parties = [.caller, .pool, .scope]
    }

    let request: Request
    let result: Result<[QueryResult], any Error>
    /// The number of statements that the server has executed.
    var executedCount = 0
    var parties = Parties.all

    /// The number of scope openings that took effect; all of them unless known otherwise.
    private var openedCount: Int {
        if case .failure(let error) = result, !(error is ConnectionGone) {
            return min(executedCount, request.hiddenCount)
        }
        return request.hiddenCount
    }

    /// Gives a shared connection back, then the caller its answer.
    ///
    /// On this thread, so that the next waiter does not depend on the caller's task.
    func finish() {
        if let lease = request.lease, parties.contains(.pool) { lease.giveBack() }
        if let scope = request.scope, parties.contains(.scope) {
            scope.openingEnded(openedCount, of: request.hiddenCount)
        }
        guard parties.contains(.caller) else { return }
        request.onAnswer?(result)
        request.waiter?.resume(with: result)
        request.copy?.finish(result)
    }
}
