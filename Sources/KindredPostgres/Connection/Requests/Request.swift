import Synchronization

/// One caller's statements under a common Sync, and the caller's continuation.
///
/// A class: it is passed through many layers.
final class Request: Sendable {
    /// Identifies a request among the requests of all connections, to cancel it.
    typealias ID = UInt64

    /// How a request may be treated when its connection or another request fails.
    struct Traits: Sendable {
        /// The statements form a transaction of their own, rolled back as a whole if one fails.
        var isAutocommit = false
        /// The caller may go on before the answer arrives.
        var mayLeave = false
        /// Idempotent: may be sent again after its transaction was rolled back.
        var mayRepeat = false
        /// It belongs to a transaction begun before it, or by its hidden statements.
        var isInTransaction = false
        /// It belongs to a transaction that a later request commits.
        var isCommittedLater = false
        /// How it ends the transaction, if it does.
        var end: TransactionEnd?
        /// It is a transaction of its own from BEGIN to COMMIT, and the session is put back behind it under the same Sync.
        var isWhole = false
        /// The statements are only described: their results are empty and have the columns.
        var isDescription = false
        /// A rollback or liveness test: the connection is closed if it is not answered in time.
        var isUndoing = false
        /// The settings it runs with outside of transactions; in one it runs with that one's.
        var settings: SessionSettings?
        /// Asked behind it, in the same flush.
        var question: PositionQuestion?
        /// The read that it is sent for, if another server may answer that.
        var overdue: (any SupersedableRead)?
    }

    /// How a transaction is ended; the session is in none afterwards.
    enum TransactionEnd {
        /// Its success after a cancel request means that the standbys may not have confirmed.
        case commit
        case rollback
    }

    /// The reason why the answer is no longer wanted.
    enum Stop {
        case cancelled, timedOut
        /// Another server has answered the same read.
        case superseded
        /// The result is larger than this many bytes.
        case tooLarge(limit: Int)
    }

    let id: ID
    let statements: [Statement]
    /// The number of leading statements that open scopes and make settings; the caller does not see their results.
    let hiddenCount: Int
    /// A script to send in the simple protocol, instead of statements.
    let script: String?
    let traits: Traits
    /// The COPY, if the script is one.
    let copy: CopyOperation?
    /// The share of a connection, given back with the answer.
    let lease: (any ConnectionShare)?
    /// The innermost scope that the hidden statements open.
    let scope: (any OpenedScope)?
    /// The caller; nil for internal requests.
    let waiter: CheckedContinuation<[QueryResult], any Error>?
    /// Called with the answer, before the requests behind it are answered; for requests without a waiter.
    let onAnswer: (@Sendable (Result<[QueryResult], any Error>) -> Void)?

    init(
        id: ID = Request.nextID(),
        statements: [Statement],
        script: String? = nil,
        traits: Traits = .init(),
        copy: CopyOperation? = nil,
        lease: (any ConnectionShare)? = nil,
        waiter: CheckedContinuation<[QueryResult], any Error>? = nil,
        onAnswer: (@Sendable (Result<[QueryResult], any Error>) -> Void)? = nil
    ) {
        self.id = id
        let settings = traits.isInTransaction ? [] : traits.settings?.statements(for: statements) ?? []
        if !settings.isEmpty || traits.isWhole {
            let hidden = (traits.isWhole ? [Self.begin] : []) + settings
            self.statements = hidden + statements + (traits.isWhole ? [Self.commit] : [])
            hiddenCount = hidden.count
        } else {
            // As of most requests: no array is made.
            self.statements = statements
            hiddenCount = 0
        }
        self.script = script
        self.traits = traits
        self.copy = copy
        self.lease = lease
        scope = nil
        self.waiter = waiter
        self.onAnswer = onAnswer
    }

