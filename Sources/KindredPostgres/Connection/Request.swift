import Synchronization

/// What a connection does at one time for one caller: statements that share a Sync, and the caller who waits.
///
/// A class, so that the hands it goes through move one pointer.
final class Request: @unchecked Sendable {
    // Unchecked: one thread at a time has it. It belongs to the task that makes it until it is enqueued, then to whoever
    // has the mutex of its scope, of the connection's inbox or of the connection's state, and with its `Completion` to
    // the thread that hands out the answer.

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
        /// The statements are not executed: their results are empty and tell the columns.
        var isDescription = false
    }

    /// Why the caller no longer wants the answer.
    enum Stop {
        case cancelled, timedOut
        /// The result is larger than allowed.
        case tooLarge
    }

    let id: ID
    private(set) var statements: [Statement]
    /// A script of several statements to send in the simple protocol, instead of statements.
    let script: String?
    let traits: Traits
    /// The data to copy, if the script is a COPY.
    var copy: CopyOperation?
    /// The share of a connection to give back with the answer.
    var lease: ConnectionPool.Lease?
    /// The scope that the first statements open, and perhaps those around it.
    var scope: PostgresTransaction?
    /// How many statements at the beginning are not the caller's, who does not see their results.
    private(set) var hiddenCount = 0
    /// The ceiling on a result, for the error that says so.
    var maximumResultSize = 0
    /// When the statement is cancelled.
    var deadline = MonotonicTime.never
    /// Who waits for the answer; nil once the caller gave up, and for what the connection does for itself.
    var waiter: CheckedContinuation<[QueryResult], any Error>?
    /// Is told the answer, before those of the requests behind it; for what nobody waits for.
    var onAnswer: (@Sendable (Result<[QueryResult], any Error>) -> Void)?
    var stop: Stop?
    /// How often it was sent before.
    var attempts = 0
    /// How far the answer has come since it was sent.
    var progress = Progress()

    init(
        id: ID,
        statements: [Statement],
        script: String? = nil,
        traits: Traits,
        lease: ConnectionPool.Lease? = nil,
        waiter: CheckedContinuation<[QueryResult], any Error>?
    ) {
        self.id = id
        self.statements = statements
        self.script = script
        self.traits = traits
        self.lease = lease
        self.waiter = waiter
    }

    /// Puts statements in front, whose results the caller does not see.
    func prefix(with statements: [Statement]) {
        guard !statements.isEmpty else { return }
        self.statements.insert(contentsOf: statements, at: 0)
        hiddenCount += statements.count
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
        case .tooLarge: Self.tooLarge(limit: maximumResultSize, isExecuted: false).of(statement: text())
        case .cancelled: CancellationError()
        case .timedOut:
            PostgresError(
                .timeout, "The statement took longer than allowed and was cancelled",
                sqlState: error?.sqlState, server: error?.server, statement: text())
        }
    }
}

/// A request and what came of it, collected under the mutex and handed out after it.
struct Completion {
    let request: Request
    let result: Result<[QueryResult], any Error>
    /// How many of its statements the server has executed.
    var executedCount = 0

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
        if let lease = request.lease { lease.pool.release(lease) }
        request.scope?.openingEnded(openedCount, of: request.hiddenCount)
        request.onAnswer?(result)
        request.waiter?.resume(with: result)
        request.copy?.finish(result)
    }
}
