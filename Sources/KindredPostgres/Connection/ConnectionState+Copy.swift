import CLibPQ
import DequeModule

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// COPY: between its beginning and its end the connection belongs to one request, out of pipeline mode.
extension ConnectionState {
    /// Takes in that the server has begun to copy; false if it does so unasked, and the connection is of no use.
    mutating func beginCopy(_ status: ExecStatusType, _ effects: inout Effects) -> Bool {
        let pending = inFlight[0]
        guard let copy = pending.request.copy, status != PGRES_COPY_BOTH else { return false }
        let isInput = status == PGRES_COPY_IN
        pending.copyPhase = isInput ? .input : .output
        // What else is sent in the transaction is refused from here on, instead of waiting for the end of this.
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

    /// Hands over what the server copies; false if there is more to come.
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

    /// Writes data to be copied, as much as there is room for.
    ///
    /// Only then does libpq not begin to read by itself, where the encryption hides from the meter what it reads.
    ///
    /// - Returns: how many bytes were taken; nil if the server takes no more.
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
        // An error is for libpq to find out.
        return poll(&polled, 1, 0) != 0
    }

    /// Ends the data to be copied; with a reason, the server undoes what it has copied.
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

    /// Stops copying: what still comes is thrown away, what was sent is undone.
    mutating func stopCopy(_ effects: inout Effects) {
        guard let pending = inFlight.first else { return }
        switch pending.copyPhase {
        case .input?: endCopyData(pending.request.id, failure: "cancelled by the client", &effects)
        case .output?: setReads(true)
        case nil: break
        }
    }

    /// Reads on after a pause.
    mutating func resumeCopy(_ id: Request.ID, _ effects: inout Effects) {
        guard handle != nil, inFlight.first?.request.id == id else { return }
        setReads(true)
        socketIsReady(&effects)
    }

    /// Ends the time that the server has: from here on it is the task that is waited for.
    func serverHasAnswered() {
        inFlight.first?.deadline = .never
    }

    /// How long the task that copies waits for the server from now on.
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
