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
    mutating func passCopyData(_ handle: OpaquePointer) -> Bool {
        let pending = inFlight[0]
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &buffer, 1)
            guard count > 0, let buffer else {
                if count == 0 { return false }
                pending.copyPhase = nil
                setReads(true)
                return true
            }
            defer { PQfreemem(buffer) }
            if pending.stop != nil || pending.error != nil {
                pending.isCut = true
                arriving.end()
                continue
            }
            serverHasAnswered()
            arriving.end()
            let bytes = [UInt8](UnsafeRawBufferPointer(start: buffer, count: Int(count)))
            if pending.request.copy?.append(bytes) == true { setReads(false) }
        }
    }

    /// Writes data to be copied, as far as the socket has room.
    ///
    /// Within that limit libpq does not read while it writes; under TLS the meter would miss those bytes.
    ///
    /// - Returns: the number of bytes taken; nil if the server accepts no more.
    mutating func writeCopyData(_ id: Request.ID, _ bytes: UnsafeRawBufferPointer, _ effects: inout Effects) -> Int? {
        guard let handle, let pending = inFlight.first, pending.request.id == id, pending.copyPhase == .input,
            let copy = pending.request.copy
        else { return nil }
        copyAnswer?.didRead()
        copyAnswer?.look(handle, notices)
        if copyAnswer?.isThere == true { return nil }
        var count = 0
        while count < bytes.count, hasRoomToWrite {
            let part = UnsafeRawBufferPointer(rebasing: bytes[count...].prefix(8 << 10))
            let start = part.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard PQputCopyData(handle, start, Int32(part.count)) == 1 else {
                end(LibPQ.connectionLost(LibPQ.message(of: handle)), &effects)
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
        var polled = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        // libpq reports the errors.
        return poll(&polled, 1, 0) != 0
    }

    /// Ends the data to be copied; with a failure the server rolls the COPY back.
    mutating func endCopyData(_ id: Request.ID, failure: String?, _ effects: inout Effects) {
        guard let handle, let pending = inFlight.first, pending.request.id == id, pending.copyPhase == .input
        else { return }
        pending.copyPhase = nil
        copyAnswer = nil
        guard PQputCopyEnd(handle, failure) == 1 else {
            return end(LibPQ.connectionLost(LibPQ.message(of: handle)), &effects)
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
    mutating func setDeadline(_ id: Request.ID, _ deadline: MonotonicTime, _ effects: inout Effects) {
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
