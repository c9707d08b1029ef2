import Synchronization
import TestSupport
import Testing

@testable import KindredPostgres

/// The order and the number of tasks that wait in front of a pool, without connections.
@Suite struct ConnectionLimitTests {
    /// A client that never connects, and a limit of its pool.
    private func limit(
        _ maximum: Int, _ change: (inout PostgresConfiguration.PoolOptions) -> Void = { _ in }
    ) throws -> (client: PostgresClient, limit: ConnectionLimit) {
        var configuration = PostgresConfiguration(endpoints: [.socket(folder: "/nonexistent")])
        configuration.pool.maximumConnectionsPerTenant = maximum
        configuration.pool.acquireTimeout = .seconds(600)
        change(&configuration.pool)
        let client = try PostgresClient(configuration, nil)
        return (client, try #require(client.tenantLimit()))
    }

    @Test func withoutANumberThereIsNoLimit() throws {
        let client = try PostgresClient(PostgresConfiguration(endpoints: [.socket(folder: "/nonexistent")]), nil)
        #expect(client.tenantLimit() == nil)
    }

    /// Tasks come, leave and are cancelled at random; the model is a list of the waiting tasks.
    @Test(arguments: UInt64(1)...4) func inTheirOrderAndNeverMoreThanTheLimit(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let maximum = Int.random(in: 1...4, using: &random)
        let (client, limit) = try limit(maximum)
        var lent = 0
        var waiting: [Task<Void, any Error>] = []
        for step in 0..<400 {
            switch random.pick(["enter", "enter", "leave", "leave", "cancel"]) {
            case "enter" where lent < maximum:
                try await limit.enter(from: .now, by: .never)
                lent += 1
            case "enter":
                waiting.append(Task { try await limit.enter(from: .now, by: .never) })
                while limit.queue.waiterCount < waiting.count { await Task.yield() }
            case "leave" where lent > 0:
                limit.leave()
                if waiting.isEmpty { lent -= 1 } else { try await waiting.removeFirst().value }
            case "cancel" where !waiting.isEmpty:
                let task = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            default: break
            }
            #expect(limit.queue.change { $0 } == lent, "seed \(seed), step \(step)")
            #expect(limit.queue.waiterCount == waiting.count, "seed \(seed), step \(step)")
            #expect(waiting.isEmpty || lent == maximum, "seed \(seed), step \(step)")
        }
        for task in waiting {
            limit.leave()
            try await task.value
        }
        withExtendedLifetime(client) {}
    }

    @Test func theWaitEndsWithAnErrorThatNamesTheLimit() async throws {
        let (client, limit) = try limit(1) { $0.acquireTimeout = .milliseconds(20) }
        try await limit.enter(from: .now, by: .never)
        let late = await #expect(throws: PostgresError.self) { try await limit.enter(from: .now, by: .never) }
        #expect(
            late?.code == .poolTimeout && late?.message.contains("all 1 that pool.maximumConnectionsPerTenant") == true)
        let overdue = await #expect(throws: PostgresError.self) { try await limit.enter(from: .now, by: .now) }
        #expect(overdue?.code == .timeout)
        limit.leave()
        try await limit.enter(from: .now, by: .never)
        withExtendedLifetime(client) {}
    }

    @Test func tooManyWhoWaitAreRefused() async throws {
        let (client, limit) = try limit(1) { $0.maximumWaiters = 0 }
        try await limit.enter(from: .now, by: .never)
        let error = await #expect(throws: PostgresError.self) { try await limit.enter(from: .now, by: .never) }
        #expect(error?.code == .poolOverloaded)
        withExtendedLifetime(client) {}
    }

    /// The share in front of the pool is given back where the pool gives no connection.
    @Test func aPoolWithoutConnectionsLeavesTheLimitAsItWas() async throws {
        let (client, limit) = try limit(1) { $0.acquireTimeout = .milliseconds(20) }
        for use in [PoolStateMachine.Use.shared, .exclusive] {
            await #expect(throws: PostgresError.self) { _ = try await limit.acquire(use, by: .never) }
            #expect(limit.queue.change { $0 } == 0)
        }
        await client.close()
        let error = await #expect(throws: PostgresError.self) { _ = try await limit.acquire(.shared, by: .never) }
        #expect(error?.code == .closed && limit.queue.change { $0 } == 0)
    }
}
