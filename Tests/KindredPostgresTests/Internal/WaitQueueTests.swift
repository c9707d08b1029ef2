import Synchronization
import Testing

@testable import KindredPostgres

/// The races of waiting, cancellation and deadlines, which every queue of the library inherits.
@Suite struct WaitQueueTests {
    /// Tickets for the tasks that come first, with the order in which they were handed out.
    private struct Tickets {
        var free = 0
        var given: [Int] = []
    }

    private typealias Line = WaitQueue<Tickets, Int, Int>

    private static func line() -> Line {
        Line(Tickets()) { tickets, number in
            guard tickets.free > 0 else { return nil }
            tickets.free -= 1
            tickets.given.append(number)
            return number
        }
    }

    /// Starts tasks that wait one behind the other.
    private func wait(in line: Line, _ numbers: Range<Int>) async -> [Task<Int, any Error>] {
        var tasks: [Task<Int, any Error>] = []
        for number in numbers {
            tasks.append(Task { try await line.wait(for: number) })
            while line.waiterCount <= number { await Task.yield() }
        }
        return tasks
    }

    @Test func firstInIsFirstOutAndATaskThatLeavesHoldsUpNoOther() async throws {
        let line = Self.line()
        let tasks = await wait(in: line, 0..<6)
        #expect(line.answerNow(to: 6) == nil)
        for place in [0, 3] {
            tasks[place].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[place].value }
        }
        for _ in 0..<3 { line.change { $0.free += 1 } }
        for place in [1, 2, 4] { #expect(try await tasks[place].value == place) }
        #expect(line.change { $0.given } == [1, 2, 4] && line.waiterCount == 1)
        line.change { $0.free += 2 }
        #expect(try await tasks[5].value == 5)
        #expect(line.answerNow(to: 6) == 6)
    }

    @Test func theFirstOnesLeaveLetsInWhoCouldHaveGoneBefore() async throws {
        // A large wish holds up small ones, until it is cancelled.
        let line = WaitQueue<Int, Int, Int>(1) { free, wish in
            guard wish <= free else { return nil }
            free -= wish
            return wish
        }
        let large = Task { try await line.wait(for: 5) }
        while line.waiterCount == 0 { await Task.yield() }
        let small = Task { try await line.wait(for: 1) }
        while line.waiterCount == 1 { await Task.yield() }
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        #expect(try await small.value == 1)
    }

    @Test func whereAllAreAskedNoTaskHoldsUpAnother() async throws {
        let line = WaitQueue<Set<Int>, Int, Int>([], order: .any) { open, wish in open.contains(wish) ? wish : nil }
        let first = Task { try await line.wait(for: 1) }
        while line.waiterCount == 0 { await Task.yield() }
        let second = Task { try await line.wait(for: 2) }
        while line.waiterCount == 1 { await Task.yield() }
        line.change { _ = $0.insert(2) }
        #expect(try await second.value == 2 && line.answerNow(to: 2) == 2 && line.waiterCount == 1)
        line.change { _ = $0.insert(1) }
        #expect(try await first.value == 1)
    }

    @Test func aDeadlineEndsAWaitAndNotAnother() async throws {
        let line = Self.line()
        let patient = await wait(in: line, 0..<1)
        await #expect(throws: WaitTimeout.self) { try await line.wait(for: 1, by: .now + .milliseconds(5)) }
        await #expect(throws: WaitTimeout.self) { try await line.wait(for: 2, by: .now) }
        #expect(line.waiterCount == 1)
        line.change { $0.free += 2 }
        #expect(try await patient[0].value == 0)
        // No task has to wait now.
        #expect(try await line.wait(for: 3, by: .now) == 3)
    }

    @Test func aCancelledTaskIsAdmittedOnlyWhereItNeedNotWait() async throws {
        let line = Self.line()
        let cancelled: Task<Void, any Error> = Task {
            while !Task.isCancelled { await Task.yield() }
            await #expect(throws: CancellationError.self) { try await line.wait(for: 1) }
            line.change { $0.free += 1 }
            let admitted = try await line.wait(for: 2)
            #expect(admitted == 2)
            let shielded = await line.waitShielded(for: 3)
            #expect(shielded == 3)
        }
        cancelled.cancel()
        while line.change({ $0.given }) != [2] || line.waiterCount == 0 { await Task.yield() }
        line.change { $0.free += 1 }
        try await cancelled.value
        #expect(line.waiterCount == 0)
    }

    /// A value that many tasks change.
    private final class Shared<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        init(_ value: Value) { mutex = Mutex(value) }

        func change<T: Sendable>(_ body: (inout Value) -> T) -> T { mutex.withLock { body(&$0) } }
    }

    private enum End { case admitted, cancelled, timedOut }

    @Test("no ticket is lost and no waiter is forgotten, whichever tasks leave, and when", arguments: 0..<200)
    func race(seed: Int) async throws {
        var random = SystemRandomNumberGenerator()
        let line = Self.line()
        let ends = Shared<[End]>([])
        let count = Int.random(in: 1...24, using: &random)
        await withTaskGroup { group in
            for number in 0..<count {
                let deadline: MonotonicTime =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? .now + .microseconds(Int.random(in: 0...2_000, using: &random)) : .never
                let leaves = Int.random(in: 0..<2, using: &random) == 0
                let isShielded = !leaves && deadline == .never && Int.random(in: 0..<4, using: &random) == 0
                let (delay, patience) = (
                    Int.random(in: 0...20, using: &random), Int.random(in: -1...20, using: &random)
                )
                group.addTask {
                    let task = Task {
                        for _ in 0..<delay { await Task.yield() }
                        do {
                            if isShielded {
                                _ = await line.waitShielded(for: number)
                            } else {
                                _ = try await line.wait(for: number, by: deadline)
                            }
                            ends.change { $0.append(.admitted) }
                            line.change { $0.free += 1 }
                        } catch {
                            ends.change { $0.append(error is WaitTimeout ? .timedOut : .cancelled) }
                        }
                    }
                    if leaves {
                        for _ in 0..<max(patience, 0) { await Task.yield() }
                        task.cancel()
                    }
                    await task.value
                }
            }
            line.change { $0.free += 1 + seed % 3 }
        }
        let tickets = line.change { $0 }
        #expect(tickets.free == 1 + seed % 3 && line.waiterCount == 0)
        let seen = ends.change { $0 }
        #expect(seen.count == count && seen.count { $0 == .admitted } == tickets.given.count)
        #expect(Set(tickets.given).count == tickets.given.count)
    }

    @Test func aGateAdmitsAsManyAsItHasPlacesInOrder() async {
        let gate = AsyncGate(places: 2)
        let counts = Shared((now: 0, most: 0))
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    let task = Task {
                        await gate.withLock {
                            counts.change { counts in
                                counts.now += 1
                                counts.most = max(counts.most, counts.now)
                            }
                            await Task.yield()
                            counts.change { $0.now -= 1 }
                        }
                    }
                    // Its place is waited for all the same.
                    if number.isMultiple(of: 3) { task.cancel() }
                    await task.value
                }
            }
        }
        #expect(counts.change { $0.now == 0 && $0.most == 2 })
    }

    @Test func aLatchLetsTasksGoThatWaitOrComeLater() async throws {
        let latch = AsyncLatch()
        let tasks = (0..<4).map { number in
            Task { if number == 0 { await latch.waitShielded() } else { try await latch.wait() } }
        }
        tasks[0].cancel()
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        latch.open()
        for task in [tasks[0], tasks[2], tasks[3]] { try await task.value }
        latch.open()
        try await latch.wait()
    }
}
