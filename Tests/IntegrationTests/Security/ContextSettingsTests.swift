import Kindred
import KindredLive
import KindredTesting
import Testing

/// The settings and the role of a context hold for each of its statements, for nothing else, and at no cost in statements.
@Suite(.database(.sql(organizationSchema)))
struct ContextSettingsTests {
    private struct Unwanted: Error {}

    /// The setting that the program's own SQL sees, outside of contexts.
    private static let seen: SQL = "SELECT coalesce(current_setting('app.organization', true), '')"

    private func seen(_ client: PostgresClient) async throws -> PostgresValue? { try await client.value(Self.seen) }

    private func seen(_ context: DatabaseContext) async throws -> PostgresValue? {
        try await context.query(Self.seen).first?[0]
    }

    private func titles(_ context: DatabaseContext) async throws -> [PostgresValue?] {
        try await context.fetch("task").sorted("id").all().map { $0["title"] }
    }

    // MARK: Single statements

    @Test func aSingleStatementRunsWithThemAndLeavesNothing() async throws {
        try await withTenants(maximumConnections: 1) { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let (value, recorder) = try await recordingStatements { try await seen(context) }
            #expect(value == "1" && recorder.all.count == 1)
            let (tasks, fetching) = try await recordingStatements { try await titles(context) }
            #expect(tasks == ["dig", "sow", "reap", "stray"] && fetching.all.count == 1)
            #expect(try await seen(database.client) == "")
            #expect(try await titles(database.makeContext()).isEmpty)
            #expect(database.client.metrics.opened == 1)
        }
    }

