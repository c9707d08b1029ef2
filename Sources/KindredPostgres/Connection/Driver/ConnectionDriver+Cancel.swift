extension ConnectionDriver {
    /// Stops a request that was cancelled, timed out, or has too large a result.
    mutating func stop(_ id: Request.ID, reason: Request.Stop, _ effects: inout Effects) {
        if state.stop(id, reason: reason, at: .now, &effects.state) { stopCopy(&effects) }
    }

    /// Begins to cancel the first request; returns the key that the sending thread needs.
    mutating func beginCancel(_ now: MonotonicTime, _ effects: inout Effects) -> CancelKey? {
        guard let handle, state.needsCancel else {
            if state.cancellation?.isSending != true { resumeReading() }
            return nil
        }
        guard let key = CancelKey(for: handle) else {
            resumeReading()
            return nil
        }
        state.beginCancel(at: now, &effects.state)
        return key
    }

    /// Handles that the server has taken the cancel request.
    mutating func cancelWasSent(_ now: MonotonicTime, _ effects: inout Effects) {
        guard state.endCancel(at: now, &effects.state) else { return }
        resumeReading()
        sendHeld(&effects)
        // The last answer may have come before: an idle session's time was not set then.
        effects.state.deadline = min(effects.state.deadline, state.resetIsDue)
    }

    /// Stops requests past their deadline; returns the next deadline.
    mutating func deadlinePassed(_ now: MonotonicTime, _ effects: inout Effects) -> MonotonicTime {
        guard handle != nil else { return .never }
        for id in state.late(at: now) { stop(id, reason: .timedOut, &effects) }
        switch state.letGo(at: now, &effects.state) {
        case .nothing: break
        // Moves them to another connection.
        case .givesUp: sendHeld(&effects)
        case .ends(let reason): end(reason, isCancelling: state.cancellation == nil, &effects)
        }
        guard handle != nil else { return .never }
        if let reason = state.overdueCancellation(at: now, &effects.state) {
            end(reason, &effects)
            return .never
        }
        resetIdleSession(now, &effects)
        return state.nextDeadline(after: now)
    }
}
