import DequeModule

extension ConnectionState {
    /// Writes a request with its Sync into the pipeline.
    mutating func send(_ pending: PendingRequest, _ effects: inout Effects) {
        guard let handle else { return submit(pending, &effects) }
        let request = pending.request
        if traces.areOfOthers {
            sendReset(handle, &effects)
            guard self.handle != nil else { return submit(pending, &effects) }
            if request.script != nil {
                // A script cannot be sent in a pipeline: it waits for the answer.
                held.append(pending)
                return flush(&effects)
            }
        }
        if let script = request.script { return send(script: script, pending, &effects) }
        if request.traits.isAutocommit { discardOld(for: request, handle) }
        for (position, statement) in request.statements.enumerated() {
            guard append(statement, at: position, to: pending, handle) else {
                guard handle.isAlive else { break }
                // The Sync still goes out, so that answers and requests stay aligned.
                pending.fail(
                    PostgresError(
                        .invalidParameter, "libpq could not send the statement",
                        underlying: LibPQ.lines(of: handle.message)),
                    at: position)
                break
            }
        }
        let isSent = handle.sendSync()
        inFlight.append(pending)
        bytesInFlight += request.size
        // On a shared connection each request is another task's.
        if request.lease != nil { endUse(&effects) }
        if isSent && handle.isAlive {
            flush(&effects)
        } else {
            receive(&effects)
            end(handle.lost, &effects)
        }
    }

    /// Deallocates evicted statements; outside of transactions only, as DEALLOCATE fails in a failed one.
    mutating func discardOld(for request: Request? = nil, _ handle: ConnectionHandle) {
        if cache.isFull, !cache.isOff, let request,
            request.statements.contains(where: { !$0.text.isOneTime && cache.find($0) == nil })
        {
            cache.makeRoom()
        }
        guard !cache.discarded.isEmpty else { return }
        let cleaning = PendingRequest(Request(id: 0, statements: []))
        for name in cache.takeDiscarded() {
            guard handle.send("DEALLOCATE \(name)", Bindings()) else { break }
            cleaning.steps.append(.discard)
        }
        guard handle.sendSync() else { return }
        inFlight.append(cleaning)
    }

    /// Sends a script in the simple protocol; the connection leaves pipeline mode until the answer.
    private mutating func send(script: String, _ pending: PendingRequest, _ effects: inout Effects) {
        guard let handle else { return }
        let request = pending.request
        traces.mayExist = true
        if request.copy == nil { traces.includePrepared = true }
        inFlight.append(pending)
        copyAnswer = request.copy?.direction == .input ? CopyAnswer(handle, notices) : nil
        let text = (request.statements.map(\.text.text) + [script]).joined(separator: "; ")
        if handle.exitPipelineMode(), handle.send(script: text) {
            flush(&effects)
        } else {
            end(handle.lost, &effects)
        }
    }

    /// Writes a statement, preceded by its preparation if it is not prepared.
    private mutating func append(
        _ statement: Statement, at position: Int, to pending: PendingRequest, _ handle: ConnectionHandle
    ) -> Bool {
        let format: Int32 = statement.resultFormat == .binary ? 1 : 0
        let isDescription = pending.request.traits.isDescription && position >= pending.request.hiddenCount
        if !isDescription { noteTraces(of: statement.text) }
        // A request repeated because of a stale prepared statement does not use a prepared one.
        let isNamed = !cache.isOff && pending.attempts == 0
        if !isNamed || statement.text.isOneTime, !isDescription {
            pending.steps.append(.execute(nil, position: position))
            return handle.send(statement.text.text, statement.bindings, resultFormat: format)
        }
        let entry: StatementCache.Entry
        if isNamed, let known = cache.find(statement) {
            entry = known
        } else {
            entry = isNamed ? cache.insert(statement) : .unnamed(statement)
            pending.steps.append(.prepare(entry))
            guard handle.prepare(statement.text.text, statement.bindings, as: entry.name) else {
                cache.remove(entry, wasRefused: true)
                pending.steps.removeLast()
                return false
            }
        }
        pending.steps.append(isDescription ? .describe(entry) : .execute(entry, position: position))
        let isSent =
            isDescription
            ? handle.describe(entry.name)
            : handle.execute(entry.cName, statement.bindings, resultFormat: format)
        if !isSent { pending.steps.removeLast() }
        return isSent
    }

    /// Writes pending output, as far as the socket takes it.
    mutating func flush(_ effects: inout Effects) {
        guard let handle else { return }
        let flushed = handle.flush()
        let wants = flushed == .partly
        if wants != wantsWrite {
            wantsWrite = wants
            watchSocket()
            if !wants, inFlight.first?.copyPhase == .input {
                serverHasAnswered()
                inFlight.first?.request.copy?.change { $0.isFlushed = true }
            }
        }
        // The server may have sent the reason before it closed; reading finds it.
        if flushed == .failed { socketIsReady(&effects) }
    }

    /// Tells the poller which events the connection waits for.
    func watchSocket() {
        guard handle != nil else { return }
        Poller.shared.setInterest(reads: wantsRead, writes: wantsWrite, socket: socket)
    }
}
