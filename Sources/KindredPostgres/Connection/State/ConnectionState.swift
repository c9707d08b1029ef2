import CLibPQ
import DequeModule

/// A libpq connection in pipeline mode and its requests in flight; guarded by the mutex of its `PooledConnection`.
///
/// Methods collect their effects outside of the mutex in an `Effects` value.
struct ConnectionState: @unchecked Sendable {
    // Unchecked: the handle and the cache's entries never leave the mutex around the only copy of this value; the
    // handle comes out once, in `Effects.closed`, when nothing else uses it any more.

    /// The actions to take after the mutex is released.
    struct Effects {
        var completions = SmallArray<Completion>()
        /// The scope whose openings took effect, and how many, before their request is answered.
        var opened: (scope: any OpenedScope, count: Int)?
        /// Ask the server to cancel the first request.
        var sendsCancel = false
        /// The connection has ended: free it, and report the reason.
        var closed: (handle: ConnectionHandle, reason: PostgresError)?
        var deadline = MonotonicTime.never
        /// Asks the server to stop its work for the connection that has ended.
        var cancelAtEnd: CancelKey?
        /// Nothing new may be sent over the connection.
        var isRetired = false
        /// The statements that put the session back were sent.
        var hasReset = false
    }

    /// nil once the connection has ended.
    var handle: ConnectionHandle?
    /// The reason why the connection has ended.
    var endReason: PostgresError?
    let socket: Int32
    let context: ConnectionContext
    let notices: NoticeSink
    /// Settings made by statements when the session began.
    let startupSettings: [(name: String, value: String)]
    var cache: StatementCache
    /// Requests sent, in the order of their answers.
    var inFlight: Deque<PendingRequest> = []
    /// Requests that wait until no cancel request can hit them, or until there is room.
    var held: Deque<PendingRequest> = []
    /// The size of the requests in flight.
    var bytesInFlight = 0
    var cancellation: Cancellation?
    /// Whether the connection closes after the remaining answers: some callers went on without the server's
    /// confirmation.
    var isGivenUp = false
    var wantsWrite = false
    var wantsRead = true
    /// Watches for an answer during COPY FROM.
    var copyAnswer: CopyAnswer?
    var arriving = ArrivingResult()
    var parameters: ReportedParameters
    /// When the server last sent something.
    var heardAt = MonotonicTime.now
    var traces = Traces()

    init(_ opened: Connector.Opened, context: ConnectionContext) {
        handle = opened.handle
        notices = opened.notices
        startupSettings = opened.startupSettings
        parameters = ReportedParameters(opened.handle)
        socket = opened.handle.socket
        self.context = context
        cache = StatementCache(capacity: context.configuration.statementCacheCapacity)
    }

    /// The longest idle time of a connection before its input is checked ahead of a request.
    private static let quietness = Duration.milliseconds(1)

    var isQuiet: Bool { inFlight.isEmpty && held.isEmpty && cancellation == nil }

    /// Sends a request, or holds it while a cancel request is in flight.
    mutating func submit(_ pending: PendingRequest, _ effects: inout Effects) {
        guard self.handle != nil else {
            effects.completions.append(pending.completion(ConnectionGone(reason: endReason)))
            return
        }
        // Only shared connections are given up before they end; their requests go to another connection.
        if isGivenUp { return effects.completions.append(pending.completion(ConnectionGone())) }
        let request = pending.request
        effects.deadline = min(effects.deadline, pending.deadline)
        if let first = inFlight.first, first.request.copy != nil, first.stop == nil {
            // Waiting could deadlock: the COPY may go on only after this answer.
            let error = PostgresError(
                .copyInProgress, "A COPY has the connection to itself; run other statements before or after it",
                statement: request.text())
            effects.completions.append(pending.completion(error))
            return
        }
        if cancellation?.isSending == true || isInScript || !held.isEmpty
            || (!inFlight.isEmpty && (request.script != nil || traces.areOfOthers || !hasRoom(for: request)))
        {
            held.append(pending)
            return
        }
        // The server may have ended the idle session: read its input first. Not between statements in quick succession,
        // where the check costs more than it saves.
        if inFlight.isEmpty, MonotonicTime.now > heardAt + Self.quietness { socketIsReady(&effects) }
        if self.handle == nil {
            submit(pending, &effects)
        } else if request.continuesTransaction, inFlight.isEmpty, isInTransaction == false {
            // Outside of its transaction the request would take effect alone.
            effects.completions.append(
                pending.completion(PostgresError.transactionBroken().of(statement: request.text())))
        } else {
            send(pending, &effects)
        }
    }

