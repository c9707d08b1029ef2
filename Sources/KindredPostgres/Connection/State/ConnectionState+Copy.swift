import CLibPQ
import DequeModule

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// COPY: from its beginning to its end the connection serves one request, out of pipeline mode.
extension ConnectionState {
    /// Handles the server's beginning of a COPY; false if the COPY was not requested, which makes the connection
    /// unusable.
    mutating func beginCopy(_ status: ExecStatusType, _ effects: inout Effects) -> Bool {
        let pending = inFlight[0]
        guard let copy = pending.request.copy, status != PGRES_COPY_BOTH else { return false }
        let isInput = status == PGRES_COPY_IN
        pending.copyPhase = isInput ? .input : .output
        // From here on other statements of the transaction are refused; waiting for this one could deadlock.
        effects.opened = pending.request.scope.map { ($0, pending.request.hiddenCount) }
        pending.parties.remove(.scope)
        let isAsked = isInput == (copy.direction == .input)
        if !isAsked {
            pending.fail(
                PostgresError(.invalidParameter, "The statement copies in the other direction"), at: nil)
            if !isInput { effects.sendsCancel = cancellation == nil }
        }
        if pending.stop != nil || !isAsked {
            pending.isCut = true
            stopCopy(&effects)
        } else {
            serverHasAnswered()
            copy.change { $0.isOpen = true }
        }
        return true
    }

    /// Passes on copied data; false if there is more to come.
    mutating func passCopyData(_ handle: ConnectionHandle) -> Bool {
        let pending = inFlight[0]
        while true {
            let isDiscarded = pending.stop != nil || pending.error != nil
            var row: [UInt8] = []
            switch handle.receiveCopyData({ if !isDiscarded { row = $0.array } }) {
            case .row: break
            case .nothing: return false
            case .end:
                pending.copyPhase = nil
                setReads(true)
                return true
            }
            arriving.end()
            if isDiscarded {
                pending.isCut = true
                continue
            }
            serverHasAnswered()
            if pending.request.copy?.append(row) == true { setReads(false) }
        }
    }

    /// Writes data to be copied, as far as the socket has room.
    ///
    /// Within that limit libpq does not read while it writes; under TLS the meter would miss those bytes.
    ///
    /// - Returns: the number of bytes taken; nil if the server accepts no more.
    mutating func writeCopyData(_ bytes: ByteView, of id: Request.ID, _ effects: inout Effects) -> Int? {
        guard let handle, let pending = inFlight.first, pending.request.id == id, pending.copyPhase == .input,
            let copy = pending.request.copy
        else { return nil }
        copyAnswer?.didRead()
        copyAnswer?.look(handle, notices)
        if copyAnswer?.isThere == true { return nil }
        var count = 0
        while count < bytes.count, hasRoomToWrite {
            let part = bytes.part(count..<min(bytes.count, count + 8 << 10))
            guard handle.sendCopyData(part) else {
                end(handle.lost, &effects)
                return nil
            }
            count += part.count
        }
        if count == bytes.count {
            flush(&effects)
        } else if !wantsWrite {
            wantsWrite = true
            watchSocket()
        }
        let isFlushed = !wantsWrite
        copy.change { $0.isFlushed = isFlushed }
        return count
    }

    private var hasRoomToWrite: Bool {
        // libpq reports the errors.
        SystemCalls.wait(for: Int32(POLLOUT), socket, milliseconds: 0) != false
    }

    /// Ends the data to be copied; with a failure the server rolls the COPY back.
    mutating func endCopyData(_ id: Request.ID, failure: String?, _ effects: inout Effects) {
        guard let handle, let pending = inFlight.first, pending.request.id == id, pending.copyPhase == .input
        else { return }
        pending.copyPhase = nil
        copyAnswer = nil
        guard handle.endCopyData(failure: failure) else {
            return end(handle.lost, &effects)
        }
        flush(&effects)
        receive(&effects)
    }

    /// Stops copying: further output is discarded, input is rolled back.
    mutating func stopCopy(_ effects: inout Effects) {
        guard let pending = inFlight.first else { return }
        switch pending.copyPhase {
        case .input?: endCopyData(pending.request.id, failure: "cancelled by the client", &effects)
        case .output?: setReads(true)
        case nil: break
        }
    }

    /// Resumes reading after a pause.
    mutating func resumeCopy(_ id: Request.ID, _ effects: inout Effects) {
        guard handle != nil, inFlight.first?.request.id == id else { return }
        setReads(true)
        socketIsReady(&effects)
    }

    /// Stops the server's deadline: from here on the server waits for the task.
    func serverHasAnswered() {
        inFlight.first?.deadline = .never
    }

    /// Sets how long the copying task waits for the server from now on.
    mutating func setDeadline(of id: Request.ID, _ deadline: MonotonicTime, _ effects: inout Effects) {
        guard let pending = inFlight.first(where: { $0.request.id == id }), pending.stop == nil else { return }
        pending.deadline = deadline
        effects.deadline = min(effects.deadline, deadline)
    }

    mutating func setReads(_ reads: Bool) {
        guard wantsRead != reads else { return }
        wantsRead = reads
        watchSocket()
    }
}
