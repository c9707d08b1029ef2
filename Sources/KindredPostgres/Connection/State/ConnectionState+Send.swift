import DequeModule

extension ConnectionState {
    /// How a statement is sent.
    struct Sending {
        /// Its prepared statement; nil if it is sent as it is.
        var entry: StatementCache.Entry?
        /// Whether it is prepared first.
        var prepares = false
        /// Whether only its columns are asked for.
        var isDescription = false
    }

    /// Chooses how a statement of a request is sent, with a prepared statement or without.
    mutating func sending(_ statement: Statement, at position: Int, of pending: PendingRequest) -> Sending {
        let isDescription = pending.request.traits.isDescription && position >= pending.request.hiddenCount
        if !isDescription { noteTraces(of: statement.text) }
        // A request repeated because of a stale prepared statement does not use a prepared statement. SQL of the
        // program is not repeated in its transaction, where a pooler shares sessions. A statement that deallocates
        // statements would deallocate itself.
        let isNamed =
            !cache.isOff && pending.attempts == 0
            && !(statement.text.mayChangeSession && (sharesSession || statement.text.mayDeallocate))
        if !isNamed || statement.text.isOneTime, !isDescription { return Sending() }
        if isNamed, let known = cache.find(statement) { return Sending(entry: known, isDescription: isDescription) }
        let entry = isNamed ? cache.insert(statement) : .unnamed(statement)
        return Sending(entry: entry, prepares: true, isDescription: isDescription)
    }

    /// Makes room for a request's statements, if any is new; returns the evicted statements, to deallocate on the
    /// server.
    ///
    /// Outside of transactions only, since DEALLOCATE fails in a failed transaction.
    mutating func takeEvicted(before request: Request) -> [String] {
        if cache.isFull, !cache.isOff,
            request.statements.contains(where: { !$0.text.isOneTime && cache.find($0) == nil })
        {
            cache.makeRoom()
        }
        return cache.discarded.isEmpty ? [] : cache.takeDiscarded()
    }

    /// Notes that a request was sent.
    mutating func noteSent(_ pending: PendingRequest, _ effects: inout Effects) {
        inFlight.append(pending)
        bytesInFlight += pending.request.size
        // On a shared connection each request is another task's.
        if pending.request.lease != nil { endUse(&effects) }
    }

    /// Holds a script behind a reset that was sent: it cannot be sent in a pipeline, and waits for the answer.
    ///
    /// - Returns: whether the request is a script.
    mutating func holdsScript(_ pending: PendingRequest) -> Bool {
        guard pending.request.script != nil else { return false }
        held.append(pending)
        return true
    }

    /// Notes that a script is sent.
    mutating func noteScript(_ pending: PendingRequest) {
        traces.mayExist = true
        if pending.request.copy == nil { noteLostPrepared() }
        inFlight.append(pending)
    }
}
