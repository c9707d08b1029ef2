import Logging
import Synchronization

/// One session with the server, shared by the tasks with requests in flight on it.
///
/// The calling task encodes and sends a request; the poller's thread reads the answers. Neither waits for the other:
/// while one works on the connection, the other leaves its work in the inbox.
final class PooledConnection: PolledSource {
    /// Work left for the thread that holds the driver.
    private struct Inbox {
        var requests: [(request: Request, deadline: MonotonicTime)] = []
        var stopped: [(id: Request.ID, reason: Request.Stop)] = []
        var hasInput = false
    }

    let processID: Int32
    /// The server as a primary, where it was asked.
    let primary: PrimaryRecord.Sighting?
    private let socket: Int32
    private let driver: RankedMutex<ConnectionDriver>
    /// Whether a thread holds the driver: trying a locked mutex is a system call.
    private let isBusy = Atomic(false)
    private let inbox = RankedMutex(Inbox(), .connectionInbox)
    private let inboxHasWork = Atomic(false)
    private let logger: Logger?
    private let onEnd: @Sendable (PostgresError) -> Void
    private let onRetirement: @Sendable () -> Void
    private let onRefusal: @Sendable () -> Void

    /// Takes an open connection; `onEnd` is called once when it has ended, `onRetirement` when nothing new may be sent
    /// over it because its server became read-only or does not answer, `onRefusal` when its server has refused a write because
    /// it takes none, before the caller gets the error.
    init(
        _ opened: Connector.Opened,
        context: ConnectionContext,
        onEnd: @escaping @Sendable (PostgresError) -> Void,
        onRetirement: @escaping @Sendable () -> Void = {},
        onRefusal: @escaping @Sendable () -> Void = {}
    ) throws(PostgresError) {
        processID = opened.handle.processID
        primary = opened.primary
        socket = opened.handle.socket
        logger = context.logger
        self.onEnd = onEnd
        self.onRetirement = onRetirement
        self.onRefusal = onRefusal
        driver = RankedMutex(ConnectionDriver(opened, context: context), .connectionState)
        do {
            try Poller.shared.add(self, socket: socket)
        } catch {
            opened.handle.finish()
            throw error
        }
    }

    // MARK: Requests