    /// Whether the connection is out of pipeline mode; nothing else can be sent then.
    var isInScript: Bool { inFlight.first?.request.script != nil }

    /// Whether the server became read-only although a writable one is required.
    ///
    /// An unreported setting counts as a mismatch: reconnecting once is cheap.
    func isMisfit(_ error: PostgresError) -> Bool {
        guard error.sqlState == .readOnlyTransaction, let handle else { return false }
        return switch context.configuration.targetSession {
        case .any, .readOnly, .standby, .preferStandby: false
        case .primary: handle.isOn("in_hot_standby") ?? true
        case .readWrite: handle.isOn("in_hot_standby") ?? true || handle.isOn("default_transaction_read_only") ?? true
        }
    }

    /// Whether a transaction is open or failed; nil while a statement is in flight.
    var isInTransaction: Bool? {
        guard let handle else { return false }
        switch handle.transactionStatus {
        case PQTRANS_IDLE: return false
        case PQTRANS_INTRANS, PQTRANS_INERROR: return true
        default: return nil
        }
    }

    /// Whether a request fits within the bytes allowed in flight.
    func hasRoom(for request: Request) -> Bool {
        bytesInFlight + request.size <= context.configuration.maximumBytesInFlight
    }

    /// Sends the held requests, as far as possible now.
    mutating func sendHeld(_ effects: inout Effects) {
        let waiting = held
        held = []
        for pending in waiting { submit(pending, &effects) }
    }

    /// Ends the connection; every request still in flight or held fails.
    ///
    /// - Parameter isUntouched: whether the server has executed none of the requests in flight.
    mutating func end(_ reason: PostgresError, isUntouched: Bool = false, _ effects: inout Effects) {
        guard let handle else { return }
        self.handle = nil
        endReason = reason
        effects.closed = (handle, reason)
        // The server was idle: it has not begun any request in flight.
        let isUntouched = isUntouched || (inFlight.first?.error ?? reason).sqlState == .idleSessionTimeout
        for (position, pending) in inFlight.enumerated() {
            let request = pending.request
            if isUntouched, pending.stop == nil {
                effects.completions.append(pending.completion(ConnectionGone()))
                continue
            }
            // The server's last error belongs to the first request in flight.
            let failure = position == 0 ? pending.error ?? reason : reason
            let error =
                pending.stop.map { request.stopped($0, failure) }
                ?? failure.of(statement: request.text(), mayHaveTakenEffect: request.mayTakeEffect)
            effects.completions.append(pending.completion(error, executedCount: .max))
        }
        for pending in held { effects.completions.append(pending.completion(ConnectionGone())) }
        inFlight = []
        held = []
    }
}

extension PostgresError {
    /// The error of a transaction that a statement inside has ended.
    static func transactionBroken(_ cause: PostgresError? = nil) -> PostgresError {
        PostgresError(
            .transactionBroken,
            """
            A statement inside the transaction has ended it, as COMMIT or ROLLBACK in a procedure may: what was written \
            before may be stored or not; look at the rows
            """,
            underlying: cause.map { [$0.description] } ?? [])
    }
}

/// The connection had ended before the request was sent; another connection can take it.
struct ConnectionGone: Error {
    /// The reason, if known.
    var reason: PostgresError?

    /// The error for a caller that cannot use another connection.
    func lost(_ statement: String?) -> PostgresError {
        if reason?.code == .closed { return PostgresError(.closed, "The client was closed", statement: statement) }
        guard let reason, reason.code == .connectionLost, reason.server != nil else {
            return PostgresError(.connectionLost, "The connection has ended", statement: statement)
        }
        return reason.of(statement: statement)
    }
}
