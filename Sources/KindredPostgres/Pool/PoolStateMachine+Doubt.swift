// The address of the servers may lead to another server than before: a virtual address, a name or a proxy that moved. Open
// connections stay with the former server, which may take no writes any more and show old rows.
//
// So the first write that a server refuses puts all connections in doubt, and a new connection is opened. Where its server takes
// writes, each older connection is asked the same before it is lent again, and closed if its server does not. Where it takes none
// either, as for a role that only reads or a full disk, the older connections go on. One new connection is tried a second.
extension PoolStateMachine {
    /// The shortest time from one search for a server that takes writes to the next.
    static let searchInterval = Duration.seconds(1)

    /// The search for a server that takes writes.
    struct Search {
        /// Whether no connection is lent until the new one has answered.
        var isRunning = false
        /// The new connection, until it has answered.
        var trial: ConnectionID?
        /// Whether the last search has found a server that takes writes.
        var hasFound = false
        var startedAt: MonotonicTime?
        /// When connections are lent again although the new one has not answered: it may take as long as connecting may.
        var giveUpAt = MonotonicTime.never
    }

    /// Whether a statement that a server has refused because it takes no writes may succeed over another connection.
    var hasOtherServer: Bool { search.isRunning || search.hasFound }

    /// The server of a connection takes no writes, although the program has asked for none that only reads.
    mutating func refused(_ id: ConnectionID, now: MonotonicTime, actions: inout Actions) {
        // A connection in doubt says nothing new.
        guard let index = index(id), !connections[index].isDoubted else { return }
        search(now, &actions)
    }

    /// Puts all connections in doubt, and opens a new one, unless that was done a moment ago.
    mutating func search(_ now: MonotonicTime, _ actions: inout Actions) {
        let isTooEarly = search.startedAt.map { now.since($0) < Self.searchInterval } ?? false
        guard !isClosing, !search.isRunning, search.trial == nil, !isTooEarly else { return }
        search = Search(isRunning: true, startedAt: now, giveUpAt: now + options.acquireTimeout / 2)
        doubtAll()
        serve(now, &actions)
    }

    private mutating func doubtAll() {
        for index in connections.indices { connections[index].isDoubted = true }
    }

    /// Opens the new connection of a search, if there is room; at the maximum an idle connection makes room.
    mutating func openTrial(_ now: MonotonicTime, _ actions: inout Actions) {
        guard !isClosing, search.trial == nil, now >= retryAt,
            connections.count(where: { $0.state == .connecting }) < options.connectConcurrency
        else { return }
        if connections.count >= options.maximumConnections {
            guard let id = idle.first, let index = index(id) else { return }
            connections.remove(at: index)
            idle.removeFirst()
            actions.close.append(id)
        }
        let id = addConnection()
        search.trial = id
        actions.connect.append(id)
    }

    /// A connection in doubt was asked whether its server takes writes.
    mutating func answered(_ id: ConnectionID, takesWrites: Bool, now: MonotonicTime, actions: inout Actions) {
        guard let index = index(id), connections[index].state == .testing else { return }
        if takesWrites {
            if search.isRunning || search.trial == id {
                doubtAll()
                endSearch(hasFound: true)
            }
            connections[index].isDoubted = false
        } else if search.trial == id {
            endSearch(hasFound: false)
        } else if search.hasFound {
            actions.close.append(connections.remove(at: index).id)
            return serve(now, &actions)
        }
        becomeIdle(index, at: now, &actions)
    }

    /// A connection has ended, or could not be opened.
    mutating func noteEnd(of id: ConnectionID) {
        if search.trial == id { endSearch(hasFound: false) }
    }

    /// Lends connections again if the new one takes too long to answer; its answer counts all the same.
    mutating func giveUpSearch(_ now: MonotonicTime) {
        guard search.isRunning, search.giveUpAt <= now else { return }
        search.isRunning = false
        trustAll()
    }

    private mutating func endSearch(hasFound: Bool) {
        (search.isRunning, search.trial, search.hasFound) = (false, nil, hasFound)
        if !hasFound { trustAll() }
    }

    private mutating func trustAll() {
        for index in connections.indices { connections[index].isDoubted = false }
    }
}