    /// The request preceded by the statements that open its scope.
    init(_ request: Request, after openings: [Statement], of scope: any OpenedScope) {
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

    private static let begin = control("BEGIN")
    private static let commit = control("COMMIT")

    private static func control(_ text: String) -> Statement {
        Statement(text: StatementText(oneTime: text, effect: .transactionControl), resultFormat: .binary)
    }

    private static let lastID = Atomic<ID>(0)

    /// A new identifier, unique in this process.
    static func nextID() -> ID {
        lastID.add(1, ordering: .relaxed).newValue
    }

    /// The text to show in errors: the text of the statement, or of the caller's first statement.
    func text(at position: Int? = nil) -> String? {
        let position = position ?? hiddenCount
        return statements.indices.contains(position) ? statements[position].text.text : nil
    }

    /// The results of the caller's own statements.
    func own(_ results: [QueryResult]) -> [QueryResult] {
        if hiddenCount == 0 { return results }
        return Array(results.dropFirst(hiddenCount).dropLast(traits.isWhole ? 1 : 0))
    }

    /// Whether it leaves the transaction in which it ran.
    var endsTransaction: Bool { traits.end != nil || traits.isWhole }

    /// Whether it needs a transaction that was begun before it; its hidden statements may make settings only.
    var continuesTransaction: Bool {
        traits.isInTransaction && (hiddenCount == 0 || statements.first?.text.effect != .transactionControl)
    }

    /// Whether it makes settings for itself, in a transaction of its own.
    var hasOwnSettings: Bool { hiddenCount > 0 && !traits.isInTransaction }

    /// Whether the statement at a position is the library's own that makes settings.
    func makesSettings(at position: Int) -> Bool {
        position < hiddenCount && statements[position].text.effect != .transactionControl
    }

    /// Whether it waits until nothing is in flight: a script leaves the pipeline, and on a lent connection SQL of the program
    /// before it may begin a transaction, in which settings of its own would stay.
    var isSentAlone: Bool { script != nil || hasOwnSettings && !traits.isAutocommit }

    /// The approximate size in bytes.
    var size: Int { statements.reduce(script?.utf8.count ?? 0) { $0 + $1.bindings.totalBytes } }

    /// Fails a request that was not sent.
    func refuse(_ error: any Error) {
        waiter?.resume(throwing: error)
        copy?.finish(.failure(error))
    }

    /// Whether it may write rows.
    var mayWriteRows: Bool {
        if traits.isDescription { return false }
        if script != nil { return true }
        // COMMIT beside other statements has their effect.
        return statements.dropFirst(hiddenCount).contains {
            $0.text.mayWriteRows && (statements.count == 1 || $0.text.effect != .transactionControl)
        }
    }

    /// Whether it may take effect although its answer is missing: it ends no transaction, is in none, and may write.
    var mayTakeEffect: Bool {
        guard !traits.isInTransaction, !traits.isCommittedLater, traits.end != .rollback, !traits.isDescription else {
            return false
        }
        if let script { return copy == nil || StatementText.mayWrite(copy: script) }
        // COMMIT has the effect of the statements sent before it; beside other statements it has their effect.
        return statements.dropFirst(hiddenCount).contains {
            $0.text.mayWrite && (statements.count == 1 || $0.text.effect != .transactionControl)
        }
    }

    /// Whether a part of it may have taken effect although the server has reported an error.
    var mayTakeEffectInPart: Bool {
        guard !traits.isInTransaction, !traits.isCommittedLater else { return false }
        return script != nil && copy == nil || statements.dropFirst(hiddenCount).contains { $0.text.mayCommitInside }
    }

    /// The error of a request that was stopped before it was sent.
    func stoppedUnsent(_ stop: Stop) -> any Error {
        guard case .timedOut = stop else { return stopped(stop, nil, mayTakeEffect: false) }
        return PostgresError(.timeout, "The statement timed out before it could be sent", statement: text())
    }

    /// The error of a stopped request, given the server's error, if any; SQLSTATE 57014 confirms the stop.
    ///
    /// - Parameter mayTakeEffect: whether it may take effect where the server has not confirmed that.
    func stopped(_ stop: Stop, _ error: PostgresError?, mayTakeEffect: Bool) -> any Error {
        let isConfirmed = error?.sqlState == .queryCanceled
        let isOpen = isConfirmed ? mayTakeEffectInPart : mayTakeEffect
        switch stop {
        case .superseded: return ReadSuperseded()
        case .tooLarge(let limit):
            return Self.tooLarge(limit: limit, isExecuted: false).of(statement: text(), mayHaveTakenEffect: isOpen)
        case .cancelled:
            guard isOpen else { return CancellationError() }
            let fate =
                isConfirmed
                ? "the statement was stopped, but a part of it may have been committed before"
                : "the server has not confirmed that the statement was stopped: it may have taken effect, or may do so yet"
            return PostgresError(
                .outcomeUnknown, "The task was cancelled, and \(fate)",
                sqlState: error?.sqlState, server: error?.server, statement: text() ?? script)
        case .timedOut:
            let fate =
                isConfirmed
                ? " and was cancelled"
                : isOpen
                    ? "; the server has not confirmed that it was cancelled, so it may have taken effect"
                    : "; the server has not confirmed that it was cancelled"
            return PostgresError(
                .timeout, "The statement timed out\(fate)",
                sqlState: error?.sqlState, server: error?.server, statement: text() ?? script,
                mayHaveTakenEffect: isOpen)
        }
    }
}

/// Decides when, and whether, a request is sent.
protocol RequestScope: AnyObject, Sendable {
    func send(_ request: Request, by deadline: MonotonicTime)

    /// Removes a waiting request; false if it is not waiting.
    func cancel(_ id: Request.ID) -> Bool
}

/// A scope that a request opens, such as a transaction, with the scopes around it.
protocol OpenedScope: AnyObject, Sendable {
    /// The request was answered, or was not sent: `count` of its `total` openings took effect.
    func openingEnded(_ count: Int, of total: Int)
}

/// A share of a connection, which belongs to a pool.
protocol ConnectionShare: AnyObject, Sendable {
    func giveBack()
}
