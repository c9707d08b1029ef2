import EmbeddedPostgres
import Foundation
import KindredAssistant
import KindredTesting
import Testing

/// Nothing that a database holds gets out of the role of its copy.
@Suite struct SandboxTests {
    /// Statements that reach the machine, or more rights; each fails in the sessions of a copy.
    static let escapes = [
        "COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/tmp/kindred_sandbox'",
        "CREATE TEMP TABLE lines (x text); COPY lines FROM '/etc/passwd'",
        "CREATE TEMP TABLE out (x text); COPY out FROM PROGRAM 'true'",
        "SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('/etc/passwd')", "SELECT pg_ls_dir('/')",
        "SELECT pg_stat_file('/etc/passwd')", "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(1, '/tmp/kindred_sandbox')",
        "ALTER SYSTEM SET archive_command = 'true'", "SELECT pg_reload_conf()", "SELECT pg_rotate_logfile()",
        "LOAD '/tmp/kindred_sandbox.so'", "CREATE EXTENSION dblink", "CREATE EXTENSION file_fdw",
        "CREATE EXTENSION adminpack",
        "CREATE EXTENSION postgres_fdw", "CREATE FUNCTION c() RETURNS integer LANGUAGE c AS 'libc', 'getpid'",
        "CREATE FUNCTION i(float8) RETURNS float8 LANGUAGE internal AS 'dsqrt'",
        "CREATE FUNCTION public.h() RETURNS language_handler LANGUAGE c AS 'plpgsql', 'plpgsql_call_handler'",
        "CREATE FOREIGN DATA WRAPPER w",
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION pg_catalog.pg_notify()",
        "CREATE ROLE other", "CREATE ROLE other SUPERUSER", "CREATE DATABASE other",
        "CREATE TABLESPACE t LOCATION '/tmp'",
        "ALTER ROLE CURRENT_USER SUPERUSER", "ALTER ROLE CURRENT_USER CREATEROLE",
        "ALTER ROLE CURRENT_USER REPLICATION",
        "GRANT pg_execute_server_program TO CURRENT_USER", "GRANT pg_read_server_files TO CURRENT_USER",
        "GRANT pg_write_server_files TO CURRENT_USER", "SET ROLE pg_execute_server_program",
        "RESET ROLE; RESET SESSION AUTHORIZATION; SELECT pg_read_file('/etc/passwd')",
        "DO $$ BEGIN EXECUTE format('SET ROLE %I', (SELECT rolname FROM pg_roles WHERE rolsuper LIMIT 1)); END $$",
        "DO $$ BEGIN EXECUTE format('SET SESSION AUTHORIZATION %I', (SELECT rolname FROM pg_roles WHERE rolsuper LIMIT 1)); END $$",
        "DO $$ BEGIN EXECUTE format('GRANT %I TO CURRENT_USER', (SELECT rolname FROM pg_roles WHERE rolsuper LIMIT 1)); END $$",
        "SELECT count(*) FROM pg_authid", "UPDATE pg_proc SET proname = proname", "SET session_preload_libraries = 'x'",
        "SET log_statement = 'none'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user",
        "SELECT pg_create_logical_replication_slot('s', 'test_decoding')",
        "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p",
        "CREATE PUBLICATION p FOR ALL TABLES", "CREATE CAST (integer AS tsquery) WITH INOUT",
    ]

    @Test func theRoleOfCopiesMayDoNothingElse() async throws {
        try await ScratchServer.withServer { server in
            try await server.withDatabase { client in
                try await server.makeRole("kindred_stand_in")
                for escape in Self.escapes {
                    await #expect(throws: PostgresError.self, "\(escape)") { try await client.runScript(escape) }
                }
                let rows = try await client.query(
                    """
                    SELECT session_user = current_user AND r.rolbypassrls AND NOT (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb
                            OR r.rolreplication), pg_catalog.pg_get_userbyid(d.datdba) = session_user,
                        ARRAY(SELECT g.rolname::text FROM pg_roles AS g WHERE pg_has_role(r.oid, g.oid, 'MEMBER') AND g.oid <> r.oid
                            AND (g.rolsuper OR g.rolcanlogin OR g.rolcreaterole OR g.rolcreatedb OR g.rolreplication
                                OR g.rolname ~ '^pg_' AND g.rolname <> 'pg_database_owner')),
                        (SELECT count(*) FROM pg_roles WHERE rolsuper AND rolname ~ '^kindred_super_[a-z0-9]{9,}$')
                    FROM pg_roles AS r, pg_database AS d
                    WHERE r.rolname = current_user AND d.datname = current_database()
                    """)
                let row = try #require(rows.first)
                #expect(try row.decode(0, as: Bool.self) == true)
                #expect(try row.decode(1, as: Bool.self) == true)
                #expect(try row.decode(2, as: [String].self) == [])
                #expect(try row.decode(3, as: Int.self) == 1)
            }
        }
    }

