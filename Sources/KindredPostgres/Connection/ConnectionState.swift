import CLibPQ
import DequeModule

/// A libpq connection in pipeline mode with the requests on their way; guarded by the mutex of its `PooledConnection`.
///
/// Methods collect what is to be done once the mutex is free in an `Effects` value.
struct ConnectionState: @unchecked Sendable {
    // Unchecked: libpq's pointer and the cache's entries never leave the mutex that the only copy of this value is in;
    // the pointer comes out once, in `Effects.death`, when nothing else uses it any more.

    /// What to do after the mutex is released.
    struct Effects {
        var completions = [Completion]()
        /// The scope whose openings took effect, and how many, though their request is not answered yet.
        var opened: (scope: PostgresTransaction, count: Int)?
        /// Ask the server to cancel the first request.
        var sendsCancel = false
        /// The connection has ended: free it and tell why.
        var death: (handle: OpaquePointer, reason: PostgresError)?
        var deadline = MonotonicTime.never
        /// Asks the server to stop what it still does for the connection that has ended.
        var farewell: CancelKey?
        /// Nothing new should be sent over the connection.
        var isRetired = false
    }

    /// nil once the connection has ended.
    var handle: OpaquePointer?
    /// Why it has ended.
    var endReason: PostgresError?
    let socket: Int32
    let context: ConnectionContext
    let notices: NoticeSink
    /// What was set by a statement when the session began.
    let pins: [(name: String, value: String)]
    var cache: StatementCache
    /// Requests that were sent, in the order in which their answers come.
    var inFlight: Deque<PendingRequest> = []
    /// Requests that wait until no cancellation can hit them, or until less is on its way.
    var held: Deque<PendingRequest> = []
    /// The size of the requests on their way.
    var bytesInFlight = 0
    var cancellation: Cancellation?
    /// Whether callers have gone on without the server's word; others still wait for theirs.
    var isGivenUp = false
    var wantsWrite = false
    var wantsRead = true
    /// Watches for an answer while data is copied from here.
    var copyAnswer: CopyAnswer?
    var arriving = ArrivingResult()
    var parameters: ReportedParameters
    /// When the server last sent something.
    var heardAt = MonotonicTime.now
    /// Whether statements have left traces in the session that the next user should not find.
    var isTainted = false

    init(_ opened: Connector.Opened, context: ConnectionContext) {
        handle = opened.handle
        notices = opened.notices
        pins = opened.pins
        parameters = ReportedParameters(opened.handle)
        socket = PQsocket(opened.handle)
        self.context = context
        cache = StatementCache(capacity: context.configuration.statementCacheCapacity)
    }

    /// How long a connection may have been idle without anybody looking at what the server said meanwhile.
    private static let quietness = Duration.milliseconds(1)

    var isQuiet: Bool { inFlight.isEmpty && held.isEmpty && cancellation == nil }

    /// Sends a request, or holds it back while a cancellation is under way.
    mutating func submit(_ pending: PendingRequest, _ effects: inout Effects) {
        guard self.handle != nil else {
            effects.completions.append(pending.completion(ConnectionGone(reason: endReason)))
            return
        }
        // Only what others share is given up and not ended, and they go to another connection.
        if isGivenUp { return effects.completions.append(pending.completion(ConnectionGone())) }
        let request = pending.request
        effects.deadline = min(effects.deadline, pending.deadline)
        if let first = inFlight.first, first.request.copy != nil, first.stop == nil {
            // It could wait for ever: for a COPY that goes on when the task has the answer.
            let error = PostgresError(
                .copyInProgress, "A COPY has the connection to itself; run other statements before or after it",
                statement: request.text())
            effects.completions.append(pending.completion(error))
            return
        }
        if cancellation?.isSending == true || isInScript || !held.isEmpty
            || (!inFlight.isEmpty && (request.script != nil || !hasRoom(for: request)))
        {
            held.append(pending)
            return
        }
        // What the server said while the connection was idle comes first: it may have ended the session. Between two
        // statements that follow each other closely the look costs more than it is worth.
        if inFlight.isEmpty, MonotonicTime.now > heardAt + Self.quietness { socketIsReady(&effects) }
        if self.handle == nil {
            submit(pending, &effects)
        } else if request.continuesTransaction, inFlight.isEmpty, isInTransaction == false {
            // It would take effect by itself.
            effects.completions.append(
                pending.completion(PostgresError.transactionBroken().of(statement: request.text())))
        } else {
            send(pending, &effects)
        }
    }

