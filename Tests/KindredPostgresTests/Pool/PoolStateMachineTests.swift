import Foundation
import TestSupport
import Testing

@testable import KindredPostgres

@Suite struct PoolStateMachineTests {
    typealias Machine = PoolStateMachine
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func machine(_ maximum: Int, _ change: (inout PostgresConfiguration.PoolOptions) -> Void = { _ in })
        -> Machine
    {
        var options = PostgresConfiguration.PoolOptions()
        options.maximumConnections = maximum
        change(&options)
        return Machine(options: options)
    }

    private func waiter(_ id: UInt64, _ use: Machine.Use = .exclusive) -> Machine.Waiter {
        Machine.Waiter(id: id, use: use, deadline: start + .seconds(5))
    }

    /// A machine with open, idle connections numbered from 1.
    private func opened(_ count: Int, of maximum: Int? = nil) -> Machine {
        var machine = machine(maximum ?? count)
        var actions = Machine.Actions()
        for _ in 0..<count {
            let id = machine.addConnection()
            machine.connected(id, jitter: 0, now: start, actions: &actions)
        }
        return machine
    }

    @Test(arguments: 0..<300 as Range<UInt64>) func randomEventsBreakNoRule(seed: UInt64) {
        var world = PoolWorld(seed: seed)
        for number in 0..<600 {
            world.step()
            if !world.broken.isEmpty { break }
            if number == 450 { world.close() }
        }
        #expect(world.broken.isEmpty, "seed \(seed)")
        // Connections that are still in use come back, and then nothing is left.
        while world.uses.contains(where: { !$0.value.isEmpty }) { world.release() }
        while !world.testing.isEmpty { world.finishTest() }
        while !world.opening.isEmpty { world.connect(succeeds: true) }
        #expect(world.machine.connections.isEmpty)
        #expect(world.uses.isEmpty)
        #expect(world.queue.isEmpty)
    }

    @Test func everybodyIsServedOnceConnectionsComeBack() {
        for seed in 1_000..<1_100 as Range<UInt64> {
            var world = PoolWorld(seed: seed)
            for _ in 0..<200 { world.step() }
            // The server is back: nothing has to wait for the next attempt.
            world.machine.retryAt = world.now
            for _ in 0..<200 where !world.queue.isEmpty {
                world.now = world.now + .milliseconds(2)
                while world.uses.contains(where: { !$0.value.isEmpty }) { world.release() }
                while !world.testing.isEmpty { world.finishTest() }
                while !world.opening.isEmpty { world.connect(succeeds: true) }
                world.tick()
            }
            #expect(world.queue.isEmpty, "seed \(seed)")
            #expect(world.broken.isEmpty, "seed \(seed)")
        }
    }