    @Test func valuesOfManyTypesBecomeTextAsTheServerPrintsThem() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: [
                "app.a": "it's", "app.b": true, "app.c": Int64.max, "app.d": [1, 2] as [Int], "app.e": "",
                "statement_timeout": "61s",
            ])
            let row = try #require(
                try await context.query(
                    """
                    SELECT current_setting('app.a'), current_setting('app.b')::boolean, current_setting('app.c')::bigint,
                        current_setting('app.d')::integer[], current_setting('app.e'), current_setting('statement_timeout')
                    """
                ).first)
            #expect(try row[0] == "it's" && row[1] == true && row[2] == .integer(.max))
            #expect(try row.decode(3, as: [Int].self) == [1, 2])
            #expect(try row[4] == "" && row[5] == "61s")
        }
    }

    @Test func theyAreNoStatementsOfALimit() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await withStatementLimit(2) {
                let project = try await context.fetch("project").one()
                #expect(try await project.set(forKey: "taskSet").objects.count == 3)
            }
            try await withStatementLimit(2) {
                try await context.transaction { () async throws in
                    #expect(try await context.fetch("task").count() == 4)
                    #expect(try await context.fetch("label").count() == 1)
                }
            }
        }
    }

    @Test func aStatementWhosePlanIsOutdatedIsRepeatedWithThem() async throws {
        try await withTenants(maximumConnections: 1) { database, admin, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let all: SQL = "SELECT * FROM task"
            for _ in 0..<2 { #expect(try await context.query(all).count == 4) }
            try await admin.query("ALTER TABLE task ADD COLUMN note text")
            let rows = try await context.query(all)
            #expect(rows.count == 4 && rows.columns.count == 6)
            #expect(try await titles(context).count == 4)
        }
    }

    @Test func tasksThatShareConnectionsAndLookUpsSeeTheirOwnRows() async throws {
        try await withTenants(maximumConnections: 2) { database, _, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<60 {
                    group.addTask {
                        for round in 0..<20 {
                            // The third kind has no settings: its look-ups share statements.
                            let organization = (worker + round) % 3
                            let context =
                                organization == 0
                                ? database.makeContext()
                                : try database.makeContext(settings: ["app.organization": organization])
                            for id in [11, 21] {
                                let object = try? await context.get(uri: "kindred:/public/task?id=\(id)")
                                #expect((object != nil) == (id / 10 == organization), "\(organization) \(id)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(database.client.metrics.inUse == 0)
        }
    }

    // MARK: Streams

    @Test func aStreamRunsWithThemWhereverItsConnectionComesFrom() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            func streamed() async throws -> Int {
                var count = 0
                for try await task in try context.fetch("task").stream() {
                    #expect(task["organization"] == 1)
                    count += 1
                }
                return count
            }
            #expect(try await streamed() == 4)
            try await context.transaction { () async throws in #expect(try await streamed() == 4) }
            try await database.client.withConnection { connection async throws in
                #expect(try await streamed() == 4)
                #expect(try await connection.query(Self.seen).first?[0] == "")
            }
            #expect(try await seen(database.client) == "")
        }
    }

    @Test func aTransactionThatTheProgramHasBegunByItsOwnSQLIsRefused() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await database.client.withConnection { connection async throws in
                try await connection.query("BEGIN")
                await expectPostgresError(.settingsDiffer) { _ = try await context.fetch("task").all() }
                #expect(try await connection.query(Self.seen).first?[0] == "")
                try await connection.query("ROLLBACK")
                #expect(try await titles(context).count == 4)
            }
        }
    }

    // MARK: Roles

    @Test func statementsRunAsTheRole() async throws {
        try await withTenants(maximumConnections: 1) { database, admin, role in
            let other = role + "_b"
            try await admin.query("CREATE ROLE \(identifier: other)")
            do {
                await expectError(.accessDenied) {
                    let context = try database.makeContext(settings: [:], role: other)
                    _ = try await context.fetch("task").all()
                }
                try await admin.query("GRANT \(identifier: other) TO \(identifier: role)")
                let context = try database.makeContext(settings: ["app.organization": 2], role: other)
                #expect(try await context.query("SELECT current_user::text").first?[0] == .string(other))
                #expect(try await context.fetch("task").count() == 3)
                try await context.transaction { () async throws in
                    #expect(try await database.query("SELECT current_user::text").first?[0] == .string(other))
                }
                #expect(try await database.query("SELECT current_user::text").first?[0] == .string(role))
            } catch {
                Issue.record(error)
            }
            try await admin.query("DROP ROLE \(identifier: other)")
        }
    }

    // MARK: Required ones

    @Test func aContextWithoutRequiredSettingsSendsNothing() async throws {
        try await withTenants(requiredSettings: ["app.organization"]) { database, _, _ in
            let (_, recorder) = try await recordingStatements {
                let context = database.makeContext()
                await expectError(.missingSettings) { _ = try await context.fetch("task").all() }
                await expectError(.missingSettings) { _ = try await context.fetch("task").count() }
                await expectError(.missingSettings) { _ = try await context.get(uri: "kindred:/public/task?id=11") }
                await expectError(.missingSettings) { _ = try await context.query("SELECT 1") }
                await expectError(.missingSettings) { try await context.transaction { () async throws in } }
                await expectError(.missingSettings) {
                    _ = try await context.create("label", ["id": 1, "organization": 1, "name": "x"])
                }
                await expectError(.missingSettings) {
                    for try await _ in try context.fetch("task").stream() {}
                }
                await expectError(.missingSettings) { _ = try await context.fetch("task").live() }
                await expectError(.missingSettings) { _ = try await context.changes(of: "task") }
                await expectError(.missingSettings) {
                    _ = try await database.makeContext(tracking: .automatic).fetch("task").all()
                }
                await expectError(.missingSettings) { _ = try database.makeContext(settings: ["app.user": 1]) }
                try await database.client.withTransaction { _ in
                    await expectError(.missingSettings) { _ = try await context.fetch("task").all() }
                }
            }
            #expect(recorder.all.isEmpty, "\(recorder.all.map(\.sql))")
            let context = try database.makeContext(settings: ["APP.Organization": 1])
            #expect(try await titles(context).count == 4)
            #expect(try await database.query("SELECT 1").count == 1)
        }
    }

    @Test func valuesWithoutAnyAreRefused() async throws {
        try await withTenants { database, _, _ in
            await expectPostgresError(.invalidParameter) {
                _ = try database.makeContext(settings: ["app.organization": Int?.none])
            }
            let mistake = await expectPostgresError(.settingsRefused) {
                _ = try database.makeContext(settings: ["search_path": "other"])
            }
            #expect(mistake?.category == .failure)
            await expectPostgresError(.settingsRefused) { _ = try database.makeContext(settings: [:], role: "") }
            await expectPostgresError(.settingsRefused) {
                try await database.withContext(settings: ["app organization": 1]) { _ in _ = Issue.record("it ran") }
            }
        }
    }
}
