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

    /// The course of a request.
    private enum Course: CaseIterable {
        case commits, fails, isCancelled, usesObjects, nests, leavesTheSessionChanged, hasNoTenant
        case hasSettings, hasSettingsInTransaction, streamsWithSettings, hasOtherSettings
    }

    private static func expectOwn(_ rows: QueryResult, _ tenant: Int) throws {
        let tenants = try rows.map { try $0.decode("tenant", as: Int.self) }
        guard tenants.count == 10, tenants.allSatisfy({ $0 == tenant }) else {
            Issue.record("tenant \(tenant) saw rows of \(tenants)")
            throw Unwanted()
        }
    }

    private static func expectOwn(_ notes: [DatabaseObject], _ tenant: Int) throws {
        let tenants = try notes.map { try $0.value(forKey: "tenant", as: Int.self) }
        if tenants != Array(repeating: tenant, count: 10) { Issue.record("tenant \(tenant) got \(tenants)") }
    }

    private static func uri(_ id: Int) -> String { "kindred:/public/note?id=\(id)" }

    private static func expectNotFound(_ id: Int, in context: DatabaseContext) async throws {
        do {
            _ = try await context.get(uri: uri(id))
            Issue.record("the note \(id) was seen by a stranger")
        } catch let error as KindredError where error.code == .notFound {}
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
                // A context of the request's own: objects and their states are never shared with other contexts.
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
        case .hasSettings:
            let context = try database.makeContext(settings: ["app.tenant": tenant])
            try expectOwn(try await context.query(all), tenant)
            try expectOwn(try await context.fetch("note").all(), tenant)
            // Requests of contexts without settings share statements.
            let own = try database.makeContext(settings: ["app.tenant": tenant])
            #expect(try await own.get(uri: uri(tenant))["tenant"] == .integer(Int64(tenant)))
            try await expectNotFound((tenant + 1) % 8, in: own)
        case .hasSettingsInTransaction:
            try await database.withContext(settings: ["app.tenant": tenant]) { context in
                try await context.transaction {
                    // The program's own, as the first statement.
                    try expectOwn(try await client.query(all), tenant)
                    try expectOwn(try await context.fetch("note").all(), tenant)
                    #expect(try await context.fetch("note").update(["text": "x"]) == 10)
                }
            }
        case .streamsWithSettings:
            let context = try database.makeContext(settings: ["app.tenant": tenant])
            var notes: [DatabaseObject] = []
            for try await note in try context.fetch("note").stream() { notes.append(note) }
            try expectOwn(notes, tenant)
        case .hasOtherSettings:
            let own = try database.makeContext(settings: ["app.tenant": tenant])
            let other = try database.makeContext(settings: ["app.tenant": (tenant + 1) % 8])
            try await own.transaction {
                try expectOwn(try await own.fetch("note").all(), tenant)
                do {
                    _ = try await other.fetch("note").all()
                    Issue.record("two tenants were in one transaction")
                } catch let error as PostgresError where error.code == .settingsDiffer {}
                try expectOwn(try await own.fetch("note").all(), tenant)
            }
        case .hasNoTenant:
            let count = try await client.query(all).count
            if count > 0 { Issue.record("a request without a tenant saw \(count) rows") }
            try await expectNotFound(tenant, in: database.makeContext())
        }
    }

    /// A million of them by `make long`.
    @Test func interleavedRequestsOfTenantsNeverSeeEachOthersRows() async throws {
        let count = LongTests.areOn ? 1_000_000 : 400
        try await withTenants { database, _, _ in
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
        try await withTenants { database, _, _ in
            for isLocal in [true, false] {
                try await database.client.withConnection { connection in
                    _ = try await connection.query("SELECT set_config('app.tenant', '3', \(isLocal))")
                }
                for _ in 0..<4 { try await Self.request(.hasNoTenant, of: 3, database) }
            }
        }
    }
}
