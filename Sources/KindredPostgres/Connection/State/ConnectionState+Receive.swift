import CLibPQ
import DequeModule
import Logging

extension ConnectionState {
    /// Reads the server's bytes and hands out complete answers.
    mutating func socketIsReady(_ effects: inout Effects) {
        guard let handle else { return }
        let completeCount = arriving.completeCount
        copyAnswer?.willRead()
        let isAlive = consumeInput(handle)
        copyAnswer?.didRead()
        heardAt = .now
        endIfCut(&effects)
        let effort = effortSoFar
        receive(&effects)
        guard self.handle != nil else { return }
        if !isAlive || !handle.isAlive {
            return end(notices.lastWords ?? handle.lost, &effects)
        }
        // Makes libpq process notices and notifications that arrived on an idle connection.
        if inFlight.isEmpty { _ = handle.isBusy }
        // Notifications must not pile up.
        notices.takeNotifications(of: handle)
        limitArriving(completeBefore: completeCount, &effects)
        limitEffort(since: effort, completeBefore: completeCount, &effects)
        guard self.handle != nil else { return }
        if inFlight.isEmpty {
            // libpq takes the server's last words on an idle connection for a notice, and shows the connection's end
            // only at the second look.
            _ = handle.isBusy
            if let lastWords = notices.lastWords { return end(lastWords, &effects) }
            tellParameterChanges()
        }
        if inFlight.first?.copyPhase == .input { copyAnswer?.look(handle, notices) }
        if wantsWrite { flush(&effects) }
    }