    /// Sends statements under one Sync and waits for their results.
    ///
    /// Throws `ConnectionGone` if the connection had ended and nothing was sent.
    ///
    /// - Parameters:
    ///   - script: a script to run in the simple protocol, instead of statements.
    ///   - lease: the share of the connection that is given back with the answer.
    ///   - deadline: when the statement is cancelled.
    ///   - isShielded: whether to ignore the task's cancellation, as in clean-up.
    ///   - scope: decides when the request is sent, such as a transaction.
    func run(
        _ statements: [Statement],
        script: String? = nil,
        traits: Request.Traits = .init(),
        lease: (any ConnectionShare)? = nil,
        by deadline: MonotonicTime,
        isShielded: Bool = false,
        scope: (any RequestScope)? = nil
    ) async throws -> [QueryResult] {
        let id = Request.nextID()
        func request(_ waiter: CheckedContinuation<[QueryResult], any Error>) -> Request {
            Request(id: id, statements: statements, script: script, traits: traits, lease: lease, waiter: waiter)
        }
        if isShielded {
            return try await withCheckedThrowingContinuation { submit(request($0), by: deadline) }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                // A later cancellation finds the request; an earlier one shows here.
                let request = request(waiter)
                if Task.isCancelled {
                    Completion(request: request, result: .failure(CancellationError())).finish()
                } else if let scope {
                    scope.send(request, by: deadline)
                } else {
                    submit(request, by: deadline)
                }
                // The handler may have run before the request was registered.
                if Task.isCancelled { cancel(id, scope) }
                if let overdue = traits.overdue, overdue.noteFirst({ self.stop(id, .superseded) }) {
                    stop(id, .superseded)
                }
            }
        } onCancel: {
            cancel(id, scope)
        }
    }

    private func cancel(_ id: Request.ID, _ scope: (any RequestScope)?) {
        if scope?.cancel(id) == true { return }
        cancel(id)
    }

    /// Stops a request soon; safe in a cancellation handler.
    func cancel(_ id: Request.ID) { stop(id, .cancelled) }

    /// Stops a request soon, for a reason; safe in a cancellation handler.
    func stop(_ id: Request.ID, _ reason: Request.Stop) {
        inbox.withLock { $0.stopped.append((id, reason)) }
        Poller.shared.later { self.drain() }
    }

    /// Sends a request now.
    func submit(_ request: Request, by deadline: MonotonicTime) {
        updateNow { driver, effects in
            driver.submit(PendingRequest(request, deadline: deadline), &effects)
        } orLeave: {
            $0.requests.append((request, deadline))
        }
    }

    /// Reserves a request's place in the order; `sendEnqueued` has to follow.
    ///
    /// Another thread that takes the driver before that, such as for a COMMIT that the request must precede, sends it.
    func enqueue(_ request: Request, by deadline: MonotonicTime) {
        inbox.withLock { $0.requests.append((request, deadline)) }
        inboxHasWork.store(true, ordering: .releasing)
    }

    func sendEnqueued() { drain() }

    // MARK: Leases

    /// The state in which a lease left the session.
    enum Condition {
        case clean
        case inTransaction
        /// A statement is in flight, or the session has ended.
        case unusable
    }

    var condition: Condition {
        var condition = Condition.unusable
        update { driver, _ in
            guard driver.state.isQuiet, let isInTransaction = driver.handle?.isInTransaction else { return }
            condition = isInTransaction ? .inTransaction : .clean
        }
        return condition
    }

    /// Whether no end of the session has arrived.
    var isAlive: Bool {
        var isAlive = false
        update { driver, effects in
            driver.socketIsReady(&effects)
            isAlive = driver.handle != nil
        }
        return isAlive
    }

    /// Ends the lease's open transaction; throws if that fails.
    func rollBack() async throws {
        // A cancel request may still be in flight; the test waits for it.
        if condition == .unusable { try await test() }
        if condition == .inTransaction { try await clean("ROLLBACK", end: .rollback) }
        guard condition == .clean else { throw LibPQ.connectionLost("") }
    }

    /// Ends the lease: its changes to the session are put back before the next request.
    func endUse() {
        update { driver, effects in driver.state.endUse(&effects.state) }
    }

    private func clean(_ text: String, end: Request.TransactionEnd? = nil) async throws {
        _ = try await run(
            [Statement(text: StatementText(text))], traits: Request.Traits(end: end, isUndoing: true),
            by: .now + .seconds(2), isShielded: true)
    }

    private static let roleQuestion = Statement(
        text: StatementText("SELECT pg_catalog.current_setting('transaction_read_only')"), resultFormat: .text)

    /// Whether the server has reported that it takes no writes; servers before 14 and poolers report nothing.
    var isSaidToBeReadOnly: Bool {
        var isReadOnly = false
        update { driver, _ in
            guard let handle = driver.handle else { return }
            isReadOnly = handle.isOn("in_hot_standby") == true || handle.isOn("default_transaction_read_only") == true
        }
        return isReadOnly
    }

    /// Checks that the server answers; whether transactions may write there, unless they say otherwise.
    ///
    /// True for a server that does not know the question.
    func takesWrites() async throws -> Bool {
        do {
            let answer = try await run(
                [Self.roleQuestion], traits: Request.Traits(isUndoing: true), by: .now + .seconds(2), isShielded: true)
            return try answer.first?.first?.decode(0, as: String.self) != "on"
        } catch let error as PostgresError where error.code == .server && isAlive {
            return true
        }
    }

    /// Checks that the server answers.
    func test() async throws {
        try await clean("")
    }

    // MARK: Poller

    /// Ends the connection at once; waiters get the reason.
    func end(_ reason: PostgresError) {
        update { driver, effects in driver.end(reason, &effects) }
    }

    /// Ends the connection at once, and cancels the server's running statement.
    func abort(_ reason: PostgresError) {
        update { driver, effects in
            driver.end(reason, isCancelling: !driver.state.inFlight.isEmpty, &effects)
        }
    }

    func socketIsReady() {
        updateNow { driver, effects in
            driver.socketIsReady(&effects)
            if Poller.shared.takesTurns { driver.watchSocket() }
        } orLeave: {
            // The unread input would wake the poller again at once.
            Poller.shared.rest(self, socket: socket)
            $0.hasInput = true
        }
    }

    func socketTakesTurns(_ isWatched: Bool) {
        guard isWatched else { return end(PostgresError(.connectionLost, "The system cannot watch another socket")) }
        update { driver, _ in driver.watchSocket() }
    }

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        var next = MonotonicTime.never
        update { driver, effects in next = driver.deadlinePassed(now, &effects) }
        return next
    }

    /// Has the driver work under the mutex, then performs the effects.
    func update(_ body: (inout ConnectionDriver, inout ConnectionDriver.Effects) -> Void) {
        var effects = ConnectionDriver.Effects()
        driver.withLock { driver in
            isBusy.store(true, ordering: .relaxed)
            drainInbox(into: &driver, &effects)
            body(&driver, &effects)
            isBusy.store(false, ordering: .relaxed)
        }
        perform(effects)
        drainAgain()
    }

    /// Does as `update` if no other thread holds the driver; else leaves the work in the inbox.
    private func updateNow(
        _ body: (inout ConnectionDriver, inout ConnectionDriver.Effects) -> Void, orLeave leave: (inout Inbox) -> Void
    ) {
        var effects = ConnectionDriver.Effects()
        let isDone = tryUpdate { driver in
            drainInbox(into: &driver, &effects)
            body(&driver, &effects)
        }
        guard isDone else {
            inbox.withLock { leave(&$0) }
            return drain()
        }
        perform(effects)
        drainAgain()
    }

    /// Has the driver work if no other thread holds it; false if one does.
    private func tryUpdate(_ body: (inout ConnectionDriver) -> Void) -> Bool {
        guard !isBusy.load(ordering: .relaxed) else { return false }
        let isDone: Void? = driver.withLockIfAvailable { driver in
            isBusy.store(true, ordering: .relaxed)
            body(&driver)
            isBusy.store(false, ordering: .relaxed)
        }
        return isDone != nil
    }

    /// Handles work that arrived while this thread held the driver.
    private func drainAgain() {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if inboxHasWork.load(ordering: .relaxed) { drain() }
    }

    /// Handles the inbox here, or leaves it to the thread that holds the driver.
    private func drain() {
        inboxHasWork.store(true, ordering: .relaxed)
        repeat {
            // Either this thread's mark or the other thread's check after its work comes first: the fences exclude that
            // this thread finds the mutex locked and the other thread finds no mark.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            var effects = ConnectionDriver.Effects()
            guard tryUpdate({ drainInbox(into: &$0, &effects) }) else { return }
            perform(effects)
            atomicMemoryFence(ordering: .sequentiallyConsistent)
        } while inboxHasWork.load(ordering: .relaxed)
    }

    private func drainInbox(into driver: inout ConnectionDriver, _ effects: inout ConnectionDriver.Effects) {
        guard inboxHasWork.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let work = inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox
        }
        if work.hasInput {
            driver.socketIsReady(&effects)
            driver.watchSocket()
        }
        for (request, deadline) in work.requests {
            driver.submit(PendingRequest(request, deadline: deadline), &effects)
        }
        for (id, reason) in work.stopped { driver.stop(id, reason: reason, &effects) }
    }

    private func perform(_ effects: ConnectionDriver.Effects) {
        if effects.state.deadline != .never { Poller.shared.wake(by: effects.state.deadline) }
        // The end first, so that a retry does not get the same connection again.
        if let closed = effects.closed {
            // In this order: a new socket may reuse the number of a closed one.
            Poller.shared.remove(self, socket: socket)
            closed.finish()
        }
        if let reason = effects.state.endReason { onEnd(reason) }
        if let key = effects.cancelAtEnd {
            do {
                try DedicatedThread.start { key.send(timeout: ConnectionState.patience) }
            } catch {
                key.free()
            }
        }
        if effects.state.isRetired { onRetirement() }
        if effects.state.hasRefusedWrite { onRefusal() }
        if effects.state.hasReset {
            logger?.trace("\(ConnectionState.resetStatements.joined(separator: "; "))")
        }
        if let opened = effects.state.opened { opened.scope.openingEnded(opened.count, of: opened.count) }
        effects.state.completions.forEach { $0.finish() }
        if effects.state.sendsCancel { sendCancel() }
    }

    private func sendCancel() {
        var key: CancelKey?
        update { driver, effects in key = driver.beginCancel(.now, &effects) }
        guard let key else { return }
        do {
            try DedicatedThread.start {
                // The cancel request is repeated while the server has time to stop.
                if !key.send(timeout: ConnectionState.patience), FileDescriptors.areExhausted {
                    self.logger?.warning(
                        "could not cancel a statement: the process is out of file descriptors")
                }
                self.update { driver, effects in driver.cancelWasSent(.now, &effects) }
            }
        } catch {
            key.free()
            end(error)
        }
    }
}
