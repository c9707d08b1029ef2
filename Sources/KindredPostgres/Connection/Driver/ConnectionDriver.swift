import DequeModule

/// A libpq connection in pipeline mode, and the state of its requests; guarded by the mutex of its `PooledConnection`.
///
/// Sends, reads and ends as the `ConnectionState` decides, and gives it the server's answers. Methods collect their
/// effects outside of the mutex in an `Effects` value.
struct ConnectionDriver: @unchecked Sendable {
    // Unchecked: the handle and the state's requests never leave the mutex around the only copy of this value; the
    // handle comes out once, in `Effects.closed`, when nothing else uses it.

    /// The actions to take after the mutex is released.
    struct Effects {
        var state = ConnectionState.Effects()
        /// The connection has ended: free it.
        var closed: ConnectionHandle?
        /// Asks the server to stop its work for the connection that has ended.
        var cancelAtEnd: CancelKey?
    }

    /// nil once the connection has ended.
    private(set) var handle: ConnectionHandle?
    let socket: Int32
    let context: ConnectionContext
    let notices: NoticeSink
    /// Settings made by statements when the session began.
    let startupSettings: [(name: String, value: String)]
    var state: ConnectionState
    var wantsWrite = false
    var wantsRead = true
    /// Watches for an answer during COPY FROM.
    var copyAnswer: CopyAnswer?
    var arriving = ArrivingResult()
    var parameters: ReportedParameters

    init(_ opened: Connector.Opened, context: ConnectionContext) {
        handle = opened.handle
        notices = opened.notices
        startupSettings = opened.startupSettings
        parameters = ReportedParameters(opened.handle)
        socket = opened.handle.socket
        self.context = context
        state = ConnectionState(context.configuration, behind: context.pooler, at: .now)
    }

    /// Sends a request, or holds it while a cancel request is in flight.
    mutating func submit(_ pending: PendingRequest, _ effects: inout Effects) {
        guard state.admits(pending, &effects.state) else { return }
        if let refusal = context.primary.refusal, pending.request.mayWriteRows, !pending.request.traits.isUndoing {
            effects.state.completions.append(pending.completion(refusal.of(statement: pending.request.text())))
            return
        }
        if state.inFlight.isEmpty, state.mayHaveEnded(at: .now) { socketIsReady(&effects) }
        guard let handle else { return submit(pending, &effects) }
        if state.refuses(pending, isInTransaction: handle.isInTransaction, &effects.state) { return }
        send(pending, &effects)
    }

    /// Sends the held requests, as far as possible now.
    mutating func sendHeld(_ effects: inout Effects) {
        for pending in state.takeHeld() { submit(pending, &effects) }
    }

    /// Tells the poller which events the connection waits for.
    func watchSocket() {
        guard handle != nil else { return }
        Poller.shared.setInterest(reads: wantsRead, writes: wantsWrite, socket: socket)
    }

    mutating func setReads(_ reads: Bool) {
        guard wantsRead != reads else { return }
        wantsRead = reads
        watchSocket()
    }

    /// Ends the connection; every request still in flight or held fails.
    ///
    /// - Parameters:
    ///   - isUntouched: whether the server has executed none of the requests in flight.
    ///   - isCancelling: whether to ask the server to stop the running statement.
    mutating func end(
        _ reason: PostgresError, isUntouched: Bool = false, isCancelling: Bool = false, _ effects: inout Effects
    ) {
        guard let handle else { return }
        if isCancelling { effects.cancelAtEnd = CancelKey(for: handle) }
        self.handle = nil
        effects.closed = handle
        state.end(reason, isUntouched: isUntouched, &effects.state)
    }
}
