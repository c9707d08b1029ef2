import KindredPostgres
import KindredTesting
import TestSupport
import Testing

/// Cancellations at random moments, many at a time: some thousands, ten times as many among the long tests.
@Suite(.database) struct CancellationRaceTests {
    private static let count = TestAmount.of(100, full: 600, long: 10_000)

    /// The work of a task that is cancelled at some moment.
    private static func work(_ kind: Int, _ client: PostgresClient) async throws {
        switch kind % 5 {
        case 0: try await client.query("SELECT 1")
        case 1: try await client.query("SELECT pg_sleep(0.0004)")
        case 2:
            try await client.withTransaction { transaction in
                try await client.query("SELECT 1")
                try await client.withTransaction { _ in try await client.query("SELECT pg_sleep(0.0002)") }
                try await transaction.query("SELECT 2")
            }
        case 3: try await client.withConnection { try await $0.query("SELECT pg_sleep(0.0002)") }
        default:
            // Several statements of one transaction are on their way at once.
            try await client.withTransaction { _ in
                async let first = client.query("SELECT pg_sleep(0.0001)")
                async let second = client.query("SELECT 2")
                async let third = client.withTransaction { _ in try await client.query("SELECT 3") }
                _ = try await (first, second, third)
            }
        }
    }

    /// Cancels work at random moments and does some of its own in between; returns how often work was cut short.
    private static func race(_ worker: Int, _ client: PostgresClient) async throws -> Int {
        var cancelled = 0
        for number in 0..<count / 10 {
            let victim = Task { try await work(worker + number, client) }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...1_500)))
            victim.cancel()
            do {
                try await victim.value
            } catch is CancellationError {
                cancelled += 1
            } catch let error as PostgresError where error.code == .transactionAborted {
                // A statement that failed because its sibling had been cancelled a moment before.
                cancelled += 1
            }
            let id = worker * 100_000 + number
            let rows = try await client.query("SELECT \(id), pg_sleep(0.0001)")
            #expect(try rows[0].decode(0, as: Int.self) == id)
        }
        return cancelled
    }

    @Test func cancellationsAtRandomMomentsLoseNoConnectionAndHitNobodyElse() async throws {
        try await withClient(maximumConnections: 3) { client in
            let cancelled = try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in 0..<10 { group.addTask { try await Self.race(worker, client) } }
                return try await group.reduce(0, +)
            }
            #expect(cancelled > 0)
            try await eventually("all connections are back") { client.metrics.inUse == 0 }
            let metrics = client.metrics
            #expect(metrics.lost == 0 && metrics.inUse == 0 && metrics.waiting == 0, "\(metrics)")
            #expect(metrics.opened - metrics.closed == metrics.idle, "\(metrics)")
        }
    }

    /// A statement that cannot be repeated is not sent behind a statement that may be cancelled.
    @Test func aLateCancellationDoesNotHitWhatHasLastingEffects() async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<(LongTests.areOn ? 20 : 2) {
                let slow = Task { try await client.query("SELECT pg_sleep(0.3)") }
                try await eventually("it is on its way") { client.metrics.inUse == 1 }
                let quick = Task { try await client.query("SELECT 1") }
                try await Task.sleep(for: .milliseconds(50))
                let victim = Task { try await client.query("DO $$ BEGIN PERFORM pg_sleep(0.2); END $$") }
                try await Task.sleep(for: .milliseconds(50))
                quick.cancel()
                _ = await quick.result
                _ = try await slow.value
                _ = try await victim.value
            }
        }
    }

    /// The handler of a cancellation runs while the runtime has its task locked.
    @Test func tasksThatAreCancelledTogetherDoNotLockEachOtherOut() async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<Self.count / 20 {
                let tasks = (0..<8).map { number in
                    Task.detached {
                        for _ in 0..<4 { try await Self.work(number, client) }
                    }
                }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...2_000)))
                await withTaskGroup(of: Void.self) { group in
                    for task in tasks { group.addTask { task.cancel() } }
                }
                for task in tasks { _ = await task.result }
            }
            try await expectUsable(client)
            #expect(client.metrics.lost == 0)
        }
    }

    @Test func copiesThatAreCancelledWhileDataArrivesEnd() async throws {
        try await withClient(maximumConnections: 4) { client in
            let copies = (0..<Self.count / 20).map { number in
                Task {
                    for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 3000)) TO STDOUT") {
                        if number % 3 == 0 { await Task.yield() }
                    }
                }
            }
            for copy in copies {
                try await Task.sleep(for: .microseconds(Int.random(in: 0...800)))
                copy.cancel()
            }
            for copy in copies { _ = await copy.result }
            try await expectUsable(client)
            #expect(client.metrics.lost == 0)
        }
    }
}
