import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The data of a running COPY.
extension ConnectionDriver {
    /// Handles the server's beginning of a COPY; false if that makes the connection unusable.
    mutating func beginCopy(_ status: ExecStatusType, _ effects: inout Effects) -> Bool {
        let direction: CopyOperation.Direction? =
            status == PGRES_COPY_IN ? .input : status == PGRES_COPY_OUT ? .output : nil
        switch state.beginCopy(direction, &effects.state) {
        case .goes: return true
        case .stops:
            stopCopy(&effects)
            return true
        case .fails: return false
        }
    }

    /// Passes on copied data; false if there is more to come.
    mutating func passCopyData(_ handle: ConnectionHandle) -> Bool {
        guard let pending = state.inFlight.first else { return false }
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
            state.noteServersAnswer()
            if pending.request.copy?.append(row) == true { setReads(false) }
        }
    }

    /// Writes data to be copied, as far as the socket has room.
    ///
    /// Within that limit libpq does not read while it writes; under TLS the meter would miss those bytes.
    ///
    /// - Returns: the number of bytes taken; nil if the server accepts no further data.
    mutating func writeCopyData(_ bytes: ByteView, of id: Request.ID, _ effects: inout Effects) -> Int? {
        guard let handle, let copy = state.copyInput(id)?.request.copy else { return nil }
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
        guard let handle, let pending = state.copyInput(id) else { return }
        pending.copyPhase = nil
        pending.isCopyUndone = failure != nil
        copyAnswer = nil
        guard handle.endCopyData(failure: failure) else {
            return end(handle.lost, &effects)
        }
        flush(&effects)
        receive(&effects)
    }

    /// Stops copying: further output is discarded, input is rolled back.
    mutating func stopCopy(_ effects: inout Effects) {
        guard let pending = state.inFlight.first else { return }
        switch pending.copyPhase {
        case .input?: endCopyData(pending.request.id, failure: "cancelled by the client", &effects)
        case .output?: setReads(true)
        case nil: break
        }
    }

    /// Resumes reading after a pause.
    mutating func resumeCopy(_ id: Request.ID, _ effects: inout Effects) {
        guard handle != nil, state.inFlight.first?.request.id == id else { return }
        setReads(true)
        socketIsReady(&effects)
    }
}
