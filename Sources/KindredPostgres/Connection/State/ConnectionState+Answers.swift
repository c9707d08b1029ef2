import DequeModule

extension ConnectionState {
    // MARK: Errors

    /// Records the error of a request's current step.
    ///
    /// - Returns: whether no more statements are prepared, since the session has lost prepared statements too often.
    mutating func fail(_ pending: PendingRequest, with error: PostgresError) -> Bool {
        if noteLeftTraces(pending) { return false }
        var failed: Int?
        var isOff = false
        // The first of its statements begins the transaction that protects the requests behind.
        if pending.isReset, pending.error == nil { pending.isResetBegun = pending.step > 0 }
        switch pending.currentStep {
        case .execute(let entry, let position)?:
            failed = position
            if let entry { isOff = forgetIfStale(entry, after: error, of: pending) }
        case .describe(let entry?)?:
            isOff = forgetIfStale(entry, after: error, of: pending)
        case .prepare?:
            failed = pending.positionAfterStep
        case .describe?, .discard?, .reset?, nil:
            break
        }
        noteRefused(pending)
        pending.fail(error, at: failed)
        return isOff
    }

    /// Notes that a step failed or was skipped: evicts a statement that it was to prepare.
    mutating func noteRefused(_ pending: PendingRequest) {
        if noteLeftTraces(pending) { return }
        if case .prepare(let entry)? = pending.currentStep { cache.remove(entry, wasRefused: true) }
    }

    /// Evicts a prepared statement that is stale or unknown to the server, so that it is prepared again.
    ///
    /// - Returns: whether that happened so often that the cache is now off.
    private mutating func forgetIfStale(
        _ entry: StatementCache.Entry, after error: PostgresError, of pending: PendingRequest
    ) -> Bool {
        guard Self.isStale(error) else { return false }
        var isOff = false
        if error.sqlState == .invalidStatementName { isOff = cache.lose(entry) } else { cache.outdate(entry) }
        if pending.error == nil { pending.isStale = true }
        return isOff
    }

    /// Whether the error means that a prepared statement is stale or unknown to the server.
    private static func isStale(_ error: PostgresError) -> Bool {
        switch error.sqlState {
        case .invalidStatementName?: true
        case .featureNotSupported?: error.server?.routine == "RevalidateCachedQuery"
        // A type that the statement was prepared with was dropped ("cache lookup failed for type …").
        case .internalError?: true
        default: false
        }
    }

    // MARK: End of an answer

    /// The reason for which the connection cannot go on after the first request's answer, if there is one.
    ///
    /// `isUntouched` means that the server has executed none of the requests in flight.
    func endAfterAnswer(isInTransaction: @autoclosure () -> Bool?) -> (reason: PostgresError, isUntouched: Bool)? {
        guard let first = inFlight.first else { return nil }
        if first.isReset, let error = first.error {
            return (Self.resetFailed(error, isBegun: first.isResetBegun), first.isResetBegun)
        }
        // The open transaction belongs to no known task.
        guard let end = first.request.traits.end, isInTransaction() == true else { return nil }
        if end == .commit { first.leftTransaction() }
        let reason = PostgresError(
            .connectionLost, "The session is still in a transaction after COMMIT or ROLLBACK")
        return (reason, false)
    }

    /// Takes the first request, whose Sync is confirmed, and answers its caller.
    ///
    /// - Returns: the request as it is to be sent again instead; nil if it is not.
    mutating func finishFirst(
        isInTransaction: @autoclosure () -> Bool?, _ effects: inout Effects
    ) -> PendingRequest? {
        guard let pending = inFlight.popFirst() else { return nil }
        let request = pending.request
        bytesInFlight = inFlight.isEmpty ? 0 : max(0, bytesInFlight - request.size)
        if request.traits.isInTransaction, request.traits.end == nil, isInTransaction() == false {
            pending.transactionHasEnded()
        }
        if cancellation?.target == request.id, cancellation?.isSending == false { cancellation = nil }
        if mayRepeat(pending, isInTransaction: isInTransaction()) {
            return PendingRequest(request, deadline: pending.deadline, attempts: pending.attempts + 1)
        }
        effects.completions.append(pending.completion)
        return nil
    }

    /// Goes on behind an answer; returns whether the held requests are sent.
    func sendsHeld(_ effects: inout Effects) -> Bool {
        if inFlight.first?.stop != nil, cancellation == nil { effects.sendsCancel = true }
        noteTurns(&effects)
        effects.deadline = min(effects.deadline, resetIsDue)
        guard let next = held.first, cancellation?.isSending != true, !isInScript else { return false }
        return inFlight.isEmpty || (!next.request.isSentAlone && hasRoom(for: next.request))
    }

    /// Whether the failure is not the request's own: a stale plan, or a cancel request meant for another statement.
    private func mayRepeat(_ pending: PendingRequest, isInTransaction: @autoclosure () -> Bool?) -> Bool {
        let request = pending.request
        guard let error = pending.error, pending.stop == nil, pending.attempts < 3, request.scope == nil,
            request.traits.mayRepeat,
            request.traits.isAutocommit || (inFlight.isEmpty && isInTransaction() == false)
        else { return false }
        if error.sqlState == .queryCanceled { return pending.mayBeHit || cancellation?.isSending == true }
        return pending.attempts == 0 && pending.isStale
    }
}
