import CommandSupport
import KindredCommand
import KindredPostgres
import KindredTesting
import Testing

/// Commands behind a pooler of transactions, which refuses start options, in a database whose owner has put an operator and
/// functions on the search path that fit better than PostgreSQL's own: none of them is ever run.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE thing (id pg_catalog.int8 PRIMARY KEY, name pg_catalog.text);
            CREATE SCHEMA evil;
            CREATE FUNCTION evil.same(pg_catalog.name, pg_catalog.name) RETURNS pg_catalog.bool LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'a trap on the search path'; END $$;
            CREATE OPERATOR evil.= (LEFTARG = pg_catalog.name, RIGHTARG = pg_catalog.name, FUNCTION = evil.same);
            CREATE FUNCTION evil.set_config(pg_catalog.text, pg_catalog.text, pg_catalog.bool) RETURNS pg_catalog.text
                LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trap on the search path'; END $$;
            CREATE FUNCTION evil.current_setting(pg_catalog.text, pg_catalog.bool) RETURNS pg_catalog.text
                LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trap on the search path'; END $$;
            """)), .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"), .timeLimit(.minutes(10)))
struct PoolerCommandTests {
    @Test func theyRunNothingOfThePath() async throws {
        let owner = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        // A database does not have the settings of the database that it was copied from.
        try await owner.runScript(
            """
            DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET search_path = evil, pg_catalog, public', current_database());
            END $$
            """)
        await owner.close()
        let pooler = try await TestPooler(sessions: 2)
        // The traps do work.
        let victim = try await pooler.connect()
        await #expect(throws: PostgresError.self) { try await victim.query("SELECT 'a'::pg_catalog.name = 'a'") }
        await victim.close()
        let configuration = pooler.configuration
        guard case .tcp(_, let port, _)? = configuration.endpoints.first,
            let user = configuration.user, let database = configuration.database
        else {
            Issue.record("\(configuration.endpoints)")
            return
        }
        let uri = "postgres://\(user)@127.0.0.1:\(port)/\(database)?sslmode=disable&pooler=transaction"
        for arguments in [
            ["status"], ["install"], ["enable", "public.thing", "--dry-run"], ["enable", "public.thing"],
            ["status", "--check"], ["inspect"], ["doctor"], ["disable", "public.thing"], ["prune"], ["uninstall"],
        ] {
            let outcome = await TestCommand()(arguments + ["--database", uri])
            let text = outcome.output + outcome.error
            #expect(!text.contains("trap on the search path"), "\(arguments): \(text)")
            #expect(outcome.status == .success, "\(arguments): \(text)")
        }
        withExtendedLifetime(pooler) {}
    }
}
