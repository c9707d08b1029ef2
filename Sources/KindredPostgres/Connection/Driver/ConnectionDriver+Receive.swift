import CLibPQ
import Logging

extension ConnectionDriver {
    /// Reads the server's bytes and hands out complete answers.
    mutating func socketIsReady(_ effects: inout Effects) {
        guard let handle else { return }
        let completeCount = arriving.completeCount
        copyAnswer?.willRead()
        let isAlive = consumeInput(handle)
        copyAnswer?.didRead()
        state.heardAt = .now
        endIfCut(&effects)
        let effort = effortSoFar
        receive(&effects)
        guard self.handle != nil else { return }
        if !isAlive || !handle.isAlive {
            return end(notices.lastWords ?? handle.lost, &effects)
        }
        // Makes libpq process notices and notifications that arrived on an idle connection.
        if state.inFlight.isEmpty { _ = handle.isBusy }
        // Notifications must not pile up.
        notices.takeNotifications(of: handle)
        limitArriving(completeBefore: completeCount, &effects)
        limitEffort(since: effort, completeBefore: completeCount, &effects)
        guard self.handle != nil else { return }
        if state.inFlight.isEmpty {
            // libpq takes the server's last words on an idle connection for a notice, and shows the connection's end
            // only at the second look.
            _ = handle.isBusy
            if let lastWords = notices.lastWords { return end(lastWords, &effects) }
            tellParameterChanges()
        }
        if state.inFlight.first?.copyPhase == .input { copyAnswer?.look(handle, notices) }
        if wantsWrite { flush(&effects) }
    }

