import CLibPQ
import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection that several tasks may use at once: each request is sent by its own task, and answered in turn.
final class PooledConnection: PolledSource, Hashable {
    private let session: Mutex<Session>
    private let socket: Int32
    private let notices: NoticeSink
    private let canceller: Canceller
    /// Told once when the connection has ended.
    private let onDeath: @Sendable (PooledConnection) -> Void
    private let isOver = Atomic(false)

    /// Takes over an open connection and begins to watch it.
    init(
        _ opened: Connector.Opened,
        types: TypeRegistry,
        cacheCapacity: Int,
        logger: Logger?,
        onDeath: @escaping @Sendable (PooledConnection) -> Void
    ) throws {
        notices = NoticeSink(logger: logger)
        notices.install(on: opened.handle)
        socket = PQsocket(opened.handle)
        canceller = Canceller(opened.handle)
        self.onDeath = onDeath
        session = Mutex(Session(handle: opened.handle, types: types, cacheCapacity: cacheCapacity))
        do {
            try Poller.shared.add(self, socket: socket)
        } catch {
            PQfinish(opened.handle)
            throw error
        }
    }

    /// Sends statements under one Sync and waits for their results.
    ///
    /// Throws the first error of them. If the task is cancelled, the server's work is cancelled too, and the connection
    /// is ready for others afterwards.
    func run(_ content: Request.Content, deadline: UInt64) async throws -> [QueryResult] {
        let request = Request(content, deadline: deadline)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                request.await(continuation)
                submit(request)
            }
        } onCancel: {
            interrupt(request, .task)
        }
    }

    private func submit(_ request: Request) {
        do {
            let mustWrite = try session.withLock { session in
                // A task that was cancelled before it got here sends nothing.
                if Task.isCancelled { throw CancellationError() }
                try session.send(request)
                return session.flush()
            }
            if mustWrite { Poller.shared.wantsWrite(true, socket: socket) }
            if request.deadline != .max { Poller.shared.wake(by: request.deadline) }
        } catch {
            if let error = error as? PostgresError {
                let text = request.text(at: 0)
                end(error)
                request.resume(with: .failure(error.of(statement: text)))
            } else {
                request.resume(with: .failure(error))
            }
        }
    }

    /// Whether the connection may go back to the pool.
    var isClean: Bool { session.withLock { $0.isClean } && !isOver.load(ordering: .relaxed) }

    /// Whether requests can still be sent, others being under way or not.
    var isUsable: Bool { !isOver.load(ordering: .relaxed) }

    /// Whether a transaction is open, or failed.
    var isInTransaction: Bool { session.withLock { $0.isInTransaction } }

    /// Whether nothing has arrived on an idle connection: whatever arrives there is its end.
    func isQuiet() -> Bool {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    // MARK: Poller

    func socketIsReady() {
        guard !isOver.load(ordering: .relaxed) else { return }
        let (completions, isDead, mustWrite, mustCancel) = session.withLock { session in
            let completions = session.receive()
            let mustWrite = !session.isDead && session.flush()
            let mustCancel = !session.isDead && session.headIsInterrupted && !session.isCancelling
            return (completions, session.isDead, mustWrite, mustCancel)
        }
        if !isDead { Poller.shared.wantsWrite(mustWrite, socket: socket) }
        if mustCancel { cancel() }
        if isDead { end(Session.gone) }
        for (request, result) in completions { request.resume(with: result) }
    }

    func deadlinesPassed(now: UInt64) -> UInt64? {
        let late = session.withLock { session in
            session.nextDeadline.map { $0 <= now } == true ? session.late(now) : []
        }
        for request in late { interrupt(request, .deadline) }
        return session.withLock { $0.nextDeadline }
    }

    // MARK: Cancellation

    private func interrupt(_ request: Request, _ why: Session.Interruption) {
        let mustCancel = session.withLock { $0.interrupt(request, why) && !$0.isCancelling }
        if mustCancel { cancel() }
    }

    /// Asks the server to stop what it is working on.
    ///
    /// The answer comes as the result of that statement.
    private func cancel() {
        let mustBegin = session.withLock { session in
            guard !session.isCancelling, !session.isDead else { return false }
            session.isCancelling = true
            return true
        }
        guard mustBegin else { return }
        canceller.cancel { [weak self] succeeded in
            guard let self else { return }
            session.withLock { $0.isCancelling = false }
            // A server that cannot even be asked to stop will not answer either.
            if !succeeded {
                end(PostgresError(.connectionLost, "The server could not be reached to cancel a statement"))
            }
        }
    }

    // MARK: End

    /// Closes the connection; what is in flight fails with the error.
    func end(_ error: PostgresError) {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        Poller.shared.remove(self, socket: socket)
        let completions = session.withLock { session in
            let completions = session.abandon(error)
            PQfinish(session.handle)
            return completions
        }
        for (request, result) in completions { request.resume(with: result) }
        onDeath(self)
    }

    static func == (left: PooledConnection, right: PooledConnection) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