    @Test func theConnectionUsedLastIsUsedNext() {
        var machine = opened(3)
        var actions = Machine.Actions()
        let first = machine.acquire(.exclusive, waiter: nil, isNested: false, now: start, actions: &actions)
        #expect(first == .connection(3))
        let second = machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions)
        #expect(second == .connection(2))
        machine.release(3, now: start, actions: &actions)
        let third = machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions)
        #expect(third == .connection(3))
    }

    @Test func aStatementSharesWhileAnotherConnectionIsOpened() {
        var machine = opened(1, of: 2)
        var actions = Machine.Actions()
        #expect(machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions) == .connection(1))
        #expect(actions.connect.isEmpty)
        #expect(machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions) == .connection(1))
        #expect(actions.connect == [2])
    }

    @Test func aConnectionInALongStatementIsSharedLast() {
        var machine = opened(2)
        var actions = Machine.Actions()
        // 2 has one request for a long time, 1 has two new ones.
        _ = machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions)
        let later = start + .milliseconds(100)
        #expect(machine.acquire(.shared, waiter: nil, isNested: false, now: later, actions: &actions) == .connection(1))
        #expect(machine.acquire(.shared, waiter: nil, isNested: false, now: later, actions: &actions) == .connection(1))
        #expect(machine.acquire(.shared, waiter: nil, isNested: false, now: later, actions: &actions) == .connection(1))
    }

    @Test func nobodyJoinsAheadOfATransactionThatWaits() {
        var machine = opened(1)
        var actions = Machine.Actions()
        _ = machine.acquire(.shared, waiter: nil, isNested: false, now: start, actions: &actions)
        #expect(machine.acquire(.exclusive, waiter: waiter(1), isNested: false, now: start, actions: &actions) == .wait)
        #expect(
            machine.acquire(.shared, waiter: waiter(2, .shared), isNested: false, now: start, actions: &actions)
                == .wait)
        machine.release(1, now: start, actions: &actions)
        #expect(actions.assign == [.init(waiter: 1, connection: 1)])
    }

    @Test func aNestedAcquireThatCouldNeverEndIsRefused() {
        var machine = opened(1)
        var actions = Machine.Actions()
        _ = machine.acquire(.exclusive, waiter: nil, isNested: false, now: start, actions: &actions)
        let answer = machine.acquire(.exclusive, waiter: waiter(1), isNested: true, now: start, actions: &actions)
        #expect(answer == .refused(.nested))
    }

    @Test func aPermanentFailureIsToldAtOnceAndNotAskedForAgainAndAgain() {
        var machine = machine(2)
        var actions = Machine.Actions()
        _ = machine.acquire(.shared, waiter: waiter(1, .shared), isNested: false, now: start, actions: &actions)
        #expect(actions.connect == [1])
        actions = .init()
        machine.connectFailed(1, isPermanent: true, jitter: 0, now: start, actions: &actions)
        #expect(actions == .init(refuse: [.init(waiter: 1, refusal: .permanentFailure)]))
        let soon = start + .seconds(1)
        let answer = machine.acquire(.shared, waiter: waiter(2), isNested: false, now: soon, actions: &actions)
        #expect(answer == .refused(.permanentFailure))
        actions = .init()
        let later = start + .seconds(6)
        #expect(machine.acquire(.shared, waiter: waiter(3), isNested: false, now: later, actions: &actions) == .wait)
        #expect(actions.connect.count == 1)
    }

    @Test func attemptsBackOffAndNeverGiveUp() {
        var machine = machine(4)
        var actions = Machine.Actions()
        var now = start
        let patient = Machine.Waiter(id: 1, use: .shared, deadline: start + .seconds(3_600))
        _ = machine.acquire(.shared, waiter: patient, isNested: false, now: now, actions: &actions)
        var pauses: [Duration] = []
        for _ in 0..<10 {
            let id = actions.connect[0]
            #expect(actions.connect.count == 1)
            actions = .init()
            machine.connectFailed(id, isPermanent: false, jitter: 1, now: now, actions: &actions)
            let next = machine.tick(now: now, actions: &actions)
            #expect(actions.connect.isEmpty)
            pauses.append(next.since(now))
            now = next
            _ = machine.tick(now: now, actions: &actions)
        }
        #expect(pauses[0] == .milliseconds(50))
        #expect(pauses[3] == .milliseconds(400))
        #expect(pauses[9] == .seconds(1))
    }

    @Test func idleAndOldConnectionsLeaveAndTheMinimumStays() {
        var machine = machine(3) { $0.minimumConnections = 1 }
        var actions = Machine.Actions()
        for _ in 0..<3 { machine.connected(machine.addConnection(), jitter: 0, now: start, actions: &actions) }
        _ = machine.tick(now: start + .seconds(299), actions: &actions)
        #expect(actions.close.isEmpty)
        _ = machine.tick(now: start + .seconds(300), actions: &actions)
        #expect(actions.close == [1, 2])
        actions = .init()
        _ = machine.tick(now: start + .seconds(1_800), actions: &actions)
        #expect(actions.close == [3])
        #expect(actions.connect.count == 1)
    }

    @Test func aConnectionThatWasIdleForLongIsTestedFirst() {
        var machine = opened(1)
        var actions = Machine.Actions()
        let later = start + .seconds(40)
        #expect(
            machine.acquire(.shared, waiter: waiter(1, .shared), isNested: false, now: later, actions: &actions)
                == .wait)
        #expect(actions.test == [1])
        actions = .init()
        machine.connected(1, jitter: 0, now: later, actions: &actions)
        #expect(actions.assign == [.init(waiter: 1, connection: 1)])
    }

    @Test func afterACrashEverythingOpenIsReplacedWithoutBeingTried() {
        var machine = opened(4)
        var actions = Machine.Actions()
        _ = machine.acquire(.exclusive, waiter: nil, isNested: false, now: start, actions: &actions)
        machine.ended(1, .crash, now: start, actions: &actions)
        #expect(actions.close == [2, 3])
        actions = .init()
        machine.release(4, now: start, actions: &actions)
        #expect(actions.close == [4])
        #expect(machine.connections.isEmpty)
    }

    @Test(arguments: [(Machine.End.loss, 500, true), (.loss, 1_500, false), (.own, 1, false)])
    func oneLossAloneLeavesTheOthersAndTwoCloseTogetherDoNot(end: Machine.End, pause: Int, isAll: Bool) {
        var machine = opened(4)
        var actions = Machine.Actions()
        machine.ended(1, .loss, now: start, actions: &actions)
        #expect(actions.close.isEmpty)
        machine.ended(2, end, now: start + .milliseconds(pause), actions: &actions)
        #expect(actions.close == (isAll ? [3, 4] : []))
    }

    /// Every step hands a connection over, and most steps cancel a waiter at the same time.
    @Test func cancellationsAndHandOffsAtRandomLoseNothing() {
        let wanted = TestAmount.of(2_000, full: 20_000, long: 1_000_000)
        var races = 0
        var seed: UInt64 = 50_000
        while races < wanted {
            seed += 1
            var world = PoolWorld(seed: seed)
            for _ in 0..<2_000 {
                world.acquire()
                if Bool.random(using: &world.dice) { world.release() }
                if Bool.random(using: &world.dice) {
                    if !world.queue.isEmpty { races += 1 }
                    world.cancel()
                }
                if Int.random(in: 0..<8, using: &world.dice) == 0 { world.connect(succeeds: true) }
                if !world.testing.isEmpty { world.finishTest() }
                world.check()
            }
            #expect(world.broken.isEmpty, "seed \(seed)")
            if !world.broken.isEmpty { break }
        }
    }
}
