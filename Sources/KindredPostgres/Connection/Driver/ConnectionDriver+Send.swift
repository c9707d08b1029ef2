extension ConnectionDriver {
    /// Writes a request with its Sync into the pipeline.
    mutating func send(_ pending: PendingRequest, _ effects: inout Effects) {
        guard let handle else { return submit(pending, &effects) }
        let request = pending.request
        if state.traces.areOfOthers {
            sendReset(handle, &effects)
            guard self.handle != nil else { return submit(pending, &effects) }
            if state.holdsScript(pending) { return flush(&effects) }
        }
        if let script = request.script { return send(script: script, of: pending, &effects) }
        if request.traits.isAutocommit { deallocate(state.takeEvicted(before: request), over: handle, &effects) }
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
        let isSent = putBack(behind: pending, handle, &effects) && handle.sendSync()
        state.noteSent(pending, &effects.state)
        if isSent && handle.isAlive {
            if let question = request.traits.question?.next() {
                // Flushes both.
                return send(PendingRequest(question, deadline: pending.deadline), &effects)
            }
            flush(&effects)
        } else {
            receive(&effects)
            end(handle.lost, &effects)
        }
    }

    /// Deallocates evicted statements.
    private mutating func deallocate(_ names: [String], over handle: ConnectionHandle, _ effects: inout Effects) {
        if names.isEmpty { return }
        let cleaning = PendingRequest(Request(id: 0, statements: []))
        for name in names {
            // A pooler that tracks prepared statements knows names of its own, and sees the protocol's Close alone.
            let isSent =
                state.sharesSession ? handle.closePrepared(name) : handle.send("DEALLOCATE \(name)", Bindings())
            guard isSent else { break }
            cleaning.steps.append(.discard)
        }
        if cleaning.steps.isEmpty { return }
        guard handle.sendSync() else { return }
        state.noteSent(cleaning, &effects.state)
    }

    /// Sends a script in the simple protocol; the connection leaves pipeline mode until the answer.
    private mutating func send(script: String, of pending: PendingRequest, _ effects: inout Effects) {
        guard let handle else { return }
        let request = pending.request
        state.noteScript(pending)
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
        let sending = state.sending(statement, at: position, of: pending)
        guard let entry = sending.entry else {
            pending.steps.append(.execute(nil, position: position))
            return handle.send(statement.text.text, statement.bindings, resultFormat: format)
        }
        if sending.prepares {
            guard handle.prepare(entry.sentText, statement.bindings, as: entry.name) else {
                state.cache.remove(entry, wasRefused: true)
                return false
            }
            pending.steps.append(.prepare(entry))
        }
        let isSent =
            sending.isDescription
            ? handle.describe(entry.name)
            : handle.execute(entry.cName, statement.bindings, resultFormat: format)
        guard isSent else { return false }
        pending.steps.append(sending.isDescription ? .describe(entry) : .execute(entry, position: position))
        return true
    }

    // MARK: Reset

    /// Puts an idle session back.
    mutating func resetIdleSession(_ now: MonotonicTime, _ effects: inout Effects) {
        guard let handle, state.resetIsDue <= now else { return }
        sendReset(handle, &effects)
        flush(&effects)
    }

    /// Writes the statements that put the session back into the pipeline; ends the connection if that fails.
    private mutating func sendReset(_ handle: ConnectionHandle, _ effects: inout Effects) {
        let statements = resetStatements()
        let isSent =
            handle.send(ConnectionState.resetBeginning, Bindings())
            && statements.allSatisfy { handle.send($0.text, texts: $0.values) } && handle.send("COMMIT", Bindings())
        guard isSent, handle.sendSync() else { return end(handle.lost, &effects) }
        state.noteReset(&effects.state)
    }

    /// Writes the statements that put the session back, behind the statements of a request, if it needs them; returns
    /// whether libpq took all.
    private mutating func putBack(
        behind pending: PendingRequest, _ handle: ConnectionHandle, _ effects: inout Effects
    ) -> Bool {
        guard pending.error == nil, state.putsBack(behind: pending.request) else { return true }
        for statement in resetStatements() {
            guard handle.send(statement.text, texts: statement.values) else { return false }
            pending.steps.append(.reset)
        }
        effects.state.hasReset = true
        return true
    }

    private mutating func resetStatements() -> [Connector.Question] {
        let includesPrepared = state.beginReset()
        return ConnectionState.resetStatements.map { Connector.Question($0) }
            + startupSettings.map { Connector.Question.setting($0.name, to: $0.value) }
            + (includesPrepared ? [Connector.Question("DEALLOCATE ALL")] : [])
    }

    // MARK: Output

    /// Writes pending output, as far as the socket takes it.
    mutating func flush(_ effects: inout Effects) {
        guard let handle else { return }
        let flushed = handle.flush()
        let wants = flushed == .partly
        if wants != wantsWrite {
            wantsWrite = wants
            watchSocket()
            if !wants, state.inFlight.first?.copyPhase == .input {
                state.noteServersAnswer()
                state.inFlight.first?.request.copy?.change { $0.isFlushed = true }
            }
        }
        // The server may have sent the reason before it closed; reading finds it.
        if flushed == .failed { socketIsReady(&effects) }
    }
}