    /// Whether the connection is out of pipeline mode; nothing else can be sent then.
    var isInScript: Bool { inFlight.first?.request.script != nil }

    /// Whether the server takes no writes where one that does is wanted: it became a standby, or stands in for one.
    ///
    /// A server or pooler that does not say so is believed to be one: to connect once more costs little.
    func isMisfit(_ error: PostgresError) -> Bool {
        guard error.sqlState == .readOnlyTransaction, let handle else { return false }
        func isOn(_ name: String) -> Bool? {
            PQparameterStatus(handle, name).map { String(cString: $0) == "on" }
        }
        return switch context.configuration.targetSession {
        case .any, .readOnly, .standby, .preferStandby: false
        case .primary: isOn("in_hot_standby") ?? true
        case .readWrite: isOn("in_hot_standby") ?? true || isOn("default_transaction_read_only") ?? true
        }
    }

    /// Whether a transaction is open or failed; nil while something is on its way.
    var isInTransaction: Bool? {
        guard let handle else { return false }
        switch PQtransactionStatus(handle) {
        case PQTRANS_IDLE: return false
        case PQTRANS_INTRANS, PQTRANS_INERROR: return true
        default: return nil
        }
    }

    /// Whether a request goes on its way without too much being there already.
    func hasRoom(for request: Request) -> Bool {
        bytesInFlight + request.size <= context.configuration.maximumBytesInFlight
    }

    /// Sends what was held back, as far as it may go now.
    mutating func sendHeld(_ effects: inout Effects) {
        let waiting = held
        held = []
        for pending in waiting { submit(pending, &effects) }
    }

    /// Ends the connection: nobody gets an answer any more.
    mutating func end(_ reason: PostgresError, _ effects: inout Effects) {
        guard let handle else { return }
        self.handle = nil
        endReason = reason
        effects.death = (handle, reason)
        // The server was idle: nothing that was on its way has been begun.
        let isUntouched = (inFlight.first?.error ?? reason).sqlState == .idleSessionTimeout
        for (position, pending) in inFlight.enumerated() {
            let request = pending.request
            if isUntouched, pending.stop == nil {
                effects.completions.append(pending.completion(ConnectionGone()))
                continue
            }
            // What the server said last belongs to the request that it was working on.
            let failure = position == 0 ? pending.error ?? reason : reason
            let error =
                pending.stop.map { request.stopped($0, failure) }
                ?? failure.of(statement: request.text())
            effects.completions.append(pending.completion(error, executedCount: .max))
        }
        for pending in held { effects.completions.append(pending.completion(ConnectionGone())) }
        inFlight = []
        held = []
    }
}

extension PostgresError {
    /// The error of a transaction that something inside has ended.
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

/// A request was not sent because its connection had ended before; it can be made on another one.
struct ConnectionGone: Error {
    /// Why, if that is known.
    var reason: PostgresError?

    /// What a caller gets to whom another connection is of no use.
    func lost(_ statement: String?) -> PostgresError {
        if reason?.code == .closed { return PostgresError(.closed, "The client was closed", statement: statement) }
        guard let reason, reason.code == .connectionLost, reason.server != nil else {
            return PostgresError(.connectionLost, "The connection has ended", statement: statement)
        }
        return reason.of(statement: statement)
    }
}
