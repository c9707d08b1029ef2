import DequeModule

extension ConnectionState {
    /// A cancel request; it names the session, not the statement.
    ///
    /// The server may have gone on to the next statement when it arrives. So nothing is sent while it is in flight, and
    /// a later statement that it hits by mistake is repeated.
    struct Cancellation {
        let target: Request.ID
        /// Whether the sending thread is still at work.
        var isSending = true
        /// When to send it again, in case it overtook the statement.
        var repeatAt = MonotonicTime.never
        /// When to give the connection up.
        let giveUpAt: MonotonicTime
    }

    /// The time in which the server has to stop a statement if other requests need the connection, or no deadline
    /// has passed.
    static let patience = Duration.seconds(5)

    private static var unstopped: PostgresError {
        PostgresError(.timeout, "The server did not stop a statement in time; the connection was closed")
    }

    /// Stops a request that was cancelled, timed out, or has too large a result.
    mutating func stop(_ id: Request.ID, reason stop: Request.Stop, _ effects: inout Effects) {
        if let index = held.firstIndex(where: { $0.request.id == id }) {
            let pending = held.remove(at: index)
            effects.completions.append(pending.completion(pending.request.stoppedUnsent(stop)))
            return
        }
        guard let index = inFlight.firstIndex(where: { $0.request.id == id }), inFlight[index].stop == nil
        else { return }
        let pending = inFlight[index]
        pending.stop = stop
        pending.deadline = .never
        // Cancelled when its turn comes; it keeps its share of the connection until then. Behind a reset it waits for that, so
        // that a server which does not answer the reset is noticed.
        let isBehindReset = index == 1 && inFlight[0].isReset
        if index > 0, !isBehindReset, pending.request.traits.mayLeave { return leave(pending, &effects) }
        pending.leaveAt = .now + grace(for: pending.request, stop)
        effects.deadline = min(effects.deadline, pending.leaveAt)
        guard index == 0, !pending.request.traits.isUndoing else { return }
        effects.sendsCancel = cancellation == nil
        stopCopy(&effects)
    }

    /// The time for which the caller of a stopped request waits for the server's confirmation.
    private func grace(for request: Request, _ stop: Request.Stop) -> Duration {
        // No deadline has passed, and the server is in the middle of its answer.
        if case .tooLarge = stop { return Self.patience }
        return request.traits.isUndoing ? .zero : context.configuration.cancellationGrace
    }

    /// Resumes a stopped request's caller; the answer is still read.
    private func leave(_ pending: PendingRequest, _ effects: inout Effects) {
        guard let stop = pending.stop else { return }
        pending.leaveAt = .never
        pending.parties.remove(.caller)
        effects.completions.append(
            Completion(
                request: pending.request, result: .failure(pending.request.stopped(stop, nil)), parties: .caller))
    }

    /// Resumes the callers whose statements the server has not stopped in time, and gives the connection up: it is
    /// closed at once, or later if other requests in flight await their answers.
    private mutating func letGo(_ now: MonotonicTime, _ effects: inout Effects) {
        let leaving = inFlight.filter { $0.leaveAt <= now }
        guard let handle, !leaving.isEmpty else { return }
        guard inFlight.contains(where: \.isAwaited), leaving.allSatisfy(\.request.traits.mayLeave) else {
            if cancellation == nil { effects.cancelAtEnd = CancelKey(for: handle) }
            return end(Self.unstopped, &effects)
        }
        for pending in leaving { leave(pending, &effects) }
        isGivenUp = true
        effects.isRetired = true
        // Moves the held requests to another connection.
        sendHeld(&effects)
    }

    /// Begins to cancel the first request; returns the key that the sending thread needs.
    mutating func beginCancel(_ now: MonotonicTime, _ effects: inout Effects) -> CancelKey? {
        // The request may have been answered in the meantime.
        guard let handle, let first = inFlight.first, cancellation?.isSending != true,
            first.stop != nil || (first.request.copy != nil && first.error != nil)
        else {
            if cancellation?.isSending != true { resumeReading() }
            return nil
        }
        let request = first.request
        guard let key = CancelKey(for: handle) else {
            resumeReading()
            return nil
        }
        let giveUpAt =
            cancellation.flatMap { $0.target == request.id ? $0.giveUpAt : nil }
            ?? now + max(Self.patience, context.configuration.cancellationGrace)
        cancellation = Cancellation(target: request.id, giveUpAt: giveUpAt)
        effects.deadline = min(effects.deadline, giveUpAt)
        return key
    }

    /// The server has taken the cancel request: statements sent from now on are safe from it.
    mutating func cancelWasSent(_ now: MonotonicTime, _ effects: inout Effects) {
        guard handle != nil, var current = cancellation else { return }
        resumeReading()
        for index in inFlight.indices { inFlight[index].mayBeHit = true }
        if inFlight.first?.request.id == current.target {
            current.isSending = false
            current.repeatAt = now + .milliseconds(250)
            effects.deadline = min(effects.deadline, current.repeatAt)
            cancellation = current
        } else {
            cancellation = nil
            effects.sendsCancel = inFlight.first?.stop != nil
        }
        sendHeld(&effects)
        // The last answer may have come before: an idle session's time was not set then.
        effects.deadline = min(effects.deadline, resetIsDue)
    }

    /// Stops requests past their deadline; returns the next deadline.
    mutating func deadlinePassed(_ now: MonotonicTime, _ effects: inout Effects) -> MonotonicTime {
        guard handle != nil else { return .never }
        let late = (inFlight + held).filter { $0.deadline <= now }
        for pending in late { stop(pending.request.id, reason: .timedOut, &effects) }
        letGo(now, &effects)
        guard handle != nil else { return .never }
        if let cancellation {
            if now >= cancellation.giveUpAt {
                let reason = PostgresError(
                    .connectionLost, "The server did not stop a statement in time; the connection was closed")
                end(reason, &effects)
                return .never
            }
            if !cancellation.isSending, now >= cancellation.repeatAt { effects.sendsCancel = true }
        }
        resetIdleSession(now, &effects)
        let own = cancellation.map { min($0.giveUpAt, $0.isSending ? .never : max($0.repeatAt, now)) } ?? resetIsDue
        return (inFlight + held).reduce(own) { min($0, $1.deadline, $1.leaveAt) }
    }
}
