import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import KindredMigrations
import KindredTesting
import Testing

/// Commands and calls of an administrator in a database on whose search path its owner has put functions, operators and types
/// that fit better than PostgreSQL's own: none of them is ever run.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE mood AS ENUM ('low', 'high');
            CREATE TABLE maker (id bigint PRIMARY KEY, name varchar(40) UNIQUE, mood mood);
            CREATE TABLE thing (id bigint PRIMARY KEY, maker bigint NOT NULL REFERENCES maker);
            CREATE SCHEMA tenant;
            """)), .timeLimit(.minutes(10)))
struct HostilePathTests {
    /// Each ends the statement that uses it, with a text by which it is found.
    private static let traps = """
        CREATE SCHEMA evil;
        DO $$
        DECLARE
            o record;
            f record;
        BEGIN
            FOR o IN
                SELECT DISTINCT n.name, l.typname AS l, r.typname AS r,
                    coalesce((SELECT format_type(p.oprresult, NULL) FROM pg_operator AS p
                        WHERE p.oprname = n.name AND p.oprleft = l.oid AND p.oprright = r.oid), 'bool') AS result
                FROM unnest('{=,<>,<,<=,>,>=,&,|,<<,~~,!~~,~,!~,+,-,*,||}'::text[]) AS n (name),
                    pg_type AS l, pg_type AS r
                WHERE l.oid = ANY ('{oid,int2,int4,int8,name,char,text,bool,timestamptz,interval,regclass,float8}'::regtype[]
                        || '"char"'::regtype)
                    AND (r.oid = l.oid OR l.typcategory = 'N' AND r.typname = ANY ('{oid,int2,int4,int8}')
                        OR l.typcategory = 'S' AND r.typname = ANY ('{name,text}')
                        OR l.typname = 'timestamptz' AND r.typname = 'interval')
            LOOP
                EXECUTE format('CREATE OR REPLACE FUNCTION evil.%I(pg_catalog.%I, pg_catalog.%I) RETURNS %s '
                    'LANGUAGE plpgsql AS %L',
                    'trap ' || o.result, o.l, o.r, o.result, 'BEGIN RAISE ''a trap on the search path''; END');
                EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = pg_catalog.%I, RIGHTARG = pg_catalog.%I, '
                    'FUNCTION = evil.%I)',
                    o.name, o.l, o.r, 'trap ' || o.result);
            END LOOP;
            FOR f IN
                SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, p.prorettype::regtype AS result,
                    p.proretset
                FROM pg_proc AS p
                WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.provariadic = 0
                    AND p.proname = ANY ('{set_config,current_setting,current_schemas,current_database,to_regclass,to_regtype,
                        to_regprocedure,unnest,format_type,pg_get_expr,pg_get_indexdef,pg_get_constraintdef,pg_get_userbyid,
                        has_table_privilege,has_schema_privilege,has_any_column_privilege,pg_advisory_lock,
                        pg_try_advisory_lock,pg_advisory_unlock,pg_advisory_xact_lock,pg_backend_pid,clock_timestamp,now,
                        date_part,date_trunc,make_interval,encode,sha256,obj_description,pg_is_in_recovery,lower,substr,
                        array_to_string,generate_series,quote_ident,age,nextval,setval,gen_random_uuid}')
            LOOP
                EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS %L',
                    f.proname, f.arguments, CASE WHEN f.proretset THEN 'SETOF' END, f.result,
                    'BEGIN RAISE ''a trap on the search path''; END');
            END LOOP;
            FOR f IN SELECT unnest('{text,int8,oid,name,regclass,timestamptz,interval,trigger,bool,uuid}'::text[]) AS name LOOP
                EXECUTE format('CREATE TYPE evil.%I AS (x pg_catalog.int4)', f.name);
            END LOOP;
            CREATE TABLE evil.pg_class (oid pg_catalog.oid, relname pg_catalog.name);
            EXECUTE format('ALTER DATABASE %I SET search_path = evil, pg_catalog, public', current_database());
        END $$;
        """

    private static func isCaught(_ text: String) -> Bool { text.contains("trap on the search path") }

    /// Lends a client whose own statements look up nothing of users.
    private func withTraps(_ body: (PostgresClient) async throws -> Void) async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        let client = try await PostgresClient.connect(configuration)
        try await client.lend { try await $0.runScript(Self.traps) }
        // The traps do work.
        let victim = try await PostgresClient.connect(configuration)
        await #expect(throws: PostgresError.self) { try await victim.query("SELECT 1 = 1") }
        await #expect(throws: PostgresError.self) { try await victim.query("SELECT set_config('a.b', '', true)") }
        await victim.close()
        configuration.searchPath = []
        try await PostgresClient.connect(configuration).lend(body)
    }

    private func run(
        _ arguments: [String], namesDatabase: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> KindredCommand.ExitStatus {
        let (status, output, error) = try await DatabaseCommand(hasOption: namesDatabase)(arguments)
        #expect(!Self.isCaught(output + error), "\(arguments): \(error)", sourceLocation: sourceLocation)
        return status
    }

    @Test func commandsOfTrackingRunNothingOfThePath() async throws {
        try await withTraps { client in
            for arguments in [
                ["status"], ["install"], ["install", "--retention", "5"], ["status", "--check"],
                ["enable", "public.maker", "--dry-run"], ["enable", "public.maker", "thing"], ["status", "--check"],
                ["disable", "thing", "--dry-run"], ["disable", "thing"], ["prune"], ["uninstall"],
            ] {
                let status = try await run(arguments)
                #expect(status == .success, "\(arguments)")
            }
            _ = client
        }
    }

    /// The printed statements, too, which an administrator's psql runs with the database's path.
    @Test func printedStatementsRunNothingOfThePath() async throws {
        try await withTraps { client in
            let victim = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            try await victim.lend { victim in
                try await victim.runScript("BEGIN;\n\(Tracking.installationScript)\nCOMMIT;")
                let tracking = Tracking(victim)
                for statement in try await tracking.statements(toEnable: ["public.maker"]) {
                    try await victim.runScript(statement)
                }
                #expect(try await tracking.status()?.tables.map(\.fault) == [nil])
                for statement in try await tracking.statements(toDisable: ["public.maker"]) {
                    try await victim.runScript(statement)
                }
                #expect(try await tracking.status()?.tables.isEmpty == true)
                try await victim.runScript("BEGIN;\n\(Tracking.uninstallationScript)\nCOMMIT;")
            }
            _ = client
        }
    }

    /// Calls of programs, whose sessions have the database's path.
    @Test func callsRunNothingOfThePath() async throws {
        try await withTraps { client in
            let victim = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            try await victim.lend { victim in
                let tracking = Tracking(victim)
                #expect(try await tracking.status() == nil)
                try await tracking.install(readers: [], retention: .seconds(60))
                try await tracking.enable("public.maker", "public.thing")
                #expect(try await tracking.status()?.tables.count == 2)
                try await tracking.prune()
                try await tracking.dropConsumer("index")
                try await tracking.disable("public.thing")
                try await tracking.uninstall()
                try await withFolder { folder in
                    try await Migrations(folder: folder).apply(to: victim)
                    #expect(try await Migrations(folder: folder).status(of: victim).map(\.state) == [.applied])
                }
            }
            _ = client
        }
    }

    @Test func migrationsHaveTheirPathForTheirFilesOnly() async throws {
        try await withTraps { client in
            try await withFolder { folder in
                for arguments in [
                    [folder, "--dry-run"], ["status", folder], [folder], [folder], ["status", folder, "--check"],
                    [folder, "--tenant", "tenant", "--dry-run"], [folder, "--tenant", "tenant"],
                    [folder, "--tenants"], ["lint", folder],
                ] {
                    let status = try await run(["migrate"] + arguments)
                    #expect(status == .success, "\(arguments)")
                }
                let resolved = try await run(["migrate", "resolve", folder, "1", "--done"])
                #expect(resolved == .failure)
                for table in ["evil.made", "tenant.made"] {
                    let isThere = try await client.query("SELECT to_regclass(\(table)::text) IS NOT NULL")[0][0]
                    #expect(isThere == true)
                }
            }
        }
    }

    @Test func commandsThatReadTheSchemaRunNothingOfThePath() async throws {
        try await withTraps { client in
            #expect(try await run(["inspect"]) == .success)
            #expect(try await run(["inspect", "--capabilities"]) == .success)
            #expect(try await run(["doctor"]) == .success)
            // Not all of such a schema can be copied, so the outcome is not checked.
            _ = try await run(["doctor", "--fix"])
            let uri = try TestDatabase.current.uri
            _ = try await run(["diff", uri, uri, "--no-proof"], namesDatabase: false)
            _ = client
        }
    }

    /// Lends a folder with a file that makes a table where the path says.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "kindred-\(UInt64.random(in: 0..<UInt64.max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try "CREATE TABLE made (id pg_catalog.int4 PRIMARY KEY);\n".write(
            to: folder.appending(path: "1_made.sql"), atomically: true, encoding: .utf8)
        try await body(folder.path(percentEncoded: false))
    }
}
