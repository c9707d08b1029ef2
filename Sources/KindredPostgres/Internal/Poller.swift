import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A source of events for the poller: a connection with its socket, or a pool with its deadlines.
protocol PolledSource: AnyObject, Sendable {
    /// The socket is readable, writable, or has failed.
    ///
    /// Runs on the poller's thread, or on a thread that takes turns.
    func socketIsReady()
    /// From now on threads that take turns watch the socket: sets its interest, unless the system cannot watch it.
    func socketTakesTurns(_ isWatched: Bool)
    /// Handles passed deadlines; returns the next one. Runs on the poller's thread.
    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime
}

extension PolledSource {
    func socketTakesTurns(_ isWatched: Bool) {}
}

/// The process's one thread that waits for sockets and deadlines.
///
/// Tasks send their own requests; this thread only reads the answers, so that an answer costs one hop between threads.
/// It starts with the first connection, and sleeps when there is nothing to do. Once the process has a
/// `PostgresExecutor`, the executor's threads wait for the sockets, and this thread for deadlines alone.
final class Poller: Sendable {
    static let shared = Poller()

    private struct State {
        var sources: [Int32: any PolledSource] = [:]
        var timed: [ObjectIdentifier: any PolledSource] = [:]
        var work: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = RankedMutex(State(), .poller)
    private let waiter = SocketWaiter()
    /// Watches the sockets once threads take turns.
    private let turns = SocketWaiter(isShared: true)
    private let hasTurns = Atomic(false)
    /// When the thread checks the deadlines next.
    private let nextDeadline = Atomic<UInt64>(.max)

    /// Watches a socket's input and the source's deadlines until the socket is removed; retains the source.
    func add(_ source: any PolledSource, socket: Int32) throws(PostgresError) {
        try start()
        let isWatched = state.withLock { state in
            state.sources[socket] = source
            state.timed[ObjectIdentifier(source)] = source
            return takesTurns ? turns.add(socket) : waiter.add(socket)
        }
        guard isWatched else {
            remove(source, socket: socket)
            throw PostgresError(.connectionFailed, "The system cannot watch another socket")
        }
    }

    /// Watches a source's deadlines until it is removed; retains the source.
    func addTimed(_ source: any PolledSource) throws(PostgresError) {
        try start()
        state.withLock { $0.timed[ObjectIdentifier(source)] = source }
    }

    /// Removes a source without a socket.
    func removeTimed(_ source: any PolledSource) {
        state.withLock { $0.timed[ObjectIdentifier(source)] = nil }
    }

    /// Removes a socket; call it before the socket is closed.
    func remove(_ source: any PolledSource, socket: Int32) {
        state.withLock { state in
            if takesTurns { turns.remove(socket) } else { waiter.remove(socket) }
            if let known = state.sources[socket], known === source { state.sources[socket] = nil }
            state.timed[ObjectIdentifier(source)] = nil
        }
    }

    /// Sets the events that the source waits for; an error is always reported.
    func setInterest(reads: Bool, writes: Bool, socket: Int32) {
        if takesTurns {
            turns.setInterest(reads: reads, writes: writes, socket)
        } else {
            waiter.setInterest(reads: reads, writes: writes, socket)
        }
    }

    /// Reports no events of a socket until its source sets its interest again.
    ///
    /// For a source that cannot read now. Another thread may have ended it, and its socket's number may be reused.
    func rest(_ source: any PolledSource, socket: Int32) {
        // It rests already.
        if takesTurns { return }
        state.withLock { state in
            guard let known = state.sources[socket], known === source else { return }
            waiter.setInterest(reads: false, writes: false, socket)
        }
    }

    /// Makes sure that the deadlines are checked by then.
    func wake(by deadline: MonotonicTime) {
        var known = nextDeadline.load(ordering: .relaxed)
        while deadline.nanoseconds < known {
            let (done, now) = nextDeadline.weakCompareExchange(
                expected: known, desired: deadline.nanoseconds, ordering: .sequentiallyConsistent)
            if done { return waiter.wake() }
            known = now
        }
    }

    /// Runs `work` soon on the poller's thread, which has to run already.
    ///
    /// For cancellation handlers. The runtime runs them with their task locked, and resuming another task takes that
    /// task's lock: two handlers that resume each other's tasks would deadlock, as would a handler that waits for a
    /// mutex whose holder resumes the handler's task.
    func later(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
        waiter.wake()
    }

    private func start() throws(PostgresError) {
        let (canStart, mustStart) = state.withLock { state in
            guard !state.isRunning else { return (true, false) }
            state.isRunning = waiter.open()
            return (state.isRunning, state.isRunning)
        }
        guard canStart else { throw FileDescriptors.error("The poller cannot start") }
        guard mustStart else { return }
        do {
            try DedicatedThread.start { self.run() }
        } catch {
            state.withLock { $0.isRunning = false }
            throw error
        }
    }

    private func run() {
        while true {
            let deadline = MonotonicTime(nanoseconds: nextDeadline.load(ordering: .sequentiallyConsistent))
            let now = MonotonicTime.now
            if deadline <= now {
                lookAtDeadlines(now)
                continue
            }
            waiter.wait(nanoseconds: deadline == .never ? nil : deadline.nanoseconds - now.nanoseconds, tell)
            let work = state.withLock { state in
                defer { if !state.work.isEmpty { state.work = [] } }
                return state.work
            }
            for item in work { item() }
        }
    }

    private func lookAtDeadlines(_ now: MonotonicTime) {
        // A caller that sets an earlier deadline from here on wakes the thread again.
        nextDeadline.store(.max, ordering: .sequentiallyConsistent)
        let sources = state.withLock { Array($0.timed.values) }
        for source in sources {
            let next = source.deadlinePassed(now)
            // At most a thousand checks a second, however close the deadlines are.
            if next != .never { wake(by: max(next, now + .milliseconds(1))) }
        }
    }
}

/// Sockets whose threads take turns.
extension Poller {
    /// Whether a socket that was reported is reported again only after its source has set its interest.
    var takesTurns: Bool { hasTurns.load(ordering: .acquiring) }

    /// Prepares the turns; false if the process is out of descriptors.
    func openTurns() -> Bool { turns.open() }

    /// Leaves all present and future sockets to threads that call `waitForTurn`.
    func takeTurns() {
        let moved = state.withLock { state in
            hasTurns.store(true, ordering: .releasing)
            return state.sources.map { socket, source in
                waiter.remove(socket)
                return (source, turns.add(socket))
            }
        }
        // A thread may just have set an interest that went nowhere.
        for (source, isWatched) in moved { source.socketTakesTurns(isWatched) }
    }

    /// Waits for sockets or `wakeTurn`, which reach one of the threads that wait; then each socket is reported.
    func waitForTurn(_ ready: (Int32) -> Void) { turns.wait(nanoseconds: nil, ready) }

    func wakeTurn() { turns.wake() }

    /// Tells the source of a socket that it is ready.
    func tell(_ socket: Int32) {
        state.withLock { $0.sources[socket] }?.socketIsReady()
    }
}