    /// Hands out the answers that libpq has complete.
    mutating func receive(_ effects: inout Effects) {
        guard let handle else { return }
        while let first = inFlight.first, self.handle != nil, !handle.isBusy {
            if let phase = first.copyPhase {
                guard phase == .output, passCopyData(handle) else { return }
                continue
            }
            guard let result = handle.nextResult() else {
                if isInScript { return finishScript(handle, &effects) }
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
                finishFirst(&effects)
            case PGRES_PIPELINE_ABORTED:
                result.clear()
                first.hasAnswer = true
                refused(first)
            case PGRES_TUPLES_OK where isUnfinished(result, of: first):
                result.clear()
                let error = PostgresError(.protocolViolation, "The server broke off the answer to a statement")
                first.fail(error, at: nil)
                return end(error, &effects)
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                first.hasAnswer = true
                copyAnswer?.wasShown(result)
                accept(result, for: first)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                let status = result.status
                copyAnswer?.wasShown(result)
                result.clear()
                if beginCopy(status, &effects) { continue }
                first.fail(
                    PostgresError(.invalidParameter, "COPY from or to the client cannot be sent as a query"), at: nil)
                end(
                    PostgresError(.connectionLost, "Another statement left the connection unusable"), &effects)
            default:
                first.hasAnswer = true
                fail(result, of: first)
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
    private mutating func accept(_ result: ResultHandle, for pending: PendingRequest) {
        switch pending.currentStep {
        case .prepare?, .discard?:
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
        case nil where isInScript || pending.isReset:
            result.clear()
        case nil:
            result.clear()
            pending.fail(PostgresError(.protocolViolation, "The server sent an unexpected answer"), at: nil)
        }
    }

    /// Records the error of a step.
    private mutating func fail(_ result: ResultHandle, of pending: PendingRequest) {
        let error = LibPQ.error(result)
        var failed: Int?
        // The first of its statements begins the transaction that protects the requests behind.
        if pending.isReset, pending.error == nil { pending.isResetBegun = pending.step > 0 }
        switch pending.currentStep {
        case .execute(let entry, let position)?:
            failed = position
            if let entry { forgetIfStale(entry, after: error, in: result, of: pending) }
        case .describe(let entry?)?:
            forgetIfStale(entry, after: error, in: result, of: pending)
        case .prepare?:
            failed = pending.positionAfterStep
        case .describe?, .discard?, nil:
            break
        }
        refused(pending)
        pending.fail(error, at: failed)
    }

    /// Evicts a prepared statement that is stale or unknown to the server, so that it is prepared again.
    private mutating func forgetIfStale(
        _ entry: StatementCache.Entry, after error: PostgresError, in result: ResultHandle, of pending: PendingRequest
    ) {
        guard Self.isStale(error, result) else { return }
        if error.sqlState != .invalidStatementName {
            cache.remove(entry)
        } else if cache.lose(entry) {
            context.logger?.warning(
                """
                sessions change between statements, as behind a pooler that lends them by transaction: nothing is \
                prepared any more; set statementCacheCapacity to 0
                """)
        }
        if pending.error == nil { pending.isStale = true }
    }

    /// Evicts a statement whose preparation failed or was skipped.
    private mutating func refused(_ pending: PendingRequest) {
        if case .prepare(let entry)? = pending.currentStep { cache.remove(entry, wasRefused: true) }
    }

    /// Whether the error means that a prepared statement is stale or unknown to the server.
    private static func isStale(_ error: PostgresError, _ result: ResultHandle) -> Bool {
        switch error.sqlState {
        case .invalidStatementName?: true
        case .featureNotSupported?: result.field("R") == "RevalidateCachedQuery"
        // A type that the statement was prepared with was dropped ("cache lookup failed for type …").
        case .internalError?: true
        default: false
        }
    }

    /// A session setting that a statement changed and decoding depends on, if any.
    private func settingViolation(of handle: ConnectionHandle) -> String? {
        // libpq does not tell the encoding of a connection that has ended; its last answers are still valid.
        if handle.isAlive, !handle.usesUTF8 {
            return "client_encoding has to stay UTF8"
        }
        // Only SQL of the program can change it.
        if traces.mayExist, handle.isOn("standard_conforming_strings") == false {
            return "standard_conforming_strings has to stay on"
        }
        return nil
    }

    /// Gives the first request's caller its answer, now that its Sync is confirmed.
    private mutating func finishFirst(_ effects: inout Effects) {
        if let handle, let violation = settingViolation(of: handle) {
            // Later texts would be decoded wrongly.
            inFlight.first?.fail(
                PostgresError(.invalidParameter, "The \(violation); the connection was closed"), at: nil)
            return end(
                PostgresError(.connectionLost, "The session's settings changed: \(violation)"), &effects)
        }
        if let first = inFlight.first, first.isReset, let error = first.error {
            return resetFailed(error, isBegun: first.isResetBegun, &effects)
        }
        if let first = inFlight.first, first.request.traits.end != nil, isInTransaction == true {
            // The open transaction belongs to no known task.
            if first.request.traits.end == .commit { first.leftTransaction() }
            return end(
                PostgresError(.connectionLost, "The session is still in a transaction after COMMIT or ROLLBACK"),
                &effects)
        }
        if notices.takeUnreplicatedCommit() { inFlight.first?.wasNotReplicated() }
        tellParameterChanges()
        guard let pending = inFlight.popFirst() else { return }
        let request = pending.request
        bytesInFlight = inFlight.isEmpty ? 0 : max(0, bytesInFlight - request.size)
        if let error = pending.error, isMisfit(error) { effects.isRetired = true }
        if request.traits.isInTransaction, request.traits.end == nil, isInTransaction == false {
            pending.transactionHasEnded()
        }
        if cancellation?.target == request.id, cancellation?.isSending == false { cancellation = nil }
        if mayRepeat(pending) {
            let again = PendingRequest(request, deadline: pending.deadline, attempts: pending.attempts + 1)
            submit(again, &effects)
        } else {
            effects.completions.append(pending.completion)
        }
        if inFlight.first?.stop != nil, cancellation == nil { effects.sendsCancel = true }
        effects.deadline = min(effects.deadline, resetIsDue)
        if let next = held.first, cancellation?.isSending != true, !isInScript,
            inFlight.isEmpty || (next.request.script == nil && hasRoom(for: next.request))
        {
            sendHeld(&effects)
        }
    }

    private mutating func finishScript(_ handle: ConnectionHandle, _ effects: inout Effects) {
        copyAnswer = nil
        guard handle.enterPipelineMode() else {
            return end(handle.lost, &effects)
        }
        finishFirst(&effects)
    }

    /// Whether the failure is not the request's own: a stale plan, or a cancel request meant for another statement.
    private func mayRepeat(_ pending: PendingRequest) -> Bool {
        let request = pending.request
        guard let error = pending.error, pending.stop == nil, pending.attempts < 3, request.hiddenCount == 0,
            request.traits.mayRepeat,
            request.traits.isAutocommit || (inFlight.isEmpty && isInTransaction == false)
        else { return false }
        if error.sqlState == .queryCanceled { return pending.mayBeHit || cancellation?.isSending == true }
        return pending.attempts == 0 && pending.isStale
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