    /// Hands out the answers that libpq has complete.
    mutating func receive(_ effects: inout Effects) {
        guard let handle else { return }
        while let first = state.inFlight.first, self.handle != nil, !handle.isBusy {
            if let phase = first.copyPhase {
                guard phase == .output, passCopyData(handle) else { return }
                continue
            }
            guard let result = handle.nextResult() else {
                if state.isInScript { return finishScript(handle, &effects) }
                // The end of a step's answer; libpq returns nil as well while it has nothing.
                guard first.hasAnswer else { return }
                first.hasAnswer = false
                first.step += 1
                continue
            }
            arriving.end()
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                result.clear()
                finishFirst(handle, &effects)
            case PGRES_PIPELINE_ABORTED:
                result.clear()
                first.hasAnswer = true
                state.noteRefused(first)
            case PGRES_TUPLES_OK where isUnfinished(result, of: first):
                let error = violation(
                    "The server broke off the answer to a statement", by: result, of: first, over: handle)
                result.clear()
                first.fail(error, at: nil)
                return end(error, &effects)
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                first.hasAnswer = true
                copyAnswer?.wasShown(result)
                accept(result, for: first, handle)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                let status = result.status
                copyAnswer?.wasShown(result)
                result.clear()
                if beginCopy(status, &effects) { continue }
                end(
                    PostgresError(.connectionLost, "Another statement left the connection unusable"), &effects)
            default:
                first.hasAnswer = true
                if state.fail(first, with: LibPQ.error(result)) { warnOfPooler() }
                result.clear()
                // libpq repeats the error for ever after the connection's end.
                if !handle.isAlive { return }
            }
        }
    }

    /// Whether rows arrived without the server's end of the result.
    private func isUnfinished(_ result: ResultHandle, of pending: PendingRequest) -> Bool {
        guard case .execute? = pending.currentStep else { return false }
        return result.hasNoCommandTag
    }

    /// Takes the result of a step.
    private mutating func accept(_ result: ResultHandle, for pending: PendingRequest, _ handle: ConnectionHandle) {
        switch pending.currentStep {
        case .prepare?, .discard?, .reset?:
            result.clear()
        case .execute(_, let position)? where sizeViolation(of: result) != nil:
            sizeViolation(of: result).map { pending.fail($0, at: position) }
            result.clear()
        case .execute(let entry, _)?:
            let isBinary = result.isBinary
            let known = entry?.columns.flatMap { columns in
                columns.count == result.columnCount && (columns.first?.format == .binary) == isBinary
                    ? columns : nil
            }
            let answer = QueryResult(taking: result, columns: known, types: context.types)
            if known == nil { entry?.columns = answer.columns }
            pending.append(answer)
        case .describe?:
            pending.append(QueryResult(taking: result, types: context.types))
        case nil where pending.request.copy != nil:
            pending.append(QueryResult(taking: result, types: context.types))
        case nil where state.isInScript || pending.isReset:
            result.clear()
        case nil:
            pending.fail(
                violation("The server sent an unexpected answer", by: result, of: pending, over: handle), at: nil)
            result.clear()
        }
    }

    /// The error of an answer that no server sends; writes the question and the answer to the log, as both are gone later.
    private func violation(
        _ message: String, by result: ResultHandle, of pending: PendingRequest, over handle: ConnectionHandle
    ) -> PostgresError {
        context.logger?.error(
            "\(message)",
            metadata: [
                "step": "\(pending.step) of \(pending.steps.count): \(pending.currentStep?.kind ?? "none")",
                "answers": "\(pending.results.count)", "attempt": "\(pending.attempts)",
                "inFlight": "\(state.inFlight.count)", "status": "\(result.status.rawValue)",
                "columns": "\(result.columnCount)", "rows": "\(result.rowCount)", "isAlive": "\(handle.isAlive)",
                "libpq": "\(handle.message)", "lastWords": "\(notices.lastWords?.message ?? "none")",
                "firstError": "\(pending.error?.message ?? "none")", "backend": "\(handle.processID)",
            ])
        return PostgresError(.protocolViolation, message)
    }

    private func warnOfPooler() {
        context.startupRequirements.notePooler()
        context.logger?.warning(
            """
            sessions change between statements, as behind a pooler that lends them by transaction: nothing is \
            prepared any more; set pooler to transaction, and leave statementCacheCapacity unset
            """)
    }

    /// A session setting that a statement changed and decoding depends on, if any.
    private func settingViolation(of handle: ConnectionHandle) -> String? {
        // libpq does not tell the encoding of a connection that has ended; its last answers are still valid.
        if handle.isAlive, !handle.usesUTF8 {
            return "client_encoding has to stay UTF8"
        }
        // Only SQL of the program can change it.
        if state.traces.mayExist, handle.isOn("standard_conforming_strings") == false {
            return "standard_conforming_strings has to stay on"
        }
        return nil
    }

    /// Gives the first request's caller its answer, now that its Sync is confirmed.
    private mutating func finishFirst(_ handle: ConnectionHandle, _ effects: inout Effects) {
        if let violation = settingViolation(of: handle) {
            // Later texts would be decoded wrongly.
            state.inFlight.first?.fail(
                PostgresError(.invalidParameter, "The \(violation); the connection was closed"), at: nil)
            return end(
                PostgresError(.connectionLost, "The session's settings changed: \(violation)"), &effects)
        }
        if let (reason, isUntouched) = state.endAfterAnswer(isInTransaction: handle.isInTransaction) {
            return end(reason, isUntouched: isUntouched, &effects)
        }
        if notices.takeUnreplicatedCommit() { state.inFlight.first?.wasNotReplicated() }
        tellParameterChanges()
        if let error = state.inFlight.first?.error, error.sqlState == .readOnlyTransaction {
            noteRefusedWrite(handle, &effects)
        }
        if let again = state.finishFirst(isInTransaction: handle.isInTransaction, &effects.state) {
            submit(again, &effects)
        }
        if state.sendsHeld(&effects.state) { sendHeld(&effects) }
    }

    private func noteRefusedWrite(_ handle: ConnectionHandle, _ effects: inout Effects) {
        context.readOnlyRefusals.continuation.yield()
        if isMisfit(handle) { effects.state.isRetired = true }
        if context.seeksWrites, takesNoWrites(handle) { effects.state.hasRefusedWrite = true }
    }

    /// Whether a refused write was the server's, and not that of a transaction or a session which the program has made
    /// read-only.
    ///
    /// Servers before 14 and poolers report nothing.
    private func takesNoWrites(_ handle: ConnectionHandle) -> Bool {
        if handle.isOn("in_hot_standby") == true { return true }
        let isInTransaction = state.inFlight.first?.request.traits.isInTransaction
        return !state.traces.mayBeReadOnly
            && handle.isOn("default_transaction_read_only") ?? (isInTransaction == false)
    }

    /// Whether the server became read-only although a writable one is required.
    ///
    /// An unreported setting counts as a mismatch: reconnecting once is cheap.
    private func isMisfit(_ handle: ConnectionHandle) -> Bool {
        switch context.configuration.targetSession {
        case .any, .readOnly, .standby, .preferStandby: false
        case .primary: handle.isOn("in_hot_standby") ?? true
        case .readWrite: handle.isOn("in_hot_standby") ?? true || handle.isOn("default_transaction_read_only") ?? true
        }
    }

    private mutating func finishScript(_ handle: ConnectionHandle, _ effects: inout Effects) {
        copyAnswer = nil
        guard handle.enterPipelineMode() else {
            return end(handle.lost, &effects)
        }
        finishFirst(handle, &effects)
    }

    /// Reports changed settings to the observers.
    mutating func tellParameterChanges() {
        guard let handle, !context.parameterChanges.isEmpty else { return }
        for change in parameters.changes(handle) {
            context.parameterChanges.tell(
                ServerParameterChange(name: change.name, value: change.value, processID: handle.processID))
        }
    }
}
