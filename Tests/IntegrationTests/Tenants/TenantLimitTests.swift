import Kindred
import KindredTesting
import TestSupport
import Testing

/// A tenant uses no more connections at once than the configuration leaves to it.
@Suite struct TenantLimitTests {
    private static let waitingForLocks: SQL = """
        SELECT count(*) FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """

    /// More than a stream reads at once, so that it keeps its connection.
    private static let manyLabels: SQL = "INSERT INTO label SELECT i, 1, 'late' FROM generate_series(1000, 1500) AS i"

    private func withLimit(
        _ limit: Int, of connections: Int = 4, acquireTimeout: Duration = .seconds(60),
        _ body: (_ database: Database, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { _, _, other in
            var configuration = other.configuration
            configuration.pool.maximumConnections = connections
            configuration.pool.maximumConnectionsPerTenant = limit
            configuration.pool.acquireTimeout = acquireTimeout
            let database = try await Database.connect(configuration)
            do {
                try await body(database, other)
            } catch {
                await database.close()
                throw error
            }
            await database.close()
        }
    }

    @Test(.database(.sql(tenantSchema))) func aFloodOfOneTenantLeavesConnectionsToTheOthers() async throws {
        try await withLimit(2) { database, other in
            let flood = try await other.withTransaction { _ in
                try await other.query("SELECT pg_advisory_xact_lock(7)")
                let flood = (0..<12).map { _ in
                    Task.detached {
                        let context = try database.context(ofTenant: 1)
                        return try await context.transaction { () async throws in
                            try await context.query("SELECT pg_advisory_xact_lock(7)")
                            return try await context.fetch("task").count()
                        }
                    }
                }
                try await eventually("two transactions of the tenant wait for the lock") {
                    try await other.value(Self.waitingForLocks) == 2
                }
                try await eventually("the others wait for the limit") { database.client.metrics.tenantWaits == 10 }
                // Two connections are left, and no task is before the others in the pool's queue.
                let second = try database.context(ofTenant: 2)
                #expect(try await second.fetch("task").count() == 3)
                try await second.transaction { () async throws in
                    #expect(try await second.fetch("label").count() == 1)
                    let all = try await Task.detached { try await database.makeContext().fetch("task").count() }.value
                    #expect(all == 7)
                }
                #expect(try await other.value(Self.waitingForLocks) == 2)
                #expect(database.client.metrics.waiting == 0)
                return flood
            }
            for task in flood { #expect(try await task.value == 4) }
            #expect(try await database.context(ofTenant: 1).fetch("task").count() == 4)
        }
    }

    enum Holder: CaseIterable {
        case transaction, stream, statement
    }

    @Test(.database(.sql(tenantSchema)), arguments: Holder.allCases)
    func whatIsLentCountsUntilItsEnd(_ holder: Holder) async throws {
        try await withLimit(1, acquireTimeout: .seconds(2)) { database, other in
            let context = try database.context(ofTenant: 1)
            // Another context of the tenant gets no connection, one of another tenant does.
            func expectNoneIsLeft() async throws {
                try await Task.detached {
                    let error = await expectPostgresError(.poolTimeout) {
                        _ = try await database.context(ofTenant: 1).fetch("task").count()
                    }
                    #expect(error?.message.contains("all 1 that pool.maximumConnectionsPerTenant") == true)
                    // A transaction, as a statement alone may share the connection of a waiting transaction.
                    let second = try database.context(ofTenant: 2)
                    let others = try await second.transaction { () async throws in
                        try await second.fetch("task").count()
                    }
                    #expect(others == 3)
                }.value
            }
            switch holder {
            case .transaction:
                try await context.transaction { () async throws in
                    #expect(try await context.fetch("task").count() == 4)
                    try await expectNoneIsLeft()
                    #expect(try await context.fetch("label").count() == 2)
                }
            case .stream:
                try await other.query(Self.manyLabels)
                for try await label in try context.fetch("label").stream() {
                    #expect(label["tenant_id"] == 1)
                    try await expectNoneIsLeft()
                    break
                }
            case .statement:
                let statement = try await other.withTransaction { _ in
                    try await other.query("SELECT pg_advisory_xact_lock(7)")
                    let statement = Task.detached { try await context.query("SELECT pg_advisory_xact_lock(7)") }
                    try await eventually("the statement waits for the lock") {
                        try await other.value(Self.waitingForLocks) == 1
                    }
                    try await expectNoneIsLeft()
                    return statement
                }
                _ = try await statement.value
            }
            let metrics = database.client.metrics
            #expect(metrics.tenantWaits == 1 && metrics.tenantTimeouts == 1 && metrics.timeouts == 0)
            #expect(try await database.context(ofTenant: 1).fetch("task").count() == 4)
        }
    }

    /// Whatever becomes of a call, the tenant has its connection again.
    @Test(.database(.sql(tenantSchema)), arguments: UInt64(1)...2)
    func nothingIsLostByErrorsAndCancellation(_ seed: UInt64) async throws {
        struct Failure: Error {}
        try await withLimit(1, of: 2) { database, other in
            try await other.query(Self.manyLabels)
            var random = SeededGenerator(seed: seed)
            for _ in 0..<TestAmount.of(40, full: 400) {
                let context = try database.context(ofTenant: 1)
                let call = Int.random(in: 0..<5, using: &random)
                let task = Task.detached {
                    switch call {
                    case 0: try await context.query("SELECT 1 / 0")
                    case 1: try await context.query("SELECT pg_sleep(0.01)")
                    case 2:
                        try await context.transaction { () async throws in
                            _ = try await context.fetch("task").count()
                            throw Failure()
                        }
                    case 3: for try await _ in try context.fetch("label").stream() { break }
                    default: _ = try await context.fetch("task").all()
                    }
                }
                if random.chance(40) {
                    if random.chance(50) { await Task.yield() }
                    task.cancel()
                }
                _ = await task.result
            }
            let counts = (0..<8).map { _ in
                Task.detached { try await database.context(ofTenant: 1).fetch("task").count() }
            }
            for count in counts { #expect(try await count.value == 4) }
        }
    }
}
