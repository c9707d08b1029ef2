import DequeModule

extension PoolStateMachine {
    // MARK: Connections

    /// A connection was opened, or passed its test.
    ///
    /// `jitter` from -1 to 1 varies the connection's lifetime.
    mutating func connected(_ id: ConnectionID, jitter: Double, now: MonotonicTime, actions: inout Actions) {
        guard let index = index(id) else {
            actions.close.append(id)
            return
        }
        switch connections[index].state {
        case .connecting:
            failures = 0
            retryAt = MonotonicTime(nanoseconds: 0)
            refusesUntil = retryAt
            connections[index].expiresAt = now + options.maximumLifetime * (1 + 0.1 * min(1, max(-1, jitter)))
            if search.isRunning || search.trial == id || connections[index].isDoubted {
                connections[index].state = .testing
                connections[index].isDoubted = true
                actions.test.append(id)
                // It may have been one attempt too many for the new connection of a search.
                return open(now, &actions)
            }
        case .testing:
            break
        case .idle, .shared, .leased:
            return
        }
        becomeIdle(index, at: now, &actions)
    }

    /// A connection could not be opened.
    ///
    /// `jitter` from 0 to 1 varies the backoff.
    mutating func connectFailed(
        _ id: ConnectionID, isPermanent: Bool, jitter: Double, now: MonotonicTime, actions: inout Actions
    ) {
        guard let index = index(id) else { return }
        connections.remove(at: index)
        noteEnd(of: id)
        failures += 1
        let ceiling = Duration.milliseconds(min(1_000, 50 << min(failures - 1, 5)))
        retryAt = now + (isPermanent ? .seconds(5) : ceiling * (0.5 + 0.5 * min(1, max(0, jitter))))
        if isPermanent, connections.allSatisfy({ $0.state == .connecting }) {
            refusesUntil = retryAt
            actions.refuse += waiters.map { .init(waiter: $0.id, refusal: .permanentFailure) }
            waiters = []
        }
        serve(now, &actions)
    }

    /// The reason why a connection ended.
    enum End {
        /// By the client, or by a server limit on this session.
        case own
        /// By the server or the network; perhaps this one alone.
        case loss
        /// The server ends all sessions.
        case crash
    }

    /// A connection ended, in whatever state.
    mutating func ended(_ id: ConnectionID, _ end: End = .own, now: MonotonicTime, actions: inout Actions) {
        guard let index = index(id) else { return }
        connections.remove(at: index)
        idle.removeAll { $0 == id }
        noteEnd(of: id)
        // A single loss may concern one connection; two within a second mean that the server or network failed.
        if end == .crash || (end == .loss && now.since(lastLoss) < .seconds(1)) { retireAll(&actions) }
        if end != .own { lastLoss = now }
        serve(now, &actions)
    }

    /// A connection's server has the wrong role: it is closed as soon as it is free.
    mutating func retire(_ id: ConnectionID, now: MonotonicTime, actions: inout Actions) {
        guard let index = index(id), connections[index].state != .connecting else { return }
        connections[index].isDoomed = true
        guard case .idle = connections[index].state else { return }
        connections.remove(at: index)
        idle.removeAll { $0 == id }
        actions.close.append(id)
        serve(now, &actions)
    }

    /// Replaces every open connection, each as soon as it is free.
    mutating func renew(now: MonotonicTime, actions: inout Actions) {
        retireAll(&actions)
        serve(now, &actions)
    }

    /// Retires every open connection: they belong to a server that is gone.
    private mutating func retireAll(_ actions: inout Actions) {
        actions.close += idle
        connections.removeAll { if case .idle = $0.state { true } else { false } }
        idle = []
        for index in connections.indices where connections[index].state != .connecting {
            connections[index].isDoomed = true
        }
    }

    // MARK: Time

    /// Refuses overdue waiters and closes old connections; returns the time of the next check.
    mutating func tick(now: MonotonicTime, actions: inout Actions) -> MonotonicTime {
        giveUpSearch(now)
        let late = waiters.filter { $0.deadline <= now }
        if !late.isEmpty {
            waiters.removeAll { $0.deadline <= now }
            actions.refuse += late.map { .init(waiter: $0.id, refusal: .timedOut) }
        }
        var surplus = connections.count - options.minimumConnections
        // The most recently used stays the longest.
        for id in idle {
            guard let index = index(id), case .idle(let since) = connections[index].state else { continue }
            let isTooLong = surplus > 0 && now.since(since) >= options.idleTimeout
            guard isTooLong || connections[index].expiresAt <= now else { continue }
            surplus -= 1
            connections.remove(at: index)
            idle.removeAll { $0 == id }
            actions.close.append(id)
        }
        for index in connections.indices where connections[index].expiresAt <= now {
            connections[index].isDoomed = true
        }
        serve(now, &actions)
        return nextTick(now)
    }

    /// The time of the next check.
    func nextTick(_ now: MonotonicTime) -> MonotonicTime {
        var next = MonotonicTime.never
        for connection in connections {
            if connection.expiresAt > now { next = min(next, connection.expiresAt) }
            if case .idle(let since) = connection.state, connections.count > options.minimumConnections {
                next = min(next, since + options.idleTimeout)
            }
        }
        for waiter in waiters { next = min(next, waiter.deadline) }
        if search.isRunning { next = min(next, search.giveUpAt) }
        let wants =
            !waiters.isEmpty || connections.count < options.minimumConnections
            || search.isRunning && search.trial == nil
        if retryAt > now, wants, !isClosing { next = min(next, retryAt) }
        return next
    }

    // MARK: Closing

    /// Refuses new callers; connections in use are closed when they are given back.
    mutating func close(actions: inout Actions) {
        isClosing = true
        search = Search()
        actions.refuse += waiters.map { .init(waiter: $0.id, refusal: .closed) }
        waiters = []
        actions.close += idle
        connections.removeAll { connection in
            if case .idle = connection.state { return true }
            return connection.state == .connecting
        }
        idle = []
    }
}
