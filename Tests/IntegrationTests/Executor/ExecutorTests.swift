import Dispatch
import Foundation
import Kindred
import KindredTesting
import Synchronization
import TestSupport
import Testing

/// Tasks that prefer `PostgresExecutor`: one test after the other, since some of them block its threads.
@Suite(.serialized, .database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL)"))
struct ExecutorTests {
    /// The tasks that the executor runs at once.
    private static let runnerCount = ProcessInfo.processInfo.activeProcessorCount

    /// Threads that blocking calls hold until they are let go.
    private final class Blockade: Sendable {
        private let heldCount = Atomic(0)
        private let gate = DispatchSemaphore(value: 0)

        /// Blocks the calling thread.
        func hold() {
            heldCount.add(1, ordering: .relaxed)
            gate.wait()
        }

        func isHolding(_ count: Int) -> Bool { heldCount.load(ordering: .relaxed) == count }

        func letGo(_ count: Int) {
            for _ in 0..<count { gate.signal() }
        }
    }

    /// Sends statements, each of which depends on the answer to the statement before.
    private static func count(to last: Int, _ client: PostgresClient) async throws {
        for number in 0..<last {
            let next = try await client.query("SELECT \(number) + 1")[0].decode(0, as: Int.self)
            #expect(next == number + 1)
        }
    }