    /// An extension of the list that connects to servers gets no session of the superuser's without its password.
    @Test func anExtensionOfTheListConnectsAsNobodyElse() async throws {
        try await ScratchServer.withServer(extensions: ["dblink"]) { server in
            try await server.withDatabase([FirstExtension(name: "dblink", schema: "public")]) { client in
                guard case .socket(let folder, _)? = client.configuration.endpoints.first else {
                    Issue.record("\(client.configuration.endpoints)")
                    return
                }
                for user in ["(SELECT rolname FROM pg_roles WHERE rolsuper)", "current_user"] {
                    for password in ["", " password=x"] {
                        let error = await #expect(throws: PostgresError.self) {
                            try await client.runScript(
                                """
                                SELECT dblink_connect(
                                    format('host=\(folder) dbname=postgres user=%s\(password)', \(user)))
                                """)
                        }
                        let states = ["2F003", "08001"]
                        #expect(states.contains(error?.sqlState?.rawValue ?? ""), "\(error.map { "\($0)" } ?? "")")
                    }
                }
            }
        }
    }

    /// A function that leaves a file for each kind of object that calls it, if it may.
    private static func evil(in folder: String) -> String {
        """
        CREATE SCHEMA evil;
        CREATE FUNCTION evil.harm(kind text) RETURNS integer LANGUAGE plpgsql AS $$
        DECLARE object oid;
        BEGIN
            BEGIN
                EXECUTE 'RESET ROLE'; EXECUTE 'RESET SESSION AUTHORIZATION';
                EXECUTE pg_catalog.format('COPY (SELECT 1) TO PROGRAM %L', 'touch \(folder)/' || kind);
            EXCEPTION WHEN OTHERS THEN NULL; END;
            BEGIN EXECUTE pg_catalog.format('COPY (SELECT 1) TO %L', '\(folder)/' || kind); EXCEPTION WHEN OTHERS THEN NULL; END;
            BEGIN
                object := lo_from_bytea(0, ''); PERFORM lo_export(object, '\(folder)/' || kind);
            EXCEPTION WHEN OTHERS THEN NULL; END;
            RETURN 1;
        END $$;
        CREATE FUNCTION evil.run(kind text) RETURNS integer LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT evil.harm(kind); END;
        """
    }

    /// Objects of each kind whose code runs when they are made, or when a row is written.
    private static let objects = """
        CREATE FUNCTION evil.sql() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT evil.run('sql') $$;
        CREATE FUNCTION evil.text(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT evil.run($1) = 1 $$;
        CREATE DOMAIN evil.checked AS text DEFAULT evil.run('domain_default')::text CHECK (evil.text('domain'));
        CREATE TABLE public.victim (id integer DEFAULT evil.run('default'), n integer NOT NULL, t evil.checked,
            g integer GENERATED ALWAYS AS (evil.run('generated') + n) STORED, CHECK (evil.run('check') = 1));
        CREATE INDEX ON public.victim ((n + evil.run('index'))) WHERE evil.run('predicate') = 1;
        ALTER TABLE public.victim ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON public.victim USING (evil.run('policy') = 1) WITH CHECK (evil.run('policy_check') = 1);
        CREATE FUNCTION evil.note() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM evil.run('trigger'); RETURN COALESCE(NEW, OLD); END $$;
        CREATE TRIGGER n BEFORE INSERT OR UPDATE OR DELETE ON public.victim FOR EACH ROW EXECUTE FUNCTION evil.note();
        CREATE TABLE public.log (n integer);
        CREATE RULE r AS ON INSERT TO public.victim DO ALSO INSERT INTO public.log VALUES (evil.run('rule'));
        CREATE FUNCTION evil.event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.run('event'); END $$;
        CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION evil.event();
        CREATE VIEW public.seen AS SELECT evil.run('view');
        CREATE MATERIALIZED VIEW public.stored AS SELECT evil.run('materialized');
        CREATE TYPE evil.pair AS (a integer);
        CREATE FUNCTION evil.as_text(evil.pair) RETURNS text LANGUAGE sql AS $$ SELECT evil.run('cast')::text $$;
        CREATE CAST (evil.pair AS text) WITH FUNCTION evil.as_text(evil.pair) AS IMPLICIT;
        CREATE FUNCTION evil.is_same(name, name) RETURNS boolean LANGUAGE sql AS $$ SELECT evil.run('operator') = 1 $$;
        CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.is_same);
        CREATE FUNCTION evil.step(integer, integer) RETURNS integer LANGUAGE sql AS $$ SELECT evil.run('aggregate') $$;
        CREATE AGGREGATE public.count(integer) (SFUNC = evil.step, STYPE = integer, INITCOND = '0');
        CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w;
        CREATE FOREIGN TABLE public.away (n integer DEFAULT evil.run('foreign')) SERVER far;
        CREATE PUBLICATION all_of_it FOR ALL TABLES;
        CREATE FUNCTION public.hstore_in(text) RETURNS integer LANGUAGE sql AS $$ SELECT evil.run('extension') $$;
        CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE sql AS $$ SELECT evil.run('format')::text $$;
        CREATE TABLE public.parted (n integer) PARTITION BY LIST ((n + evil.run('partition')));
        CREATE STATISTICS public.st ON (n + evil.run('statistics')), id FROM public.victim;
        CREATE TABLE public.owner (id integer PRIMARY KEY);
        CREATE TABLE public.part (id integer PRIMARY KEY, owner integer REFERENCES public.owner, t text DEFAULT evil.run('part')::text);
        """

    @Test func nothingLeavesACopy() async throws {
        let folder = "/tmp/kindred-sandbox-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        // Whatever the process's mask is.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func marks() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

        let script = Self.evil(in: folder) + Self.objects
        try await CatalogOracle.withDatabase([script]) { client, old in
            // The function does harm where it may.
            try await client.query("SELECT evil.run('control'), evil.sql()")
            #expect(try marks().contains("control") && marks().contains("sql"))
            try await CatalogOracle.withDatabase(
                [
                    script,
                    "ALTER TABLE victim ADD COLUMN more integer; CREATE EXTENSION hstore; CREATE TABLE h (h hstore)",
                ]
            ) { _, new in
                var all = DoctorOptions()
                all.includesSmallTables = true
                let report = try await Doctor.findings(of: client, options: all)
                for mark in try marks() { try FileManager.default.removeItem(atPath: "\(folder)/\(mark)") }
                var options = SchemaDifferences.Options()
                options.allowsDropping = true
                let (from, to) = (try SchemaSource(argument: old), try SchemaSource(argument: new))
                for (one, other) in [(from, to), (to, from)] {
                    let differences = try await SchemaDifferences.between(one, other, options: options)
                    #expect(
                        !differences.steps.isEmpty
                            && differences.leftOut.contains { $0.hasPrefix("The event trigger e:") })
                    #expect(differences.proof == .proven, "\(differences.proof) \(differences.leftOut)")
                }
                options.isProven = false
                _ = try await SchemaDifferences.between(from, .sql(script, name: "script"), options: options)
                let trial = try await RepairTrial.run(report, of: client, options: all)
                #expect(trial.repairs.contains { $0.outcome == .works }, "\(trial.repairs)")
                #expect(trial.leftOut.contains { $0.hasPrefix("The event trigger e:") })
                #expect(try marks() == [])
            }
        }
    }

    /// An index on an expression that sleeps ends the copy, and is named.
    @Test func aStatementThatSleepsIsCut() async throws {
        func sleepy(_ seconds: Int) -> String {
            """
            CREATE OR REPLACE FUNCTION sleepy() RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
                BEGIN PERFORM pg_sleep(\(seconds)); RETURN 1; END $$;
            """
        }
        // The index is made where its function does not sleep yet.
        let index = "CREATE TABLE t (n integer);" + sleepy(0) + "CREATE INDEX i ON t ((n + sleepy()));" + sleepy(600)
        var options = SchemaDifferences.Options()
        options.statementLimit = .milliseconds(500)
        try await CatalogOracle.withDatabase([index]) { client, database in
            let start = ContinuousClock.now
            let differences = try await SchemaDifferences.between(
                try SchemaSource(argument: database), .sql("CREATE TABLE t (n integer, m integer);", name: "to"),
                options: options)
            #expect(differences.cut.count == 1 && differences.cut[0].hasPrefix("CREATE INDEX i "), "\(differences.cut)")
            guard case .skipped(let reason) = differences.proof else {
                Issue.record("\(differences.proof)")
                return
            }
            #expect(reason.contains("the old side cannot be made") && reason.contains("timeout"), "\(reason)")
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }
}
