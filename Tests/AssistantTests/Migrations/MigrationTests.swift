import Foundation
import Kindred
import KindredMigrations
import KindredTesting
import Testing

/// Files run once each, in their order, and failures are reported and undone.
@Suite(.database) struct MigrationTests {
    private func client() async throws -> PostgresClient {
        try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
    }

    private func failure(of migrations: Migrations, on client: PostgresClient) async throws -> MigrationError? {
        do {
            try await migrations.apply(to: client)
            return nil
        } catch let error as MigrationError {
            return error
        }
    }

    private func count(_ sql: String, _ client: PostgresClient) async throws -> Int? {
        try await client.query(SQL(unsafeRaw: "SELECT count(*) FROM \(sql)")).first?.decode(0, as: Int.self)
    }

    @Test func eachFileRunsOnceInTheOrderOfTheNumbers() async throws {
        let files = [
            "0010_rows.sql": "INSERT INTO a VALUES (1); INSERT INTO a VALUES (2)",
            "2_table.sql": "CREATE TABLE a (b integer);\r\n-- a comment; and no statement\r\n",
            "notes.txt": "no migration", ".hidden.sql": "no",
        ]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                #expect(
                    try await folder.migrations.pending(for: client).map(\.name) == ["2_table.sql", "0010_rows.sql"])
                #expect(try await folder.migrations.apply(to: client).map(\.number) == [2, 10])
                #expect(try await folder.migrations.apply(to: client).isEmpty)
                #expect(try await count("a", client) == 2)
                // Line ends are the checkout's business.
                try folder.write("2_table.sql", "CREATE TABLE a (b integer);\n-- a comment; and no statement\n")
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.applied, .applied])
                let schema = try await SchemaReader.read(from: client)
                #expect(schema.entities.map(\.name.name) == ["a"])
            }
        }
    }

    @Test func behindAPoolerOfTransactionsNothingIsSent() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pooler = .transaction
        let client = try await PostgresClient.connect(configuration)
        try await MigrationFolder.with(["1_table.sql": "CREATE TABLE a (b integer)"]) { folder in
            let error = try await failure(of: folder.migrations, on: client)
            #expect(error?.code == .locked && error?.message.contains("a session of their own") == true)
            #expect(try await count("pg_class WHERE relname IN ('a', 'migration')", client) == 0)
        }
        await client.close()
    }

    @Test func aFailureRollsItsFileBackAndNamesTheLine() async throws {
        let files = [
            "1_a.sql": "CREATE TABLE a (b integer PRIMARY KEY);",
            "2_b.sql": "INSERT INTO a\nVALUES (1);\n\n/* twice */ INSERT INTO a VALUES (1);",
            "3_c.sql": "CREATE TABLE c ();",
        ]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let error = try #require(try await failure(of: folder.migrations, on: client))
                #expect(error.code == .failed && error.file == "2_b.sql" && error.line == 4, "\(error)")
                #expect(error.message.hasPrefix("2_b.sql:4: "))
                #expect(try await count("a", client) == 0)
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.applied, .pending, .pending])
                try folder.write("2_b.sql", "INSERT INTO a\nVALUES (1),\n (nonsense)")
                #expect(try await failure(of: folder.migrations, on: client)?.line == 3)
                try folder.write("2_b.sql", "INSERT INTO a VALUES (1)")
                #expect(try await folder.migrations.apply(to: client).map(\.number) == [2, 3])
            }
        }
    }

    @Test func filesThatChangedOrAreGoneAreErrors() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()", "3_c.sql": "CREATE TABLE c ()"]) { folder in
            try await withClient { client in
                try await folder.migrations.apply(to: client)
                try folder.write("1_a.sql", "CREATE TABLE a (b integer)")
                let changed = try #require(try await failure(of: folder.migrations, on: client))
                #expect(changed.code == .changed && changed.message.contains("changed after it ran"))
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.changed, .applied])
                try folder.remove("1_a.sql")
                #expect(try await failure(of: folder.migrations, on: client)?.code == .missing)
                try folder.write("1_a.sql", "CREATE TABLE a ()")
                try folder.write("2_b.sql", "CREATE TABLE b ()")
                let late = try #require(try await failure(of: folder.migrations, on: client))
                #expect(late.code == .outOfOrder && late.file == "2_b.sql")
                var migrations = folder.migrations
                migrations.allowsOutOfOrder = true
                #expect(try await migrations.apply(to: client).map(\.number) == [2])
            }
        }
    }

    @Test(arguments: [
        (["a.sql": ""], MigrationError.Code.invalidFolder, "a.sql"),
        (["1234567890123456789_a.sql": ""], .invalidFolder, "1234567890123456789_a.sql"),
        (["1_a.sql": "", "01_b.sql": ""], .invalidFolder, "1_a.sql"),
        (["1_a.sql": "", "b.SQL": ""], .invalidFolder, "b.SQL"),
        (["1_a.sql": "", "people/up.sql": ""], .invalidFolder, "people/up.sql"),
        (
            ["1_a.sql": "", "2025-11-11-140459-0000_people/up.sql": ""], .invalidFolder,
            "2025-11-11-140459-0000_people/up.sql"
        ),
        (["1_a.sql": "", "people/Migration.SQL": ""], .invalidFolder, "people/Migration.SQL"),
        (["1_a.sql": "SELECT 1;\nCOMMIT"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "COPY a FROM stdin;\n1\n\\.\n"], .invalidFile, "1_a.sql:1"),
        (["1_a.sql": "SELECT '\0'"], .invalidFile, "1_a.sql"),
        (["1_a.sql": "SELECT 1;\ncopy a\nfrom stdin with (format csv);\n1"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "SELECT 1;\n\\i other.sql\nSELECT 2"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "SELECT 1;\nSELECT (1 +\n2;\nSELECT 3;"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "SELECT 1;\nSELECT 'it;\nSELECT 3;"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "SELECT 1;\n/* SELECT 3;"], .invalidFile, "1_a.sql:2"),
        (["1_a.sql": "DO $x$ BEGIN\nEND $y$;\nSELECT 3;"], .invalidFile, "1_a.sql:1"),
        (
            ["1_a.sql": "CREATE FUNCTION f() RETURNS integer\nBEGIN ATOMIC SELECT 1;\nCREATE TABLE t ();"],
            .invalidFile,
            "1_a.sql:2"
        ),
    ]) func badFilesAreRefusedBeforeAnythingRuns(
        _ files: [String: String], _ code: MigrationError.Code, _ place: String
    )
        async throws
    {
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let error = try #require(try await failure(of: folder.migrations, on: client))
                #expect(error.code == code && error.message.hasPrefix(place + ": "), "\(error)")
                #expect(try await count("pg_namespace WHERE nspname = 'kindred'", client) == 0)
            }
        }
        let none = Migrations(folder: "/nowhere")
        #expect(throws: MigrationError.self) { try none.files() }
    }

    @Test func aFileWithoutTransactionThatFailsIsUnfinished() async throws {
        let files = [
            "1_a.sql": "CREATE TABLE a (b integer); INSERT INTO a VALUES (1), (1)",
            "2_i.sql": """
            --  kindred:  no transaction
            CREATE INDEX CONCURRENTLY i ON a (b);
            CREATE UNIQUE INDEX CONCURRENTLY u ON a (b);
            """,
        ]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let error = try #require(try await failure(of: folder.migrations, on: client))
                #expect(
                    error.code == .failed && error.line == 3 && error.message.contains("did before stays"), "\(error)")
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.applied, .unfinished])
                #expect(try await failure(of: folder.migrations, on: client)?.code == .unfinished)
                await #expect(throws: MigrationError.self) {
                    try await folder.migrations.resolve(1, isDone: true, in: client)
                }
                try await folder.migrations.resolve(2, isDone: false, in: client)
                #expect(try await folder.migrations.status(of: client).last?.state == .pending)
                try await client.query("DROP INDEX i, u")
                #expect(try await failure(of: folder.migrations, on: client)?.code == .failed)
                try await folder.migrations.resolve(2, isDone: true, in: client)
                #expect(try await folder.migrations.apply(to: client).isEmpty)
            }
        }
    }

    @Test func severalAtOnceApplyEachFileOnce() async throws {
        let files = [
            "1_a.sql": "CREATE TABLE a (b integer); SELECT pg_sleep(0.2)", "2_b.sql": "INSERT INTO a VALUES (1)",
            // Waits for the snapshots of all others, and would wait for a session that waits for the lock.
            "3_i.sql": "-- kindred: no transaction\nCREATE INDEX CONCURRENTLY i ON a (b)",
        ]
        try await MigrationFolder.with(files) { folder in
            let migrations = folder.migrations
            let uri = try TestDatabase.current.uri
            let ran = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
                        let files = try await migrations.apply(to: client)
                        await client.close()
                        return files.map(\.number)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ran == [1, 2, 3])
            #expect(try await withClient { try await count("a", $0) } == 1)
        }
    }

    @Test func theLockEndsWithItsSession() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a (); SELECT pg_sleep(60)"]) { folder in
            try await withClient { client in
                var migrations = folder.migrations
                let first = Task { [migrations] in
                    let other = try await self.client()
                    defer { Task { await other.close() } }
                    try await migrations.apply(to: other)
                }
                while try await count("pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%'", client) == 0 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                migrations.lockTimeout = .milliseconds(30)
                #expect(try await failure(of: migrations, on: client)?.code == .locked)
                try await client.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%'")
                await #expect(throws: (any Error).self) { try await first.value }
                try folder.write("1_a.sql", "CREATE TABLE a ()")
                migrations.lockTimeout = .seconds(60)
                #expect(try await migrations.apply(to: client).map(\.number) == [1])
            }
        }
    }

    @Test func whatAFileSetsEndsWithIt() async throws {
        let files = [
            "1_a.sql": "CREATE SCHEMA s; SET search_path = s; SET ROLE pg_monitor; RESET ROLE; CREATE TABLE a ()",
            "2_b.sql": "CREATE TABLE b ()",
        ]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                try await folder.migrations.apply(to: client)
                #expect(try await count("s.a", client) == 0)
                #expect(try await count("public.b", client) == 0)
            }
        }
    }

    /// A name that looks like the bound of a body ends no statement, and begins none.
    @Test func filesAreReadAsPsqlReadsThem() async throws {
        let text = """
            CREATE FUNCTION days(begin date, finish date) RETURNS integer LANGUAGE sql AS 'SELECT $2 - $1';
            CREATE FUNCTION spans() RETURNS TABLE (begin date, finish date) LANGUAGE sql
                AS $$ SELECT '2026-01-01'::date, '2026-01-03'::date; $$;
            CREATE PROCEDURE begin(begin integer) LANGUAGE sql AS '';
            CREATE TABLE note (text text);
            CREATE FUNCTION end_of(n integer) RETURNS integer LANGUAGE sql BEGIN ATOMIC
                SELECT 1 AS end;
                SELECT CASE n WHEN 1 THEN (CASE n WHEN 1 THEN 2 END) ELSE 3 END;
            END;
            INSERT INTO note VALUES (E'it''s \\'; here'), ('two'
                ' parts; here');
            """
        try await MigrationFolder.with(["1_a.sql": text]) { folder in
            try await withClient { client in
                try await folder.migrations.apply(to: client)
                let rows = try await client.query(
                    "SELECT days(begin, finish) FROM spans() UNION ALL SELECT end_of(1) UNION ALL SELECT count(*) FROM note"
                )
                #expect(try rows.map { try $0.decode(0, as: Int.self) } == [2, 2, 2])
                let texts = try await client.query("SELECT text FROM note ORDER BY text")
                #expect(try texts.map { try $0.decode(0, as: String.self) } == ["it's '; here", "two parts; here"])
            }
        }
    }

    @Test func functionsWithSemicolonsAreOneStatement() async throws {
        let files = [
            "1_f.sql": """
            CREATE FUNCTION f(n integer) RETURNS integer LANGUAGE sql
            BEGIN ATOMIC
                SELECT CASE n WHEN 1 THEN 2 ELSE 3 END;
                SELECT n;
            END;
            DO $body$ BEGIN PERFORM f(1); END $body$;
            CREATE RULE r AS ON INSERT TO pg_catalog.nothing DO ALSO (SELECT 1; SELECT 2);
            """
        ]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in
                let error = try #require(try await failure(of: folder.migrations, on: client))
                #expect(error.line == 7 && error.message.contains("pg_catalog.nothing"), "\(error)")
            }
        }
    }

    @Test(.database) func aServerWithoutAdvisoryLocksSaysSo() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a (id integer)"]) { folder in
            try await withClient { client in
                try await client.query("ALTER FUNCTION pg_try_advisory_lock(bigint) RENAME TO renamed")
                let error = try #require(try await failure(of: folder.migrations, on: client))
                #expect(error.code == .unsupported && error.message.contains("grant the role EXECUTE"), "\(error)")
                #expect(try await client.query("SELECT to_regclass('a')")[0][0] == nil)
            }
        }
    }

    @Test(.database(.migrations("Files"))) func theTraitAppliesAFolder() async throws {
        try await withClient { (client) async throws in
            #expect(try await count("person WHERE name = 'Ada; the first'", client) == 1)
            let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Files").path
            #expect(try await Migrations(folder: folder).status(of: client).map(\.state) == [.applied, .applied])
        }
    }
}
