import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Cancels a session's statement while the connection itself is in use.
///
/// From libpq 17 on over a connection with the same encryption, and within a time limit. Before, in clear text, and for
/// as long as the server's machine takes.
struct CancelKey: Sendable {
    private enum Way {
        case key(OpaquePointer)
        case connection(OpaquePointer, CancelFunctions)
    }

    // Used by one thread only: the one that sends the request and frees it.
    private nonisolated(unsafe) let way: Way

    /// Prepares a cancel request while no other thread uses the connection; nil if out of memory.
    init?(for connection: OpaquePointer, functions: CancelFunctions? = .installed) {
        if let functions, let own = functions.create(connection) {
            way = .connection(own, functions)
        } else if let key = PQgetCancel(connection) {
            way = .key(key)
        } else {
            return nil
        }
    }

    /// Sends the request and frees everything; blocks until the server has taken it, or times out.
    ///
    /// Returns whether the server has taken it.
    @discardableResult
    func send(timeout: Duration = ConnectionState.patience) -> Bool {
        defer { free() }
        return switch way {
        case .key(let key):
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
                PQcancel(key, message.baseAddress, 256) == 1
            }
        case .connection(let connection, let functions):
            Self.send(connection, functions, by: MonotonicTime.now + timeout)
        }
    }

    func free() {
        switch way {
        case .key(let key): PQfreeCancel(key)
        case .connection(let connection, let functions): functions.finish(connection)
        }
    }

    private static func send(_ connection: OpaquePointer, _ functions: CancelFunctions, by deadline: MonotonicTime)
        -> Bool
    {
        guard functions.start(connection) == 1 else { return false }
        var status = PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = MonotonicTime.now
            guard now < deadline else { return false }
            let events = Int16(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var polled = pollfd(fd: functions.socket(connection), events: events, revents: 0)
            let milliseconds = (deadline.nanoseconds - now.nanoseconds) / 1_000_000 + 1
            poll(&polled, 1, Int32(clamping: min(milliseconds, 1_000)))
            if polled.revents != 0 { status = functions.poll(connection) }
        }
        return status == PGRES_POLLING_OK
    }
}

/// The cancel functions of libpq 17; an older library lacks them.
struct CancelFunctions: Sendable {
    typealias Create = @convention(c) (OpaquePointer) -> OpaquePointer?
    typealias Number = @convention(c) (OpaquePointer) -> Int32
    typealias Poll = @convention(c) (OpaquePointer) -> PostgresPollingStatusType
    typealias Finish = @convention(c) (OpaquePointer) -> Void

    let create: Create
    let start: Number
    let poll: Poll
    let socket: Number
    let finish: Finish

    /// The functions of the library loaded at run time, whichever version it was built with.
    static let installed = CancelFunctions { name in dlsym(dlopen(nil, RTLD_NOW), name) }

    init(
        create: @escaping Create, start: @escaping Number, poll: @escaping Poll, socket: @escaping Number,
        finish: @escaping Finish
    ) {
        (self.create, self.start, self.poll, self.socket, self.finish) = (create, start, poll, socket, finish)
    }

    /// Resolves the functions; nil if one is missing.
    init?(_ symbol: (String) -> UnsafeMutableRawPointer?) {
        guard let create = symbol("PQcancelCreate"), let start = symbol("PQcancelStart"),
            let poll = symbol("PQcancelPoll"), let socket = symbol("PQcancelSocket"),
            let finish = symbol("PQcancelFinish")
        else { return nil }
        // Sound: the names are libpq's, the types those of its header.
        self.create = unsafeBitCast(create, to: Create.self)
        self.start = unsafeBitCast(start, to: Number.self)
        self.poll = unsafeBitCast(poll, to: Poll.self)
        self.socket = unsafeBitCast(socket, to: Number.self)
        self.finish = unsafeBitCast(finish, to: Finish.self)
    }
}
