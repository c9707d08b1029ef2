import Kindred
import KindredTesting
import Testing

/// Statements that cannot run with the settings of a context, and settings that the server refuses.
@Suite(.database(.sql(organizationSchema)))
struct SettingsRefusalTests {
    private static let seen: SQL = "SELECT coalesce(current_setting('app.organization', true), '')"

    // MARK: Statements that may commit

    @Test func whatMayCommitIsNotSentAloneWithThem() async throws {
        try await withTenants { database, admin, _ in
            try await admin.query(
                """
                CREATE PROCEDURE work() LANGUAGE plpgsql AS $$
                BEGIN
                    COMMIT;
                    INSERT INTO label VALUES (99, 2, coalesce(current_setting('app.organization', true), 'none'));
                END $$
                """)
            let context = try database.makeContext(settings: ["app.organization": 2])
            let statements: [SQL] = [
                "CALL work()", "DO $$ BEGIN COMMIT; END $$", "VACUUM task", "REINDEX TABLE task",
                "REINDEX INDEX CONCURRENTLY task_pkey", "CREATE INDEX CONCURRENTLY ON task (title)", "BEGIN", "COMMIT",
                "SAVEPOINT s", "PREPARE TRANSACTION 'x'",
            ]
            let (_, recorder) = try await recordingStatements {
                for statement in statements {
                    await expectPostgresError(.invalidParameter) { _ = try await context.query(statement) }
                }
                try await database.client.withConnection { _ async throws in
                    for statement in statements {
                        await expectPostgresError(.invalidParameter) { _ = try await context.query(statement) }
                    }
                }
            }
            #expect(recorder.all.isEmpty, "\(recorder.all.map(\.sql))")
            #expect(try await admin.value("SELECT count(*) FROM label WHERE id = 99") == 0)
            #expect(try await context.fetch("task").count() == 3)
        }
    }

    @Test func aBlockInTheContextsTransactionRunsWithThem() async throws {
        try await withTenants { database, admin, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await context.transaction { () async throws in
                _ = try await context.query("DO $$ BEGIN UPDATE task SET size = 9 WHERE id IN (11, 21); END $$")
            }
            #expect(try await admin.value("SELECT count(*) FROM task WHERE size = 9") == 1)
            try await database.query("DO $$ BEGIN PERFORM 1; END $$")
        }
    }

    @Test func aTransactionThatTheProgramBeginsHasNoneOfThem() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            try await database.client.withConnection { connection async throws in
                await expectPostgresError(.invalidParameter) { _ = try await context.query("BEGIN") }
                try await connection.query("BEGIN")
                #expect(try await connection.query(Self.seen).first?[0] == "")
                try await connection.query("ROLLBACK")
            }
        }
    }

    // MARK: What the server refuses

    @Test func whatTheServerCannotSetIsNoErrorOfTheStatement() async throws {
        try await withTenants(maximumConnections: 1) { database, _, _ in
            let contexts = [
                try database.makeContext(settings: [:], role: "no_such_role"),
                try database.makeContext(settings: ["no_such_setting": 1]),
                try database.makeContext(settings: ["statement_timeout": "soon"]),
            ]
            for context in contexts {
                for _ in 0..<2 {
                    let error = await expectPostgresError(.settingsRefused) {
                        _ = try await context.fetch("task").all()
                    }
                    #expect(error?.category == .failure && error?.sqlState == nil && error?.mayHaveTakenEffect == false)
                    // Of an optional, String(describing:) would show the description for debugging, with the server's message.
                    #expect(error?.description.contains("no_such") == false)
                }
                await expectPostgresError(.settingsRefused) { _ = try await context.query("SELECT 1") }
                await expectPostgresError(.settingsRefused) {
                    _ = try await context.create("label", ["id": 1, "organization": 1, "name": "x"])
                }
                await expectPostgresError(.settingsRefused) {
                    try await context.transaction { () async throws in _ = try await context.fetch("task").all() }
                }
            }
            #expect(try await database.query("SELECT 1").count == 1)
            #expect(database.client.metrics.opened == 1)
        }
    }

    @Test func aSettingThatTheRoleMayNotMakeIsNoPolicy() async throws {
        try await withTenants { database, _, _ in
            for context in [
                try database.makeContext(settings: ["session_replication_role": "replica"]),
                try database.makeContext(settings: [:], role: "pg_monitor"),
            ] {
                let error = await expectError(.accessDenied) { _ = try await context.fetch("task").all() }
                #expect(error?.message.contains("GRANT SET ON PARAMETER") == true && error?.mayHaveTakenEffect == false)
                #expect(error?.description.contains("polic") == false)
            }
        }
    }

    @Test func anErrorOfTheStatementStaysItsOwn() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let error = await expectPostgresError(.server) { _ = try await context.query("SELECT 1 / 0") }
            #expect(error?.sqlState == .divisionByZero)
            await expectError(.accessDenied) {
                _ = try await database.makeContext(settings: [:], role: "pg_monitor").fetch("task").all()
            }
        }
    }

    @Test func aCopyWhoseSettingsAreRefusedTellsTheReason() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: [:], role: "no_such_role")
            let error = await expectPostgresError(.transactionAborted) {
                try await context.transaction { () async throws in
                    for try await _ in try database.client.copyOut("COPY task TO STDOUT") {}
                }
            }
            #expect(
                error?.message.contains("setting or the role of the context") == true, "\(String(describing: error))")
        }
    }
}
