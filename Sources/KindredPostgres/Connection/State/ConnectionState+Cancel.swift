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
        /// When to close the connection, unless other requests await answers.
        var giveUpAt: MonotonicTime
    }

    /// The time in which the server has to stop a statement whose caller went on, or if no deadline has passed.
    static let patience = Duration.seconds(5)

    // MARK: Stopping

    /// Stops a request that was cancelled, timed out, or has too large a result.
    ///
    /// The caller of a read that waits behind other requests goes on at once. The caller of a statement that may write
    /// goes on when its outcome is known: it waits for its turn until its deadline, and for the answer to its
    /// cancellation for the grace. The caller of a read that another server has answered goes on at once.
    ///
    /// - Returns: whether it is the first request, whose COPY has to be stopped if it runs.
    mutating func stop(
        _ id: Request.ID, reason stop: Request.Stop, at now: MonotonicTime, _ effects: inout Effects
    ) -> Bool {
        if let index = held.firstIndex(where: { $0.request.id == id }) {
            let pending = held.remove(at: index)
            effects.completions.append(pending.completion(pending.request.stoppedUnsent(stop)))
            return false
        }
        guard let index = inFlight.firstIndex(where: { $0.request.id == id }), inFlight[index].stop == nil
        else { return false }
        let pending = inFlight[index]
        pending.stop = stop
        let deadline = pending.deadline
        pending.deadline = .never
        // Cancelled when its turn comes; it keeps its share of the connection until then. Behind a reset it waits for that, so
        // that a server which does not answer the reset is noticed.
        let isBehindReset = index == 1 && inFlight[0].isReset
        if index > 0, !isBehindReset, pending.request.traits.mayLeave, !pending.mayTakeEffect {
            leave(pending, &effects)
            return false
        }
        let isSuperseded = if case .superseded = stop { true } else { false }
        if isSuperseded, pending.request.traits.mayLeave, !pending.mayTakeEffect {
            leave(pending, &effects)
            if index == 0 { effects.sendsCancel = cancellation == nil }
            return false
        }
        let isItsTurn = !inFlight[..<index].contains(where: \.isAwaited)
        pending.leaveAt = (isItsTurn ? now : max(deadline, now)) + grace(for: pending.request, stop)
        effects.deadline = min(effects.deadline, pending.leaveAt)
        guard index == 0, !pending.request.traits.isUndoing else { return false }
        effects.sendsCancel = cancellation == nil
        return true
    }

    /// Notes that an answer has come: a stopped request whose turn has come with it waits for the server's confirmation only.
    func noteTurns(_ effects: inout Effects) {
        guard let next = inFlight.first(where: \.isAwaited), let stop = next.stop else { return }
        next.leaveAt = min(next.leaveAt, heardAt + grace(for: next.request, stop))
        effects.deadline = min(effects.deadline, next.leaveAt)
    }

    /// The time for which the caller of a stopped request waits for the server's confirmation.
    private func grace(for request: Request, _ stop: Request.Stop) -> Duration {
        // No deadline has passed, and the server is in the middle of its answer.
        if case .tooLarge = stop { return Self.patience }
        return request.traits.isUndoing ? .zero : cancellationGrace
    }

    /// Resumes a stopped request's caller; the answer is still read.
    private func leave(_ pending: PendingRequest, _ effects: inout Effects) {
        guard let stop = pending.stop else { return }
        pending.leaveAt = .never
        pending.parties.remove(.caller)
        effects.completions.append(
            Completion(
                request: pending.request, result: .failure(pending.stopped(stop, nil)), parties: .caller))
    }

    // MARK: Giving up

    /// The consequence of statements that the server has not stopped in time.
    enum LetGo {
        case nothing
        /// Their callers went on, and the held requests go to another connection; the present connection is closed
        /// after the answers that other requests await.
        case givesUp
        /// No other request awaits its answer: the connection is closed at once.
        case ends(PostgresError)
    }

    /// Resumes the callers whose statements the server has not stopped in time, and gives the connection up.
    mutating func letGo(at now: MonotonicTime, _ effects: inout Effects) -> LetGo {
        let leaving = inFlight.filter { $0.leaveAt <= now }
        let isAwaited = inFlight.contains { $0.isAwaited && $0.leaveAt > now }
        let isOverdue = cancellation.map { $0.giveUpAt <= now } ?? false
        // The answers that other requests await may come yet: they have deadlines of their own.
        if isOverdue, isAwaited { cancellation?.giveUpAt = now + Self.patience }
        if leaving.isEmpty, !(isOverdue && isAwaited) { return .nothing }
        guard isAwaited, leaving.allSatisfy(\.request.traits.mayLeave) else {
            return .ends(
                PostgresError(.timeout, "The server did not stop a statement in time; the connection was closed"))
        }
        for pending in leaving { leave(pending, &effects) }
        isGivenUp = true
        effects.isRetired = true
        return .givesUp
    }

    // MARK: Cancel requests

    /// Whether the first request is to be cancelled; it may have been answered in the meantime.
    var needsCancel: Bool {
        guard let first = inFlight.first, cancellation?.isSending != true else { return false }
        return first.stop != nil || (first.request.copy != nil && first.error != nil)
    }

    /// Notes that a cancel request for the first request goes out.
    mutating func beginCancel(at now: MonotonicTime, _ effects: inout Effects) {
        guard let target = inFlight.first?.request.id else { return }
        let giveUpAt =
            cancellation.flatMap { $0.target == target ? $0.giveUpAt : nil }
            ?? now + max(Self.patience, cancellationGrace)
        cancellation = Cancellation(target: target, giveUpAt: giveUpAt)
        effects.deadline = min(effects.deadline, giveUpAt)
    }

    /// Notes that the server has taken the cancel request: statements sent from now on are safe from it.
    ///
    /// - Returns: whether the connection is still open; the held requests are sent then.
    mutating func endCancel(at now: MonotonicTime, _ effects: inout Effects) -> Bool {
        guard endReason == nil, var current = cancellation else { return false }
        for pending in inFlight { pending.mayBeHit = true }
        if inFlight.first?.request.id == current.target {
            current.isSending = false
            current.repeatAt = now + .milliseconds(250)
            effects.deadline = min(effects.deadline, current.repeatAt)
            cancellation = current
        } else {
            cancellation = nil
            effects.sendsCancel = inFlight.first?.stop != nil
        }
        return true
    }

    // MARK: Deadlines

    /// The requests past their deadline.
    func late(at now: MonotonicTime) -> [Request.ID] {
        (inFlight + held).filter { $0.deadline <= now }.map(\.request.id)
    }

    /// Repeats a cancel request that had no effect.
    ///
    /// - Returns: the reason to close the connection, if the server had its time.
    func overdueCancellation(at now: MonotonicTime, _ effects: inout Effects) -> PostgresError? {
        guard let cancellation else { return nil }
        if now >= cancellation.giveUpAt {
            return PostgresError(
                .connectionLost, "The server did not stop a statement in time; the connection was closed")
        }
        if !cancellation.isSending, now >= cancellation.repeatAt { effects.sendsCancel = true }
        return nil
    }

    /// When something is due next.
    func nextDeadline(after now: MonotonicTime) -> MonotonicTime {
        let own = cancellation.map { min($0.giveUpAt, $0.isSending ? .never : max($0.repeatAt, now)) } ?? resetIsDue
        return (inFlight + held).reduce(own) { min($0, $1.deadline, $1.leaveAt) }
    }
}