    /// Runs `body` while tasks of the executor block some of its threads, in the middle of their work with a connection.
    private func withBlockedThreads(
        _ count: Int, _ client: PostgresClient, _ body: () async throws -> Void
    ) async throws {
        let blockade = Blockade()
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<count {
                group.addTask(executorPreference: PostgresExecutor.shared) {
                    try await Self.count(to: 3, client)
                    blockade.hold()
                    try await Self.count(to: 3, client)
                }
            }
            defer { blockade.letGo(count) }
            try await eventually("the threads are blocked") { blockade.isHolding(count) }
            try await body()
        }
    }

    @Test(.timeLimit(.minutes(10))) func blockedThreadsHoldUpNoConnectionOfTasksElsewhere() async throws {
        try await withClient(maximumConnections: 2) { client in
            try await withClient(maximumConnections: 2) { other in
                // All that may run tasks.
                try await withBlockedThreads(Self.runnerCount, client) {
                    // New connections, and those over which the blocked tasks have sent statements.
                    for used in [other, client] { try await Self.count(to: 100, used) }
                    let victim = Task { try await other.query("SELECT pg_sleep(600)") }
                    victim.cancel()
                    await #expect(throws: CancellationError.self) { try await victim.value }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func aThreadThatIsLeftRunsTheOtherTasks() async throws {
        guard Self.runnerCount > 1 else { return }
        try await withClient(maximumConnections: 2) { client in
            try await withBlockedThreads(Self.runnerCount - 1, client) {
                try await withTaskExecutorPreference(PostgresExecutor.shared) {
                    try await withThrowingDiscardingTaskGroup { group in
                        for _ in 0..<10 { group.addTask { try await Self.count(to: 20, client) } }
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func cancelledTasksEndAndLeaveTheConnectionUsable() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withTaskExecutorPreference(PostgresExecutor.shared) {
                for _ in 0..<20 {
                    let victim = Task(executorPreference: PostgresExecutor.shared) {
                        try await client.query("SELECT pg_sleep(600)")
                    }
                    await Task.yield()
                    victim.cancel()
                    await #expect(throws: CancellationError.self) { try await victim.value }
                    try await Self.count(to: 2, client)
                }
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test(.timeLimit(.minutes(10))) func tasksOfADatabaseThatIsClosedAllEnd() async throws {
        for _ in 0..<TestAmount.of(5, full: 20) {
            let database = try await Database.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
            let tally = Tally()
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<12 {
                    group.addTask(executorPreference: PostgresExecutor.shared) { () async throws in
                        let error = await #expect(throws: PostgresError.self) {
                            while true {
                                try await database.query("SELECT 1")
                                tally.begunCount.add(1, ordering: .relaxed)
                            }
                        }
                        #expect(error?.code == .closed)
                        tally.endedCount.add(1, ordering: .relaxed)
                    }
                }
                try await eventually("all work") { tally.begunCount.load(ordering: .relaxed) > 50 }
                await database.close()
            }
            #expect(tally.endedCount.load(ordering: .relaxed) == 12)
        }
    }

    @Test(.timeLimit(.minutes(10))) func objectsAreReadAndSavedByManyTasks() async throws {
        try await withDatabase { database, _, other in
            try await withTaskExecutorPreference(PostgresExecutor.shared) {
                try await withThrowingDiscardingTaskGroup { group in
                    for task in 0..<50 {
                        group.addTask {
                            let context = database.makeContext()
                            for step in 0..<4 {
                                let id = Int64(4 * task + step)
                                try context.add("note", ["id": id, "text": "\(task)"])
                                try await context.save()
                                let found = try await database.makeContext().find("note", id)
                                #expect(found?["text"] == .string("\(task)"))
                            }
                        }
                    }
                }
            }
            #expect(try await other.value("SELECT count(*) FROM note WHERE text = (id / 4)::text") == 200)
        }
    }

    /// Tasks on the executor and elsewhere do different things at random over the same connections; another connection
    /// sees exactly the writes that they report.
    @Test(.timeLimit(.minutes(20)), arguments: UInt64(1)...2)
    func whatTasksSayIsWhatTheServerHas(_ seed: UInt64) async throws {
        try await withClient(maximumConnections: 4) { client in
            try await client.query("TRUNCATE note")
            let tally = Tally()
            try await withThrowingDiscardingTaskGroup { group in
                for worker in 0..<24 {
                    group.addTask(executorPreference: worker % 3 == 0 ? nil : PostgresExecutor.shared) {
                        () async throws in
                        var random = SeededGenerator(seed: seed * 1_000 + UInt64(worker))
                        for step in 0..<TestAmount.of(25, full: 100, long: 2_000) {
                            let id = worker * 1_000_000 + step
                            if try await Self.step(id, Int.random(in: 0..<8, using: &random), client) {
                                tally.written.withLock { _ = $0.insert(id) }
                            }
                        }
                    }
                }
            }
            try await withClient { other in
                let ids = try await other.query("SELECT id FROM note").map { try $0.decode(0, as: Int.self) }
                #expect(Set(ids.compactMap(\.self)) == tally.written.withLock { $0 })
            }
            #expect(client.metrics.opened <= 4 && client.metrics.inUse == 0)
        }
    }

    /// The counts of the tasks' work.
    private final class Tally: Sendable {
        let begunCount = Atomic(0)
        let endedCount = Atomic(0)
        /// The IDs of the rows that they say they have written.
        let written = Mutex<Set<Int>>([])
    }

    private struct Refusal: Error {}

    /// Does one thing; returns whether it has written a row with the ID.
    private static func step(_ id: Int, _ kind: Int, _ client: PostgresClient) async throws -> Bool {
        switch kind {
        case 0:
            try await client.query("INSERT INTO note VALUES (\(id), 'alone')")
            return true
        case 1:
            try await client.withTransaction { _ in
                try await client.query("INSERT INTO note VALUES (\(id), 'in a transaction')")
                await Task.yield()
                try await count(to: 2, client)
            }
            return true
        case 2:
            await #expect(throws: Refusal.self) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (\(id), 'rolled back')")
                    throw Refusal()
                }
            }
        case 3:
            await #expect(throws: PostgresError.self) { try await client.query("SELECT 1 / \(0)") }
        case 4:
            let victim = Task(executorPreference: PostgresExecutor.shared) {
                try await client.query("SELECT pg_sleep(600)")
            }
            await Task.yield()
            victim.cancel()
            await #expect(throws: CancellationError.self) { try await victim.value }
        case 5:
            var sum = 0
            for try await row in try client.stream("SELECT n::int8 FROM generate_series(1, 2000) AS n") {
                sum += try row.decode(0, as: Int.self) ?? 0
            }
            #expect(sum == 2_001_000)
        case 6:
            async let first: Void = count(to: 3, client)
            async let second: Void = count(to: 3, client)
            _ = try await (first, second)
        default:
            try await count(to: 5, client)
        }
        return false
    }
}
