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
///
/// Safe: libpq copies the facts that it needs of the connection; one thread sends the request, which frees everything,
/// or frees it unsent.
@safe
struct CancelKey: Sendable {
    @safe
    private enum Way {
        case key(OpaquePointer)
        case connection(OpaquePointer, CancelFunctions)
    }

    @safe private nonisolated(unsafe) let way: Way

    /// Prepares a cancel request while no other thread uses the connection; nil if out of memory.
    init?(for connection: ConnectionHandle, functions: CancelFunctions? = .installed) {
        if let functions, let own = unsafe functions.create(connection.pointer) {
            way = unsafe .connection(own, functions)
        } else if let key = unsafe PQgetCancel(connection.pointer) {
            way = unsafe .key(key)
        } else {
            return nil
        }
    }

    /// Sends the request and frees everything; blocks until the server has taken it, or times out.
    ///
    /// Returns whether the server has taken it.
    @discardableResult
    func send(timeout: Duration) -> Bool {
        defer { free() }
        return switch way {
        case .key(let key):
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
                unsafe PQcancel(key, message.baseAddress, 256) == 1
            }
        case .connection(let connection, let functions):
            unsafe Self.send(connection, functions, by: MonotonicTime.now + timeout)
        }
    }

    func free() {
        switch way {
        case .key(let key): unsafe PQfreeCancel(key)
        case .connection(let connection, let functions): unsafe functions.finish(connection)
        }
    }

    private static func send(_ connection: OpaquePointer, _ functions: CancelFunctions, by deadline: MonotonicTime)
        -> Bool
    {
        guard unsafe functions.start(connection) == 1 else { return false }
        var status = PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = MonotonicTime.now
            guard now < deadline else { return false }
            let events = Int32(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            let isReady = unsafe SystemCalls.wait(
                for: events, functions.socket(connection),
                milliseconds: deadline.milliseconds(after: now, atMost: 1_000))
            if isReady == true { status = unsafe functions.poll(connection) }
        }
        return status == PGRES_POLLING_OK
    }
}

/// The cancel functions of libpq 17; an older library lacks them.
@safe
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

    /// The functions of the library loaded at run time, which may be newer than the one built with.
    static let installed = unsafe CancelFunctions { name in unsafe dlsym(dlopen(nil, RTLD_NOW), name) }

    init(
        create: @escaping Create, start: @escaping Number, poll: @escaping Poll, socket: @escaping Number,
        finish: @escaping Finish
    ) {
        unsafe (self.create, self.start, self.poll) = unsafe (create, start, poll)
        unsafe (self.socket, self.finish) = unsafe (socket, finish)
    }

    /// Resolves the functions; nil if one is missing.
    init?(_ symbol: (String) -> UnsafeMutableRawPointer?) {
        guard let create = unsafe symbol("PQcancelCreate"), let start = unsafe symbol("PQcancelStart"),
            let poll = unsafe symbol("PQcancelPoll"), let socket = unsafe symbol("PQcancelSocket"),
            let finish = unsafe symbol("PQcancelFinish")
        else { return nil }
        // Sound: the names are libpq's, and the types are its header's.
        unsafe self.create = unsafe unsafeBitCast(create, to: Create.self)
        unsafe self.start = unsafe unsafeBitCast(start, to: Number.self)
        unsafe self.poll = unsafe unsafeBitCast(poll, to: Poll.self)
        unsafe self.socket = unsafe unsafeBitCast(socket, to: Number.self)
        unsafe self.finish = unsafe unsafeBitCast(finish, to: Finish.self)
    }
}
