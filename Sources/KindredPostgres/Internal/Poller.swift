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
    /// The longest time that the thread may poll for its input without sleeping, in nanoseconds.
    var busyPollingLimit: UInt64 { get }
    /// The socket is readable, writable, or has failed. Runs on the poller's thread.
    func socketIsReady()
    /// Handles passed deadlines; returns the next one. Runs on the poller's thread.
    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime
}

extension PolledSource {
    var busyPollingLimit: UInt64 { 0 }
}

/// The process's one thread that waits for sockets and deadlines.
///
/// Tasks send their own requests; this thread only reads the answers, so that an answer costs one hop between threads.
/// It starts with the first connection, and sleeps when there is nothing to do.
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
    /// When the thread checks the deadlines next.
    private let nextDeadline = Atomic<UInt64>(.max)
    /// The duration of a yield, in nanoseconds, from which another thread seems to need the processor.
    ///
    /// Sleeping is then better than polling: the scheduler prefers a thread that was woken to one that yielded.
    private let longYield: UInt64

    init(longYield: UInt64 = 100_000) {
        self.longYield = longYield
    }

    /// Watches a socket's input and the source's deadlines until the socket is removed; retains the source.
    func add(_ source: any PolledSource, socket: Int32) throws(PostgresError) {
        try start()
        state.withLock { state in
            state.sources[socket] = source
            state.timed[ObjectIdentifier(source)] = source
        }
        guard waiter.add(socket) else {
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
        waiter.remove(socket)
        state.withLock { state in
            if let known = state.sources[socket], known === source { state.sources[socket] = nil }
            state.timed[ObjectIdentifier(source)] = nil
        }
    }

    /// Sets the events that the source waits for; an error is always reported.
    func setInterest(reads: Bool, writes: Bool, socket: Int32) {
        waiter.setInterest(reads: reads, writes: writes, socket)
    }

    /// Reports no events of a socket until its source sets its interest again.
    ///
    /// For a source that cannot read now. Another thread may have ended it, and its socket's number may be reused.
    func rest(_ source: any PolledSource, socket: Int32) {
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
        var polling = BusyPolling()
        func tell(_ socket: Int32) {
            guard let source = state.withLock({ $0.sources[socket] }) else { return }
            polling.note(ObjectIdentifier(source), limit: source.busyPollingLimit)
            source.socketIsReady()
        }
        while true {
            let deadline = MonotonicTime(nanoseconds: nextDeadline.load(ordering: .sequentiallyConsistent))
            let now = MonotonicTime.now
            let end = polling.end(from: now)
            if deadline <= now {
                lookAtDeadlines(now)
                continue
            }
            if !look(until: min(end, deadline), from: now, tell) {
                polling.noteFailure()
                waiter.wait(nanoseconds: deadline == .never ? nil : deadline.nanoseconds - now.nanoseconds, tell)
            }
            let work = state.withLock { state in
                defer { if !state.work.isEmpty { state.work = [] } }
                return state.work
            }
            for item in work { item() }
        }
    }

    /// Polls for input without sleeping until a time; false if there was none, or another thread needs the processor.
    private func look(until end: MonotonicTime, from start: MonotonicTime, _ tell: (Int32) -> Void) -> Bool {
        var now = start
        while now < end {
            if waiter.wait(nanoseconds: 0, tell) { return true }
            sched_yield()
            let before = now
            now = .now
            if now.nanoseconds - before.nanoseconds > longYield { return false }
        }
        return false
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
