import DequeModule

/// Decides who gets which connection.
///
/// Pure: events go in, actions come out; no clock, no lock, no connection inside.
///
/// One queue, first come first served. A request that may share a connection takes an idle one, the most recently used
/// first; else a new one is opened while there is room; else it joins the connection with the fewest requests. Once
/// somebody waits, nobody joins ahead of him.
struct PoolStateMachine<Connection: Hashable & Sendable, Waiter: Hashable & Sendable>: Sendable {
    enum Need: Sendable {
        /// One request, beside others on the same connection.
        case shared
        /// A connection of one's own.
        case exclusive
    }

    enum Acquired: Equatable, Sendable {
        case connection(Connection)
        /// Wait; `connect` says that a connection has to be opened too.
        case wait(connect: Bool)
        /// Too many wait already.
        case overloaded
        case closed
    }

    /// What to do after an event.
    struct Actions: Sendable {
        var hand: [(waiter: Waiter, connection: Connection)] = []
        var close: [Connection] = []
        var connect = 0
        /// Those who get the error of a failed attempt.
        var fail: [Waiter] = []
    }

    private enum Use {
        case idle(since: UInt64)
        case shared(Int)
        case leased
    }

    private struct Member {
        var use: Use
        let openedAt: UInt64
        let diesAt: UInt64
        /// Leaves as soon as nobody uses it any more.
        var isRetired = false
    }

    let maximum: Int
    let depth: Int
    let connectConcurrency: Int
    let maximumWaiters: Int

    private var members: [Connection: Member] = [:]
    /// Idle connections, the most recently used last.
    private var idle: [Connection] = []
    private var waiters: Deque<(waiter: Waiter, need: Need)> = []
    private(set) var connecting = 0
    private(set) var isClosed = false

    init(maximum: Int, depth: Int, connectConcurrency: Int, maximumWaiters: Int) {
        self.maximum = maximum
        self.depth = depth
        self.connectConcurrency = connectConcurrency
        self.maximumWaiters = maximumWaiters
    }

    var idleCount: Int { idle.count }
    var openCount: Int { members.count }
    var waiterCount: Int { waiters.count }
    var connections: [Connection] { Array(members.keys) }

    /// How many members a lease or requests keep busy.
    var busyCount: Int { members.count - idle.count }

    /// A connection, if one can be had without waiting.
    mutating func acquireNow(_ need: Need) -> Connection? {
        guard waiters.isEmpty, !isClosed else { return nil }
        if let connection = idle.popLast() {
            use(connection, need)
            return connection
        }
        guard case .shared = need, members.count + connecting >= maximum, let connection = leastLoaded() else {
            return nil
        }
        use(connection, .shared)
        return connection
    }

    /// Takes a place for a connection that nobody waits for yet.
    mutating func reservePlace() -> Bool {
        guard !isClosed, members.count + connecting < maximum else { return false }
        connecting += 1
        return true
    }

    mutating func acquire(_ waiter: Waiter, _ need: Need) -> Acquired {
        if isClosed { return .closed }
        if let connection = acquireNow(need) { return .connection(connection) }
        guard waiters.count < maximumWaiters else { return .overloaded }
        waiters.append((waiter, need))
        return .wait(connect: wantsToConnect())
    }

    /// The waiter gives up.
    ///
    /// False if he has a connection already.
    mutating func cancel(_ waiter: Waiter) -> (wasWaiting: Bool, actions: Actions) {
        guard let position = waiters.firstIndex(where: { $0.waiter == waiter }) else { return (false, Actions()) }
        waiters.remove(at: position)
        return (true, serve())
    }

    mutating func opened(_ connection: Connection, now: UInt64, diesAt: UInt64) -> Actions {
        connecting -= 1
        guard !isClosed else {
            var actions = Actions()
            actions.close = [connection]
            return actions
        }
        members[connection] = Member(use: .idle(since: now), openedAt: now, diesAt: diesAt)
        idle.append(connection)
        return serve()
    }

