import Synchronization

/// What a connection does at one time for one caller: statements that share a Sync, and the caller who waits.
///
/// A class, as it goes through many hands.
final class Request: Sendable {
    /// Identifies requests of all connections, so that a task's can be told from others' when it is cancelled.
    typealias ID = UInt64

    /// What may be done with a request when something other than its own failure comes in between.
    struct Traits: Sendable {
        /// The statements are a transaction of their own, which is undone as a whole if one fails.
        var isAutocommit = false
        /// The caller may go away before the answer is in.
        var mayLeave = false
        /// Sending the statements once more does nothing twice if their transaction was undone.
        var mayRepeat = false
        /// It belongs to a transaction that was begun before it, or by its hidden statements.
        var isInTransaction = false
        /// It ends the transaction.
        var end: TransactionEnd?
        /// The statements are not executed: their results are empty and tell the columns.
        var isDescription = false
        /// It undoes what was done before, or asks for a sign of life: without an answer in time the connection is closed.
        var isUndoing = false
    }

    /// How a transaction is ended; the session is in none afterwards.
    enum TransactionEnd {
        /// Once the server was asked to stop it, its success is one without the standbys it waited for.
        case commit
        case rollback
    }

    /// Why the caller no longer wants the answer.
    enum Stop {
        case cancelled, timedOut
        /// The result is larger than allowed, in bytes.
        case tooLarge(limit: Int)
    }

    let id: ID
    let statements: [Statement]
    /// How many statements at the beginning are not the caller's, who does not see their results.
    let hiddenCount: Int
    /// A script of several statements to send in the simple protocol, instead of statements.
    let script: String?
    let traits: Traits
    /// The data to copy, if the script is a COPY.
    let copy: CopyOperation?
    /// The share of a connection to give back with the answer.
    let lease: ConnectionPool.Lease?
    /// The scope that the hidden statements open, and perhaps those around it.
    let scope: PostgresTransaction?
    /// Who waits for the answer; nil for what the connection does for itself.
    let waiter: CheckedContinuation<[QueryResult], any Error>?
    /// Is told the answer, before those of the requests behind it; for what nobody waits for.
    let onAnswer: (@Sendable (Result<[QueryResult], any Error>) -> Void)?

    init(
        id: ID = Request.nextID(),
        statements: [Statement],
        script: String? = nil,
        traits: Traits = .init(),
        copy: CopyOperation? = nil,
        lease: ConnectionPool.Lease? = nil,
        waiter: CheckedContinuation<[QueryResult], any Error>? = nil,
        onAnswer: (@Sendable (Result<[QueryResult], any Error>) -> Void)? = nil
    ) {
        self.id = id
        self.statements = statements
        hiddenCount = 0
        self.script = script
        self.traits = traits
        self.copy = copy
        self.lease = lease
        scope = nil
        self.waiter = waiter
        self.onAnswer = onAnswer
    }

    /// The same request, with the statements in front that open its scope.
    init(_ request: Request, after openings: [Statement], of scope: PostgresTransaction) {
        id = request.id
        statements = openings + request.statements
        hiddenCount = openings.count
        script = request.script
        traits = request.traits
        copy = request.copy
        lease = request.lease
        self.scope = scope
        waiter = request.waiter
        onAnswer = request.onAnswer
    }

    private static let lastID = Atomic<ID>(0)

    /// An identifier that was never used in this process.
    static func nextID() -> ID {
        lastID.add(1, ordering: .relaxed).newValue
    }

    /// The text to name in errors: that of a statement, or of the first that is the caller's.
    func text(at position: Int? = nil) -> String? {
        let position = position ?? hiddenCount
        return statements.indices.contains(position) ? statements[position].text.text : nil
    }

    /// Whether it relies on a transaction that was begun before it.
    var continuesTransaction: Bool { traits.isInTransaction && hiddenCount == 0 }

    /// How many bytes it takes to send the request, about.
    var size: Int { statements.reduce(script?.utf8.count ?? 0) { $0 + $1.bindings.totalBytes } }

    /// Tells the caller that the request was not sent.
    func refuse(_ error: any Error) {
        waiter?.resume(throwing: error)
        copy?.finish(.failure(error))
    }

    /// What the caller gets if the request was stopped, because of an error that the server may have given for it.
    func stopped(_ stop: Stop, _ error: PostgresError?) -> any Error {
        switch stop {
        case .tooLarge(let limit): Self.tooLarge(limit: limit, isExecuted: false).of(statement: text())
        case .cancelled: CancellationError()
        case .timedOut:
            PostgresError(
                .timeout, "The statement took longer than allowed and was cancelled",
                sqlState: error?.sqlState, server: error?.server, statement: text())
        }
    }
}

/// Decides when a request is sent, and whether it still is.
protocol RequestScope: Sendable {
    func send(_ request: Request, by deadline: MonotonicTime)

    /// Takes a request out that waits for its turn; false if it does not wait.
    func cancel(_ id: Request.ID) -> Bool
}

/// A request and what came of it, collected under the mutex and handed out after it.
struct Completion {
    /// Those who wait for a request's end.
    struct Parties: OptionSet {
        let rawValue: UInt8
        /// The caller, and the COPY that is the caller's.
        static let caller = Parties(rawValue: 1)
        /// The pool, for the share of the connection.
        static let pool = Parties(rawValue: 2)
        static let scope = Parties(rawValue: 4)
        static let all: Parties = [.caller, .pool, .scope]
    }

    let request: Request
    let result: Result<[QueryResult], any Error>
    /// How many of its statements the server has executed.
    var executedCount = 0
    var parties = Parties.all

    /// How many statements that open scopes took effect; all of them, as long as that is not known to be otherwise.
    private var openedCount: Int {
        if case .failure(let error) = result, !(error is ConnectionGone) {
            return min(executedCount, request.hiddenCount)
        }
        return request.hiddenCount
    }

    /// Gives the connection back, if the request had only a share of it, and then the answer to the caller.
    ///
    /// In this order and on this thread, so that the next in the queue does not depend on the caller's task.
    func finish() {
        if let lease = request.lease, parties.contains(.pool) { lease.pool.release(lease) }
        if let scope = request.scope, parties.contains(.scope) {
            scope.openingEnded(openedCount, of: request.hiddenCount)
        }
        guard parties.contains(.caller) else { return }
        request.onAnswer?(result)
        request.waiter?.resume(with: result)
        request.copy?.finish(result)
    }
}
