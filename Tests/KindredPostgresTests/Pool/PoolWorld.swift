import TestSupport

@testable import KindredPostgres

/// A pool's surroundings, played by dice: callers, connections that open, fail, end and answer, and the time.
///
/// It does what the machine decides and notes each rule of the pool that is broken.
struct PoolWorld {
    typealias Machine = PoolStateMachine

    var machine: Machine
    var dice: SeededGenerator
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// Open connections and their uses.
    var uses: [Machine.ConnectionID: [Machine.Use]] = [:]
    var opening: Set<Machine.ConnectionID> = []
    var testing: Set<Machine.ConnectionID> = []
    /// The tests that ask whether the server takes writes.
    var asking: Set<Machine.ConnectionID> = []
    /// Waiters in the order of their coming, without an answer yet.
    var queue: [Machine.Waiter] = []
    var lastWaiter: Machine.WaiterID = 0
    var served = 0
    var broken: [String] = []

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        var options = PostgresConfiguration.PoolOptions()
        options.maximumConnections = Int.random(in: 1...6, using: &dice)
        options.minimumConnections = Int.random(in: 0...min(2, options.maximumConnections), using: &dice)
        options.pipelineDepth = Int.random(in: 1...4, using: &dice)
        options.connectConcurrency = Int.random(in: 1...3, using: &dice)
        options.maximumWaiters = Int.random(in: 0...20, using: &dice)
        options.idleTimeout = .seconds(3)
        options.maximumLifetime = .seconds(20)
        options.idleTestThreshold = .seconds(1)
        machine = Machine(options: options)
    }

    mutating func step() {
        let due = machine.nextTick(now)
        now = now + .milliseconds(Int.random(in: 0...300, using: &dice))
        // The poller is never late.
        if due <= now { tick() }
        switch Int.random(in: 0..<100, using: &dice) {
        case 0..<40: acquire()
        case 40..<70: release()
        case 70..<82: connect(succeeds: Int.random(in: 0..<5, using: &dice) > 0)
        case 82..<86: finishTest()
        case 86..<90: cancel()
        case 90..<94: end()
        case 94..<95: dice.once(in: 3) ? renew() : retire()
        case 95..<97: refuse()
        default: tick()
        }
        check()
    }

    // MARK: Events

    mutating func acquire() {
        let use = Bool.random(using: &dice) ? Machine.Use.shared : .exclusive
        lastWaiter += 1
        let waiter = Machine.Waiter(id: lastWaiter, use: use, deadline: now + .seconds(2))
        let isNested = Int.random(in: 0..<20, using: &dice) == 0
        let wasWaitedFor = !queue.isEmpty
        let answer = act { machine, now, actions in
            machine.acquire(use, waiter: waiter, isNested: isNested, now: now, actions: &actions)
        }
        switch answer {
        case .connection(let id):
            if wasWaitedFor { broken.append("somebody overtook the queue") }
            hand(id, use)
        case .wait: queue.append(waiter)
        case .refused(.nested):
            if !isNested || !uses.values.allSatisfy({ $0 == [.exclusive] }) { broken.append("nested without reason") }
        case .refused(.overloaded):
            if queue.count < machine.options.maximumWaiters { broken.append("overloaded without reason") }
        case .refused(.permanentFailure): if !uses.isEmpty { broken.append("permanent failure with connections") }
        case .refused(.closed): if !machine.isClosing { broken.append("closed while open") }
        case .refused(.timedOut): broken.append("timed out at once")
        }
    }

    mutating func release() {
        guard let id = uses.filter({ !$0.value.isEmpty }).keys.sorted().randomElement(using: &dice) else { return }
        uses[id]?.removeLast()
        act { machine, now, actions in machine.release(id, now: now, actions: &actions) }
    }

    mutating func connect(succeeds: Bool) {
        guard let id = opening.sorted().randomElement(using: &dice) else { return }
        opening.remove(id)
        if succeeds {
            uses[id] = []
            act { machine, now, actions in machine.connected(id, jitter: 0.5, now: now, actions: &actions) }
        } else {
            let isPermanent = Int.random(in: 0..<4, using: &dice) == 0
            act { machine, now, actions in
                machine.connectFailed(id, isPermanent: isPermanent, jitter: 0.5, now: now, actions: &actions)
            }
        }
    }

    mutating func finishTest() {
        guard let id = testing.sorted().randomElement(using: &dice) else { return }
        testing.remove(id)
        if asking.remove(id) != nil {
            let takesWrites = Bool.random(using: &dice)
            return act { machine, now, actions in
                machine.answered(id, takesWrites: takesWrites, now: now, actions: &actions)
            }
        }
        act { machine, now, actions in machine.connected(id, jitter: 0, now: now, actions: &actions) }
    }

    /// A server refuses a write, as it takes none.
    mutating func refuse() {
        guard let id = uses.keys.sorted().randomElement(using: &dice) else { return }
        act { machine, now, actions in machine.refused(id, now: now, actions: &actions) }
    }

    mutating func cancel() {
        guard let index = queue.indices.randomElement(using: &dice) else { return }
        let waiter = queue.remove(at: index)
        let wasWaiting = act { machine, now, actions in machine.cancel(waiter.id, now: now, actions: &actions) }
        if !wasWaiting { broken.append("a waiter was lost") }
    }

    mutating func end() {
        guard let id = uses.keys.sorted().randomElement(using: &dice) else { return }
        uses[id] = nil
        testing.remove(id)
        asking.remove(id)
        let kind = [Machine.End.own, .loss, .crash].randomElement(using: &dice) ?? .own
        act { machine, now, actions in machine.ended(id, kind, now: now, actions: &actions) }
    }

    mutating func retire() {
        guard let id = uses.keys.sorted().randomElement(using: &dice) else { return }
        act { machine, now, actions in machine.retire(id, now: now, actions: &actions) }
    }

    mutating func renew() {
        let old = Set(machine.connections.filter { $0.state != .connecting }.map(\.id))
        act { machine, now, actions in machine.renew(now: now, actions: &actions) }
        let kept = machine.connections.filter { old.contains($0.id) }
        if kept.contains(where: { !$0.isDoomed }) { broken.append("an old connection stays") }
        if !machine.idle.allSatisfy({ !old.contains($0) }) { broken.append("an old connection is idle") }
    }

    mutating func tick() {
        let next = act { machine, now, actions in machine.tick(now: now, actions: &actions) }
        if next <= now { broken.append("the next tick is not in the future") }
    }

    mutating func close() {
        act { machine, _, actions in machine.close(actions: &actions) }
    }

    // MARK: Actions

    @discardableResult
    private mutating func act<T>(_ body: (inout Machine, MonotonicTime, inout Machine.Actions) -> T) -> T {
        var actions = Machine.Actions()
        let result = body(&machine, now, &actions)
        for id in actions.connect where !opening.insert(id).inserted { broken.append("opened twice") }
        for id in actions.test {
            if !testing.insert(id).inserted { broken.append("tested twice") }
            if machine.connections.contains(where: { $0.id == id && $0.isDoubted }) { asking.insert(id) }
        }
        for id in actions.close {
            if let users = uses.removeValue(forKey: id), !users.isEmpty { broken.append("closed while in use") }
            testing.remove(id)
            asking.remove(id)
        }
        for refused in actions.refuse {
            guard let index = queue.firstIndex(where: { $0.id == refused.waiter }) else {
                broken.append("refused somebody who does not wait")
                continue
            }
            let waiter = queue.remove(at: index)
            if refused.refusal == .timedOut, waiter.deadline > now { broken.append("timed out too early") }
        }
        for assignment in actions.assign {
            guard let first = queue.first, first.id == assignment.waiter else {
                broken.append("served out of turn")
                continue
            }
            queue.removeFirst()
            hand(assignment.connection, first.use)
        }
        return result
    }

    private mutating func hand(_ id: Machine.ConnectionID, _ use: Machine.Use) {
        guard let users = uses[id] else { return broken.append("handed out a connection that is not open") }
        if testing.contains(id) { broken.append("handed out a connection under test") }
        if machine.search.isRunning || machine.connections.contains(where: { $0.id == id && $0.isDoubted }) {
            broken.append("handed out a connection in doubt")
        }
        if use == .exclusive, !users.isEmpty { broken.append("an exclusive connection had users") }
        if users.contains(.exclusive) { broken.append("shared an exclusive connection") }
        if users.count >= max(1, machine.options.pipelineDepth) { broken.append("deeper than the pipeline") }
        uses[id] = users + [use]
        served += 1
    }

    // MARK: Rules

    func check(_ rule: Bool, _ text: String, _ broken: inout [String]) {
        if !rule { broken.append(text) }
    }

    mutating func check() {
        var broken = self.broken
        let options = machine.options
        let connections = machine.connections
        check(connections.count <= options.maximumConnections, "more connections than allowed", &broken)
        check(Set(connections.map(\.id)).count == connections.count, "a connection is there twice", &broken)
        check(opening.count <= options.connectConcurrency, "too many attempts at once", &broken)
        let idle = connections.filter { if case .idle = $0.state { true } else { false } }.map(\.id)
        check(idle.sorted() == machine.idle.sorted(), "the idle list is wrong", &broken)
        for connection in connections {
            switch connection.state {
            case .connecting: check(opening.contains(connection.id), "waits for no attempt", &broken)
            case .testing: check(testing.contains(connection.id), "waits for no test", &broken)
            case .idle: check(uses[connection.id] == [], "idle in use", &broken)
            case .leased: check(uses[connection.id] == [.exclusive], "leased to nobody", &broken)
            case .shared(let load):
                check(uses[connection.id]?.count == load && load > 0, "wrong load", &broken)
            }
        }
        check(queue.map(\.id) == machine.waiters.map(\.id), "the queue is another one", &broken)
        if let head = queue.first, !machine.isClosing {
            check(
                machine.idle.isEmpty || machine.search.isRunning, "somebody waits beside an idle connection", &broken)
            if head.use == .shared {
                let hasRoom = connections.contains {
                    guard case .shared(let load) = $0.state else { return false }
                    return load < options.pipelineDepth && !$0.isDoomed && !$0.isDoubted && !machine.search.isRunning
                }
                check(!hasRoom, "somebody waits beside a share", &broken)
            }
            if connections.count < options.maximumConnections, now >= machine.retryAt {
                check(!opening.isEmpty || !testing.isEmpty, "somebody waits and nothing is opened", &broken)
            }
        }
        self.broken = broken
    }
}