    /// An attempt failed.
    ///
    /// With a permanent error everybody who waits for a connection to be opened gets it at once.
    mutating func openFailed(isPermanent: Bool) -> Actions {
        connecting -= 1
        guard isPermanent || (members.isEmpty && connecting == 0 && isClosed) else { return Actions() }
        var actions = Actions()
        actions.fail = waiters.map(\.waiter)
        waiters.removeAll()
        return actions
    }

    /// Whether another attempt should be made for those who wait.
    mutating func wantsRetry() -> Bool { !waiters.isEmpty && wantsToConnect() }

    /// A user is done.
    ///
    /// A connection that is not clean, or that is retired, is closed.
    mutating func release(_ connection: Connection, isClean: Bool, now: UInt64) -> Actions {
        guard var member = members[connection] else { return serve() }
        switch member.use {
        case .shared(let count) where count > 1:
            member.use = .shared(count - 1)
            member.isRetired = member.isRetired || !isClean
            members[connection] = member
        default:
            if !isClean || member.isRetired || isClosed || member.diesAt <= now {
                members[connection] = nil
                var actions = serve()
                actions.close.append(connection)
                return actions
            }
            member.use = .idle(since: now)
            members[connection] = member
            idle.append(connection)
        }
        return serve()
    }

    /// A connection ended by itself.
    mutating func died(_ connection: Connection) -> Actions {
        guard members.removeValue(forKey: connection) != nil else { return Actions() }
        idle.removeAll { $0 == connection }
        return serve()
    }

    /// Closes idle connections that have been so for too long or are too old; keeps a minimum.
    mutating func reap(now: UInt64, idleTimeout: UInt64, minimum: Int) -> [Connection] {
        var reaped: [Connection] = []
        for connection in idle {
            guard let member = members[connection], case .idle(let since) = member.use else { continue }
            let isIdleTooLong = now >= since + idleTimeout && members.count - reaped.count > minimum
            if isIdleTooLong || member.diesAt <= now { reaped.append(connection) }
        }
        for connection in reaped { members[connection] = nil }
        idle.removeAll { reaped.contains($0) }
        return reaped
    }

    /// Since when an idle connection has been idle, just before it was taken.
    func idleSince(_ connection: Connection) -> UInt64? {
        if case .idle(let since) = members[connection]?.use { since } else { nil }
    }

    /// Takes no more work; idle connections close, the others when they are released.
    mutating func close() -> Actions {
        isClosed = true
        var actions = Actions()
        actions.close = idle
        for connection in idle { members[connection] = nil }
        idle = []
        actions.fail = waiters.map(\.waiter)
        waiters.removeAll()
        return actions
    }

    // MARK: Decisions

    private mutating func use(_ connection: Connection, _ need: Need) {
        switch (need, members[connection]?.use) {
        case (.exclusive, _): members[connection]?.use = .leased
        case (.shared, .shared(let count)?): members[connection]?.use = .shared(count + 1)
        case (.shared, _): members[connection]?.use = .shared(1)
        }
    }

    private func leastLoaded() -> Connection? {
        var best: (connection: Connection, count: Int)?
        for (connection, member) in members {
            guard case .shared(let count) = member.use, count < depth, !member.isRetired else { continue }
            if best == nil || count < best?.count ?? 0 { best = (connection, count) }
        }
        return best?.connection
    }

    /// Takes a place for a new connection if there is one and somebody needs it.
    private mutating func wantsToConnect() -> Bool {
        guard !isClosed, members.count + connecting < maximum, connecting < connectConcurrency,
            connecting < waiters.count
        else { return false }
        connecting += 1
        return true
    }

    /// Serves those who wait, in their order, as far as there are connections.
    private mutating func serve() -> Actions {
        var actions = Actions()
        while let first = waiters.first {
            let connection: Connection?
            if let last = idle.popLast() {
                connection = last
            } else if case .shared = first.need, members.count + connecting >= maximum {
                connection = leastLoaded()
            } else {
                connection = nil
            }
            guard let connection else { break }
            waiters.removeFirst()
            use(connection, first.need)
            actions.hand.append((first.waiter, connection))
        }
        while !waiters.isEmpty && wantsToConnect() { actions.connect += 1 }
        return actions
    }
}
