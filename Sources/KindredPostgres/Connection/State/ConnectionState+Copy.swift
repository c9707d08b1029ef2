import DequeModule

/// COPY: from its beginning to its end the connection serves one request, out of pipeline mode.
extension ConnectionState {
    /// The consequence of a COPY that the server begins.
    enum CopyBeginning {
        case goes
        /// It is stopped: its caller has gone on, or it copies in the other direction.
        case stops
        /// No request has asked for it: the connection is unusable.
        case fails
    }

    /// Handles the server's beginning of a COPY; without a direction it copies both ways.
    func beginCopy(_ direction: CopyOperation.Direction?, _ effects: inout Effects) -> CopyBeginning {
        guard let pending = inFlight.first else { return .fails }
        guard let copy = pending.request.copy, let direction else {
            pending.fail(
                PostgresError(.invalidParameter, "COPY from or to the client cannot be sent as a query"), at: nil)
            return .fails
        }
        pending.copyPhase = direction
        // From here on other statements of the transaction are refused; waiting for this one could deadlock.
        effects.opened = pending.request.scope.map { ($0, pending.request.hiddenCount) }
        pending.parties.remove(.scope)
        let isAsked = direction == copy.direction
        if !isAsked {
            pending.fail(
                PostgresError(.invalidParameter, "The statement copies in the other direction"), at: nil)
            if direction == .output { effects.sendsCancel = cancellation == nil }
        }
        if pending.stop != nil || !isAsked {
            pending.isCut = true
            return .stops
        }
        noteServersAnswer()
        copy.change { $0.isOpen = true }
        return .goes
    }

    /// The request that sends data to a running COPY.
    func copyInput(_ id: Request.ID) -> PendingRequest? {
        guard let pending = inFlight.first, pending.request.id == id, pending.copyPhase == .input else { return nil }
        return pending
    }

    /// Stops the server's deadline: from here on the server waits for the task.
    func noteServersAnswer() {
        inFlight.first?.deadline = .never
    }

    /// Sets how long the copying task waits for the server from now on.
    func setDeadline(of id: Request.ID, to deadline: MonotonicTime, _ effects: inout Effects) {
        guard let pending = inFlight.first(where: { $0.request.id == id }), pending.stop == nil else { return }
        pending.deadline = deadline
        effects.deadline = min(effects.deadline, deadline)
    }
}
