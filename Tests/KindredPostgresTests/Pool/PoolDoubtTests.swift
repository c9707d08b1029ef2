import Testing

@testable import KindredPostgres

/// The pool's search for a server that takes writes, after one has refused a write.
@Suite struct PoolDoubtTests {
    typealias Machine = PoolStateMachine
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// A machine with open, idle connections numbered from 1.
    private func opened(_ count: Int, of maximum: Int) -> Machine {
        var options = PostgresConfiguration.PoolOptions()
        options.maximumConnections = maximum
        var machine = Machine(options: options)
        var actions = Machine.Actions()
        for _ in 0..<count {
            machine.connected(machine.addConnection(), jitter: 0, now: start, actions: &actions)
        }
        return machine
    }

    private func waiter(_ id: UInt64) -> Machine.Waiter {
        Machine.Waiter(id: id, use: .exclusive, deadline: start + .seconds(5))
    }

    /// The actions of an event.
    private func actions(_ body: (inout Machine.Actions) -> Void) -> Machine.Actions {
        var actions = Machine.Actions()
        body(&actions)
        return actions
    }

    @Test func olderConnectionsAreAskedBeforeTheyAreLent() {
        var machine = opened(3, of: 3)
        let refused = actions { machine.refused(2, now: start, actions: &$0) }
        // The connection that was idle longest makes room.
        #expect(refused.connect == [4] && refused.close == [1])
        #expect(machine.hasOtherServer)
        for use in [Machine.Use.shared, .exclusive] {
            var none = Machine.Actions()
            let answer = machine.acquire(use, waiter: nil, isNested: false, now: start, actions: &none)
            #expect(answer == .wait && none.isEmpty)
        }
        var waiting = Machine.Actions()
        for id in 1...2 as ClosedRange<UInt64> {
            _ = machine.acquire(.exclusive, waiter: waiter(id), isNested: false, now: start, actions: &waiting)
        }
        #expect(waiting.isEmpty)
        // The new one is asked, too.
        let opened = actions { machine.connected(4, jitter: 0, now: start, actions: &$0) }
        #expect(opened.test == [4] && opened.assign.isEmpty)
        let found = actions { machine.answered(4, takesWrites: true, now: start, actions: &$0) }
        #expect(found.assign == [.init(waiter: 1, connection: 4)])
        #expect(found.test == [3, 2])
        let former = actions { machine.answered(3, takesWrites: false, now: start, actions: &$0) }
        #expect(former.close == [3] && former.test.isEmpty)
        // A connection whose server takes writes goes on.
        let good = actions { machine.answered(2, takesWrites: true, now: start, actions: &$0) }
        #expect(good.close.isEmpty && good.assign == [.init(waiter: 2, connection: 2)])
    }

    @Test func aServerWithoutWritesCostsOneConnectionASecond() {
        var machine = opened(1, of: 10)
        var now = start
        var count = 0
        for _ in 0..<40 {
            let last = machine.idle.last ?? 0
            let refused = actions { machine.refused(last, now: now, actions: &$0) }
            count += refused.connect.count
            for id in refused.connect {
                #expect(actions { machine.connected(id, jitter: 0, now: now, actions: &$0) }.test == [id])
                let answer = actions { machine.answered(id, takesWrites: false, now: now, actions: &$0) }
                #expect(answer.isEmpty && !machine.hasOtherServer)
                #expect(machine.connections.allSatisfy { !$0.isDoubted })
            }
            now = now + .milliseconds(100)
        }
        #expect(count == 4)
    }

    @Test func connectionsServeAgainIfTheNewOneFailsOrIsLate() {
        for isLate in [true, false] {
            var machine = opened(1, of: 2)
            #expect(actions { machine.refused(1, now: start, actions: &$0) }.connect == [2])
            var waiting = Machine.Actions()
            _ = machine.acquire(.exclusive, waiter: waiter(1), isNested: false, now: start, actions: &waiting)
            let end = actions {
                if isLate {
                    let due = machine.nextTick(start)
                    #expect(due < start + .seconds(5))
                    _ = machine.tick(now: due, actions: &$0)
                } else {
                    machine.connectFailed(2, isPermanent: false, jitter: 0, now: start, actions: &$0)
                }
            }
            #expect(waiting.isEmpty && end.assign == [.init(waiter: 1, connection: 1)])
            guard isLate else { continue }
            // Its answer counts all the same.
            #expect(actions { machine.connected(2, jitter: 0, now: start, actions: &$0) }.test == [2])
            machine.release(1, now: start, actions: &waiting)
            _ = actions { machine.answered(2, takesWrites: true, now: start, actions: &$0) }
            #expect(machine.connections.filter(\.isDoubted).map(\.id) == [1])
        }
    }

    @Test func aPoolWithoutAnIdleConnectionWaitsForOne() {
        var machine = opened(1, of: 1)
        var lent = Machine.Actions()
        #expect(machine.acquire(.exclusive, waiter: nil, isNested: false, now: start, actions: &lent) == .connection(1))
        #expect(actions { machine.refused(1, now: start, actions: &$0) }.isEmpty)
        let free = actions { machine.release(1, now: start, actions: &$0) }
        #expect(free.close == [1] && free.connect == [2])
    }
}
