import DequeModule

/// The pool's policy: which connection serves which caller, and when connections are opened and closed.
///
/// A pure value without clock, lock or I/O: events go in, `Actions` come out. A caller gets the most recently used idle
/// connection; else, for a single statement, the least loaded shared one, while another is opened in the background up
/// to the maximum; else it waits in a FIFO queue.
struct PoolStateMachine {
    typealias ConnectionID = Int
    typealias WaiterID = UInt64

    /// How a caller uses a connection.
    enum Use: Sendable, Equatable {
        /// A single statement beside other tasks' statements.
        case shared
        /// A transaction or lease: exclusive.
        case exclusive
    }

    enum Refusal: Equatable {
        case closed, overloaded, timedOut, nested
        /// The server refuses every connection, so waiting is useless.
        case permanentFailure
    }

    enum Answer: Equatable {
        case connection(ConnectionID)
        case wait
        case refused(Refusal)
    }

    struct Actions: Equatable {
        var isEmpty: Bool {
            assign.isEmpty && refuse.isEmpty && connect.isEmpty && test.isEmpty && close.isEmpty
        }

        var assign: [Assignment] = []
        var refuse: [RefusedWaiter] = []
        /// Open connections and report them by these numbers.
        var connect: [ConnectionID] = []
        /// Test these connections; a connection in doubt is asked whether its server takes writes.
        var test: [ConnectionID] = []
        var close: [ConnectionID] = []

        struct Assignment: Equatable {
            let waiter: WaiterID
            let connection: ConnectionID
        }
        struct RefusedWaiter: Equatable {
            let waiter: WaiterID
            let refusal: Refusal
        }
    }

    struct Connection {
        enum State: Equatable {
            case connecting
            case testing
            case idle(since: MonotonicTime)
            case shared(load: Int)
            case leased
        }

        let id: ConnectionID
        var state = State.connecting
        var expiresAt = MonotonicTime.never
        /// The time of the last answer, or of the first request in flight.
        var movedAt = MonotonicTime(nanoseconds: 0)
        /// Whether it is closed as soon as it is free.
        var isDoomed = false
        /// Whether it is asked before it is lent again: its server may take no writes any more.
        var isDoubted = false
    }

    struct Waiter {
        let id: WaiterID
        let use: Use
        let deadline: MonotonicTime
    }

    let options: PostgresConfiguration.PoolOptions
    var connections: [Connection] = []
    /// Idle connections, the most recently used last.
    var idle: [ConnectionID] = []
    var waiters: Deque<Waiter> = []
    var isClosing = false
    var failures = 0
    var retryAt = MonotonicTime(nanoseconds: 0)
    /// Until then callers fail at once if there is no connection.
    var refusesUntil = MonotonicTime(nanoseconds: 0)
    /// The time of the last loss of a connection.
    var lastLoss = MonotonicTime(nanoseconds: 0)
    var search = Search()
    private var lastID = 0

    init(options: PostgresConfiguration.PoolOptions) {
        self.options = options
    }

    // MARK: Callers

    /// Takes a connection, or reports that there is none; with `waiter` the caller is then queued.
    mutating func acquire(
        _ use: Use, waiter: Waiter?, isNested: Bool, now: MonotonicTime, actions: inout Actions
    ) -> Answer {
        if isClosing { return .refused(.closed) }
        if waiters.isEmpty, let id = lend(use, at: now, &actions) {
            open(now, &actions)
            return .connection(id)
        }
        if connections.allSatisfy({ $0.state == .connecting }), now < refusesUntil {
            return .refused(.permanentFailure)
        }
        if isNested, connections.count >= options.maximumConnections,
            connections.allSatisfy({ $0.state == .leased })
        {
            return .refused(.nested)
        }
        guard let waiter else { return .wait }
        if waiters.count >= options.maximumWaiters { return .refused(.overloaded) }
        waiters.append(waiter)
        open(now, &actions)
        return .wait
    }

    /// Removes a waiter; false if it was served or refused before.
    mutating func cancel(_ waiter: WaiterID, now: MonotonicTime, actions: inout Actions) -> Bool {
        guard let index = waiters.firstIndex(where: { $0.id == waiter }) else { return false }
        waiters.remove(at: index)
        // It may have blocked the queue.
        serve(now, &actions)
        return true
    }

