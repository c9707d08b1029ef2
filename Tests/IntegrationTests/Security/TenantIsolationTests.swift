import Kindred
import KindredTesting
import TestSupport
import Testing

/// Requests of several tenants over few connections, whose rows row security keeps apart by a setting of the transaction.
@Suite(
    .database(
        """
        CREATE TABLE note (id bigint PRIMARY KEY, tenant integer NOT NULL, text text NOT NULL);
        INSERT INTO note SELECT i, i % 8, 'text ' || i FROM generate_series(0, 79) AS i;
        ALTER TABLE note ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON note USING (tenant = nullif(current_setting('app.tenant', true), '')::integer);
        GRANT SELECT, UPDATE ON note TO PUBLIC;
        """), .timeLimit(.minutes(300)))
struct TenantIsolationTests {
    private struct Unwanted: Error {}

    /// What becomes of a request.
    private enum Course: CaseIterable {
        case commits, fails, isCancelled, usesObjects, nests, leavesTheSessionChanged, hasNoTenant
    }

    private func withTenants(_ body: (Database) async throws -> Void) async throws {
        try await withClient { admin in
            let role = "tenants_\(UInt32.random(in: 0..<UInt32.max))"
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            do {
                var configuration = admin.configuration
                configuration.user = role
                configuration.pool.maximumConnections = 3
                let database = try await Database.connect(configuration)
                do {
                    try await body(database)
                } catch {
                    await database.close(timeout: .zero)
                    throw error
                }
                await database.close()
            } catch {
                _ = try? await admin.query("DROP ROLE \(identifier: role)")
                throw error
            }
            try await admin.query("DROP ROLE \(identifier: role)")
        }
    }

    private static func expectOwn(_ rows: QueryResult, _ tenant: Int) throws {
        let tenants = try rows.map { try $0.decode("tenant", as: Int.self) }
        guard tenants.count == 10, tenants.allSatisfy({ $0 == tenant }) else {
            Issue.record("tenant \(tenant) saw rows of \(tenants)")
            throw Unwanted()
        }
    }

    private static let all: SQL = "SELECT tenant, id, text FROM note"

    private static func request(_ course: Course, of tenant: Int, _ database: Database) async throws {
        let client = database.client
        func set() async throws {
            try await client.query("SELECT set_config('app.tenant', \(String(tenant)), true)")
        }
        switch course {
        case .commits, .isCancelled:
            try await client.withTransaction { _ in
                try await set()
                try expectOwn(try await client.query(all), tenant)
                try await client.query("UPDATE note SET text = text || ''")
                try expectOwn(try await client.query(all), tenant)
            }
        case .fails:
            do {
                try await client.withTransaction { _ in
                    try await set()
                    try expectOwn(try await client.query(all), tenant)
                    throw CancellationError()
                }
            } catch is CancellationError {}
        case .usesObjects:
            try await client.withTransaction { _ in
                try await set()
                // A context of the request's own: objects, and what is known of them, are never shared with others.
                let notes = try await database.makeContext().fetch("note").all()
                let tenants = try notes.map { try $0.value(forKey: "tenant", as: Int.self) }
                if tenants != Array(repeating: tenant, count: 10) { Issue.record("tenant \(tenant) got \(tenants)") }
            }
        case .nests:
            try await client.withTransaction { _ in
                try await set()
                try? await client.withTransaction { _ in
                    try await client.query("SELECT set_config('app.tenant', \(String((tenant + 1) % 8)), true)")
                    try expectOwn(try await client.query(all), (tenant + 1) % 8)
                    throw CancellationError()
                }
                try expectOwn(try await client.query(all), tenant)
            }
        case .leavesTheSessionChanged:
            try await client.withConnection { connection in
                try await connection.query("SET app.tenant = '\(unsafeRaw: String(tenant))'")
                try expectOwn(try await connection.query(all), tenant)
            }
            try await client.query("SELECT set_config('app.tenant', \(String(tenant)), false)")
        case .hasNoTenant:
            let count = try await client.query(all).count
            if count > 0 { Issue.record("a request without a tenant saw \(count) rows") }
        }
    }

    /// A million of them by `make long`.
    @Test func interleavedRequestsOfTenantsNeverSeeEachOthersRows() async throws {
        let count = LongTests.areOn ? 1_000_000 : 400
        try await withTenants { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(worker))
                        for _ in 0..<(count / 8) {
                            let tenant = Int.random(in: 0..<8, using: &generator)
                            var course = Course.allCases.randomElement(using: &generator) ?? .commits
                            // To end a session's state takes a round trip more and all its statements.
                            if course == .leavesTheSessionChanged, Int.random(in: 0..<4, using: &generator) > 0 {
                                course = .hasNoTenant
                            }
                            guard course == .isCancelled else {
                                try await Self.request(course, of: tenant, database)
                                continue
                            }
                            let task = Task { try await Self.request(.isCancelled, of: tenant, database) }
                            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
                            task.cancel()
                            do {
                                try await task.value
                            } catch is CancellationError {}
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(database.client.metrics.inUse == 0)
        }
    }

    @Test func aNameOfASettingThatASelectChangesForTheSessionIsForgotten() async throws {
        try await withTenants { database in
            for isLocal in [true, false] {
                try await database.client.withConnection { connection in
                    _ = try await connection.query("SELECT set_config('app.tenant', '3', \(isLocal))")
                }
                for _ in 0..<4 { try await Self.request(.hasNoTenant, of: 3, database) }
            }
        }
    }
}
