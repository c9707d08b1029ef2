import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person);
    CREATE SCHEMA kindred;
    CREATE TABLE kindred.migration (number bigint PRIMARY KEY);
    """

/// Installing change tracking, by calls and by commands.
@Suite(.database(.sql(schema))) struct TrackingInstallTests {
    private let run = DatabaseCommand()

    private func names(_ client: PostgresClient) async throws -> [PostgresValue?] {
        try await client.values(
            """
            SELECT c.relname::text FROM pg_class AS c WHERE c.relnamespace = 'kindred'::regnamespace AND c.relkind IN ('r', 'S')
            UNION ALL SELECT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = 'kindred'::regnamespace
            UNION ALL SELECT t.tgname::text FROM pg_trigger AS t WHERE NOT t.tgisinternal
            UNION ALL SELECT e.evtname::text FROM pg_event_trigger AS e ORDER BY 1
            """)
    }

    @Test func everythingIsMarkedAndGoesAgain() async throws {
        try await withDatabase { database, _, other in
            let before = try await names(other)
            try await database.tracking.install()
            try await database.tracking.enable("person", "email")
            let installed = try await names(other).compactMap { $0?.description }
            #expect(installed.count > 40)
            #expect(installed.allSatisfy { $0.contains("tracking_") || $0 == "migration" }, "\(installed)")
            try await database.tracking.uninstall()
            #expect(try await names(other) == before)
            #expect(try await database.tracking.status() == nil)
            // Nothing is left that would keep writers from writing.
            try await other.query("INSERT INTO person VALUES (1, 'a')")
            try await database.tracking.uninstall()
        }
    }

    /// By the rows that the first statement of a session has, the server would compile the queries of triggers, and run single rows
    /// through that plan: 500 ms for each.
    @Test func noFunctionIsCompiled() async throws {
        try await withTracking("person") { _, other, _ in
            let compiled: SQL = """
                SELECT proname::text FROM pg_proc WHERE pronamespace = 'kindred'::regnamespace AND prokind = 'f'
                    AND 'jit=off' <> ALL (coalesce(proconfig, '{}'))
                """
            let names = try await other.values(compiled)
            #expect(names.isEmpty, "\(names)")
        }
    }

    @Test func installingAgainChangesNothing() async throws {
        try await withTracking("person") { database, other, reader in
            let before = try await names(other)
            try await database.tracking.install(retention: .seconds(120))
            try await database.tracking.enable("person")
            #expect(try await names(other) == before)
            #expect(try await database.tracking.status()?.retention == .seconds(120))
            #expect(try await reader.read() == [])
        }
    }

    @Test func anOlderVersionIsBroughtUpToDate() async throws {
        try await withTracking("person") { database, other, reader in
            try await other.query("UPDATE kindred.tracking_state SET version = 0")
            try await other.query("UPDATE kindred.tracking_table SET digest = 'older'")
            try await other.query("DROP FUNCTION kindred.tracking_status()")
            await expectError(.trackingVersion) { try await database.tracking.enable("email") }
            try await database.tracking.install()
            try await database.tracking.enable("email")
            try await other.query("INSERT INTO person VALUES (1, 'a')")
            #expect(try await reader.read().contains(ChangeRecord("I", "person", ["1"])))
        }
    }

    @Test func withoutInstallationTheRemedyIsSaid() async throws {
        try await withDatabase { database, _, _ in
            let error = await expectError(.trackingNotInstalled) { try await database.tracking.enable("person") }
            #expect(error?.message.contains("kindred install") == true)
        }
    }

    @Test func commandsDoWhatTheCallsDo() async throws {
        #expect(try await run("status").output == "Change tracking is not installed.\n")
        #expect(try await run("status", "--check").status == .failure)
        #expect(try await run("enable", "person").error.contains("kindred install"))
        #expect(try await run("install", "--dry-run").output.contains("CREATE SCHEMA IF NOT EXISTS kindred"))
        #expect(try await run("status").output == "Change tracking is not installed.\n")
        #expect(try await run("install", "--retention", "30").status == .success)
        let planned = try await run("enable", "person", "--dry-run").output
        #expect(planned.contains("CREATE OR REPLACE TRIGGER kindred_tracking_insert AFTER INSERT ON public.person"))
        #expect(try await run("enable", "person", "email").output == "Changes of person, email are recorded.\n")
        #expect(try await run("enable", "person", "--dry-run").output == "")
        let status = try await run("status", "--check")
        #expect(status.status == .success && status.output.contains("public.person"), "\(status)")
        #expect(status.output.contains("30 min"), "\(status)")
        let unknown = try await run("enable", "persn")
        #expect(unknown.status.rawValue == 65 && unknown.error.contains("person"), "\(unknown)")
        let removals = try await run("disable", "email", "--dry-run").output
        #expect(removals.contains("DROP TRIGGER IF EXISTS kindred_tracking_insert ON public.email;"))
        #expect(try await run("status").output.contains("email"))
        #expect(try await run("disable", "email").status == .success)
        #expect(try await run("disable", "email", "--dry-run").output == "")
        #expect(try await !run("status").output.contains("email"))
        #expect(try await run("prune").status == .success)
        #expect(try await run("uninstall").status == .success)
        #expect(try await run("status").output == "Change tracking is not installed.\n")
    }

    @Test(arguments: ["install", "uninstall", "status", "prune", "enable", "disable"])
    func helpHasAnExample(_ command: String) async {
        let outcome = await TestCommand()(command, "--help")
        #expect(outcome.status == .success)
        #expect(outcome.output.contains("Example: kindred \(command)"))
    }

    /// Neither the model nor the doctor's findings nor a comparison have anything of tracking's.
    @Test func othersDoNotSeeIt() async throws {
        try await withDatabase { database, _, other in
            let inspected = try await run("inspect", "--format", "json").output
            let examined = try await run("doctor", "--format", "json", "--all").output
            try await database.tracking.install()
            try await database.tracking.enable("person", "email")
            #expect(try await run("inspect", "--format", "json").output == inspected)
            #expect(try await run("doctor", "--format", "json", "--all").output == examined)
            let uri = try TestDatabase.current.uri
            let sql = "/tmp/kindred-\(UInt32.random(in: 0..<UInt32.max)).sql"
            let text = schema.split(separator: "\n").prefix(2).joined(separator: "\n")
            try text.write(toFile: sql, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: sql) }
            let outcome = await TestCommand()("diff", uri, sql, "--check")
            #expect(outcome.status == .success)
            #expect(outcome.output == "-- The schemas are the same.\n")
            _ = other
        }
    }
}
