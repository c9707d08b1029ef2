import DequeModule

/// The requests of a connection: which are sent, held, stopped and repeated, and how each ends.
///
/// A value without handle, lock or clock. The `ConnectionDriver` applies its decisions: on the session at once,
/// `Effects` after the mutex is released.
struct ConnectionState {
    /// The actions to take after the mutex is released.
    struct Effects {
        var completions = SmallArray<Completion>()
        /// The scope whose openings took effect, and how many, before their request is answered.
        var opened: (scope: any OpenedScope, count: Int)?
        /// Ask the server to cancel the first request.
        var sendsCancel = false
        /// The reason for which the connection has just ended.
        var endReason: PostgresError?
        var deadline = MonotonicTime.never
        /// Nothing new may be sent over the connection.
        var isRetired = false
        /// The server has refused a write because it takes none.
        var hasRefusedWrite = false
        /// The statements that put the session back were sent.
        var hasReset = false
    }

    /// The reason why the connection has ended; nil while it is open.
    private(set) var endReason: PostgresError?
    let maximumBytesInFlight: Int
    /// Whether a pooler may give the session to another connection behind each transaction.
    let sharesSession: Bool
    /// The time for which the caller of a stopped request waits for the server's confirmation.
    let cancellationGrace: Duration
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
    /// When the server last sent something.
    var heardAt: MonotonicTime
    var traces = Traces()

    init(
        _ configuration: PostgresConfiguration, behind pooler: PostgresConfiguration.Pooler = .none,
        at now: MonotonicTime
    ) {
        maximumBytesInFlight = configuration.maximumBytesInFlight
        cancellationGrace = configuration.cancellationGrace
        sharesSession = pooler == .transaction
        cache = StatementCache(
            capacity: configuration.cacheCapacity(behind: pooler), sharesStatements: pooler == .transaction)
        heardAt = now
    }

    /// The longest idle time of a connection before its input is checked ahead of a request.
    private static let quietness = Duration.milliseconds(1)

    var isQuiet: Bool { inFlight.isEmpty && held.isEmpty && cancellation == nil }

    /// Whether the connection is out of pipeline mode; nothing else can be sent then.
    var isInScript: Bool { inFlight.first?.request.script != nil }

    /// Whether the server may have ended the idle session: its input is read first.
    ///
    /// Not between statements in quick succession, where the check costs more than it saves.
    func mayHaveEnded(at now: MonotonicTime) -> Bool { now > heardAt + Self.quietness }

    /// Whether a request fits within the bytes allowed in flight.
    func hasRoom(for request: Request) -> Bool { bytesInFlight + request.size <= maximumBytesInFlight }

    // MARK: Beginning

    /// Whether a request may be sent now; otherwise it is refused, or held, as while a cancel request is in flight.
    mutating func admits(_ pending: PendingRequest, _ effects: inout Effects) -> Bool {
        if let endReason {
            effects.completions.append(pending.completion(ConnectionGone(reason: endReason)))
            return false
        }
        // Only shared connections are given up before they end; their requests go to another connection.
        if isGivenUp {
            effects.completions.append(pending.completion(ConnectionGone()))
            return false
        }
        let request = pending.request
        effects.deadline = min(effects.deadline, pending.deadline)
        if let first = inFlight.first, first.request.copy != nil, first.stop == nil {
            // Waiting could deadlock: the COPY may go on only after this answer.
            let error = PostgresError(
                .copyInProgress, "A COPY has the connection to itself; run other statements before or after it",
                statement: request.text())
            effects.completions.append(pending.completion(error))
            return false
        }
        if cancellation?.isSending == true || isInScript || !held.isEmpty
            || (!inFlight.isEmpty && (request.isSentAlone || traces.areOfOthers || !hasRoom(for: request)))
        {
            held.append(pending)
            return false
        }
        return true
    }

    /// Refuses a request that does not fit the session's transaction.
    ///
    /// Where its own has ended, it would take effect alone. With settings of its own, in a transaction that SQL of the program
    /// has begun, these would stay for the statements behind it.
    ///
    /// - Returns: whether it was refused.
    func refuses(
        _ pending: PendingRequest, isInTransaction: @autoclosure () -> Bool?, _ effects: inout Effects
    ) -> Bool {
        let request = pending.request
        guard inFlight.isEmpty else { return false }
        let error: PostgresError
        if request.continuesTransaction, isInTransaction() == false {
            error = .transactionBroken()
        } else if request.hasOwnSettings, isInTransaction() == true {
            error = .settingsDiffer
        } else {
            return false
        }
        effects.completions.append(pending.completion(error.of(statement: request.text())))
        return true
    }

    /// Takes the held requests, to submit them again.
    mutating func takeHeld() -> Deque<PendingRequest> {
        defer { held = [] }
        return held
    }

    // MARK: End

    /// Ends the connection; every request still in flight or held fails.
    ///
    /// - Parameter isUntouched: whether the server has executed none of the requests in flight.
    mutating func end(_ reason: PostgresError, isUntouched: Bool = false, _ effects: inout Effects) {
        guard endReason == nil else { return }
        endReason = reason
        effects.endReason = reason
        // The server was idle: it has not begun any request in flight.
        let isUntouched = isUntouched || (inFlight.first?.error ?? reason).sqlState == .idleSessionTimeout
        for (position, pending) in inFlight.enumerated() {
            let request = pending.request
            if isUntouched {
                let error = pending.stop.map { request.stoppedUnsent($0) } ?? ConnectionGone()
                effects.completions.append(pending.completion(error))
                continue
            }
            // The server's last error belongs to the first request in flight.
            let failure = position == 0 ? pending.error ?? reason : reason
            let error =
                pending.stop.map { pending.stopped($0, failure) }
                ?? failure.of(statement: request.text(), mayHaveTakenEffect: pending.mayTakeEffect)
            effects.completions.append(pending.completion(error, executedCount: .max))
        }
        for pending in held { effects.completions.append(pending.completion(ConnectionGone())) }
        inFlight = []
        bytesInFlight = 0
        held = []
    }
}
