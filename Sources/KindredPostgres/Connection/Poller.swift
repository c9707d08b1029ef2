import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Something that the poller watches: a connection with its socket, or a pool with its deadlines.
protocol PolledSource: AnyObject, Sendable {
    /// The socket can be read or written, or has failed. Runs on the poller's thread.
    func socketIsReady()
    /// Looks after deadlines that have passed; returns the next one, in nanoseconds. Runs on the poller's thread.
    func deadlinesPassed(now: UInt64) -> UInt64?
}

/// The one thread of the process that waits for sockets and deadlines.
///
/// Requests are sent by the tasks that make them; this thread only takes the answers in, so that an answer costs one
/// hop between threads. It starts with the first connection and waits without end when there is nothing to do.
final class Poller: Sendable {
    static let shared = Poller()

    private struct State {
        var sources: [Int32: any PolledSource] = [:]
        var timed: [ObjectIdentifier: WeakSource] = [:]
        var isRunning = false
    }

    private struct WeakSource {
        weak var source: (any PolledSource)?
    }

    private let state = Mutex(State())
    private let waiter = SocketWaiter()
    /// When the thread looks at the deadlines next.
    private let nextDeadline = Atomic<UInt64>(.max)

    /// Watches a socket for input until it is removed; keeps the source alive.
    func add(_ source: any PolledSource, socket: Int32) throws {
        let mustStart = state.withLock { state in
            state.sources[socket] = source
            state.timed[ObjectIdentifier(source)] = WeakSource(source: source)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        waiter.add(socket)
        if mustStart { try DedicatedThread.start { self.run() } }
    }

    /// Watches a source's deadlines only, as long as it lives.
    func addTimed(_ source: any PolledSource) throws {
        let mustStart = state.withLock { state in
            state.timed[ObjectIdentifier(source)] = WeakSource(source: source)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { try DedicatedThread.start { self.run() } }
    }

    /// Stops watching a socket; to be called before it is closed.
    func remove(_ source: any PolledSource, socket: Int32) {
        waiter.remove(socket)
        state.withLock { state in
            if let known = state.sources[socket], known === source { state.sources[socket] = nil }
            state.timed[ObjectIdentifier(source)] = nil
        }
    }

    /// Says whether the source also waits for room to write.
    func wantsWrite(_ wants: Bool, socket: Int32) {
        waiter.wantsWrite(wants, socket)
    }

    /// Makes sure that deadlines are looked at by then.
    func wake(by deadline: UInt64) {
        guard deadline < nextDeadline.load(ordering: .relaxed) else { return }
        nextDeadline.store(deadline, ordering: .relaxed)
        waiter.wake()
    }

    private func run() {
        var ready: [Int32] = []
        while true {
            let deadline = nextDeadline.load(ordering: .relaxed)
            let now = monotonicNow()
            if deadline <= now {
                lookAtDeadlines(now)
                continue
            }
            waiter.wait(nanoseconds: deadline == .max ? nil : deadline - now, into: &ready)
            for socket in ready {
                let source = state.withLock { $0.sources[socket] }
                source?.socketIsReady()
            }
        }
    }

    private func lookAtDeadlines(_ now: UInt64) {
        // Whoever sets an earlier deadline from here on wakes the thread again.
        nextDeadline.store(.max, ordering: .relaxed)
        let sources = state.withLock { state in
            state.timed = state.timed.filter { $0.value.source != nil }
            return state.timed.values.compactMap(\.source)
        }
        for source in sources {
            guard let next = source.deadlinesPassed(now: now) else { continue }
            // At most a hundred looks a second, however close the deadlines lie.
            let look = max(next, now + 10_000_000)
            if look < nextDeadline.load(ordering: .relaxed) { nextDeadline.store(look, ordering: .relaxed) }
        }
    }
}