    /// Takes a connection, or a share of one, back.
    mutating func release(_ id: ConnectionID, now: MonotonicTime, actions: inout Actions) {
        guard let index = index(id) else { return }
        connections[index].movedAt = now
        switch connections[index].state {
        case .shared(let load) where load > 1:
            connections[index].state = .shared(load: load - 1)
            if !waiters.isEmpty { serve(now, &actions) }
        case .shared, .leased:
            becomeIdle(index, at: now, &actions)
        case .connecting, .testing, .idle:
            break
        }
    }

    // MARK: Choice

    /// Takes a connection that can serve at once.
    private mutating func lend(_ use: Use, at now: MonotonicTime, _ actions: inout Actions) -> ConnectionID? {
        if search.isRunning { return nil }
        while let id = idle.popLast() {
            guard let index = index(id), case .idle(let since) = connections[index].state else { continue }
            // Later than its test, which may have ended just now: a threshold of 0 tests once before each use.
            if since + options.idleTestThreshold < now || connections[index].isDoubted {
                connections[index].state = .testing
                actions.test.append(id)
                continue
            }
            connections[index].movedAt = now
            connections[index].state = use == .shared ? .shared(load: 1) : .leased
            return id
        }
        guard use == .shared, let index = leastLoaded(now), case .shared(let load) = connections[index].state
        else { return nil }
        connections[index].state = .shared(load: load + 1)
        return connections[index].id
    }

    private static let stuckAfter = Duration.milliseconds(20)

    /// The best connection to share: a connection that progresses before a connection stuck in a long statement, then
    /// the least loaded.
    private func leastLoaded(_ now: MonotonicTime) -> Int? {
        var best: (index: Int, isStuck: Bool, load: Int)?
        for (index, connection) in connections.enumerated() {
            guard case .shared(let load) = connection.state, load < options.pipelineDepth, !connection.isDoomed,
                !connection.isDoubted
            else { continue }
            let isStuck = connection.movedAt + Self.stuckAfter < now
            if let known = best, (known.isStuck ? 1 : 0, known.load) <= (isStuck ? 1 : 0, load) { continue }
            best = (index, isStuck, load)
        }
        return best?.index
    }

    /// Serves the queue from its head as far as possible.
    mutating func serve(_ now: MonotonicTime, _ actions: inout Actions) {
        while let waiter = waiters.first, let id = lend(waiter.use, at: now, &actions) {
            waiters.removeFirst()
            actions.assign.append(.init(waiter: waiter.id, connection: id))
        }
        open(now, &actions)
    }

    mutating func becomeIdle(_ index: Int, at now: MonotonicTime, _ actions: inout Actions) {
        if isClosing || connections[index].isDoomed || connections[index].expiresAt <= now {
            actions.close.append(connections.remove(at: index).id)
        } else {
            connections[index].state = .idle(since: now)
            idle.append(connections[index].id)
        }
        serve(now, &actions)
    }

    /// Opens connections if more are needed.
    mutating func open(_ now: MonotonicTime, _ actions: inout Actions) {
        if search.isRunning { return openTrial(now, &actions) }
        guard !isClosing, connections.count < options.maximumConnections, now >= retryAt else { return }
        var pending = 0
        var wanted = waiters.count
        for connection in connections {
            switch connection.state {
            case .connecting, .testing: pending += 1
            case .shared(let load): wanted += load - 1
            case .idle, .leased: break
            }
        }
        wanted = max(wanted, options.minimumConnections - connections.count + pending)
        // While the server is down only one attempt runs at a time.
        let limit = failures == 0 ? min(wanted, options.connectConcurrency) : min(wanted, 1)
        while pending < limit, connections.count < options.maximumConnections {
            actions.connect.append(addConnection())
            pending += 1
        }
    }

    /// Registers a connection opened outside, to test the address.
    mutating func addConnection() -> ConnectionID {
        lastID += 1
        connections.append(Connection(id: lastID))
        return lastID
    }

    func index(_ id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }
}
