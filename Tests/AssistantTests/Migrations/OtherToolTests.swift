import CommandSupport
import KindredCommand
import KindredMigrations
import KindredTesting
import Testing

/// Folders that other tools have written, and databases that they have migrated.
@Suite(.database) struct OtherToolTests {
    private let run = DatabaseCommand("migrate")

    private func tables() async throws -> [String] {
        try await withClient { client in
            let rows = try await client.query(
                "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1"
            )
            return try rows.map { try $0.decode(0, as: String.self) ?? "" }
        }
    }

    /// As Prisma writes them: a folder for each, a lock file, and a transaction around the change of an enum.
    private static let prisma = [
        "migration_lock.toml": "provider = \"postgresql\"",
        "0_init/migration.sql": "CREATE TYPE \"Role\" AS ENUM ('USER');\nCREATE TABLE a (role \"Role\");",
        "20260131120000_roles/migration.sql": """
        -- AlterEnum
        BEGIN;
        CREATE TYPE "Role_new" AS ENUM ('USER', 'ADMIN');
        ALTER TABLE a ALTER role TYPE "Role_new" USING (role::text::"Role_new");
        DROP TYPE "Role";
        COMMIT;

        -- CreateTable
        CREATE TABLE b ();
        """,
        "20260131120001_index/migration.sql": "CREATE INDEX ON a (role);", "20260131120002_empty/README.md": "",
    ]

    @Test func aFolderOfPrismaIsTakenAsItIs() async throws {
        try await MigrationFolder.with(Self.prisma) { folder in
            let names = ["0_init", "20260131120000_roles", "20260131120001_index"].map { "\($0)/migration.sql" }
            #expect(try folder.migrations.files().map(\.name) == names)
            #expect(try await run(folder.path).output == names.map { "ran \($0)\n" }.joined())
            #expect(try await tables() == ["a", "b"])
            #expect(try await run("status", folder.path, "--check").status == 0)
            try folder.write("20260131120001_index/migration.sql", "CREATE INDEX i ON a (role);")
            let changed = try await run(folder.path)
            #expect(changed.error.contains("20260131120001_index/migration.sql: The file was changed"), "\(changed)")
        }
    }

    @Test(arguments: [
        "BEGIN;\nCREATE TABLE a ();", "CREATE TABLE a ();\nCOMMIT;", "BEGIN; BEGIN; COMMIT;",
        "BEGIN ISOLATION LEVEL SERIALIZABLE;\nCOMMIT;", "BEGIN;\nROLLBACK;",
        "-- kindred: no transaction\nBEGIN;\nCREATE TABLE a ();\nCOMMIT;",
    ]) func onlyPlainPairsOfBeginAndCommitAreTaken(_ text: String) async throws {
        try await MigrationFolder.with(["1_a/migration.sql": text]) { folder in
            let (status, _, error) = try await run(folder.path)
            #expect(status == 65 && error.contains("Leave BEGIN, COMMIT and their like out"), "\(error)")
            #expect(try await tables().isEmpty)
        }
    }

    @Test func timeStampsAndFilesThatUndoOthersAreTakenAsTheyAre() async throws {
        let files = [
            "20260102030405_rails.sql": "CREATE TABLE c ()", "20260102030406.sql": "CREATE TABLE d ()",
            "2026-01-01-000000_diesel/up.sql": "CREATE TABLE a ()",
            "2026-01-01-000000_diesel/down.sql": "DROP TABLE a",
            "20260101000001_sqlx.up.sql": "CREATE TABLE b ()", "20260101000001_sqlx.down.sql": "DROP TABLE b",
            "20260102030407_dbmate.sql": """
            -- migrate:up
            CREATE TABLE e ();

            -- migrate:down
            DROP TABLE e;
            """,
            "20260102030408_goose.sql": """
            -- +goose NO TRANSACTION
            -- +goose Up
            CREATE TABLE f (a integer);
            CREATE INDEX CONCURRENTLY i ON f (a);
            -- +goose Down
            DROP TABLE f;
            """,
        ]
        try await MigrationFolder.with(files) { folder in
            let numbers: [Int64] = [
                2026_01_01_000000, 2026_01_01_000001, 2026_01_02_030405, 2026_01_02_030406, 2026_01_02_030407,
                2026_01_02_030408,
            ]
            #expect(try folder.migrations.files().map(\.number) == numbers)
            #expect(try folder.migrations.files().map(\.isTransaction) == [true, true, true, true, true, false])
            #expect(try await run(folder.path).status == 0)
            #expect(try await tables() == ["a", "b", "c", "d", "e", "f"])
            // The part that undoes a file belongs to the file, though it does not run.
            try folder.write("20260102030407_dbmate.sql", "-- migrate:up\nCREATE TABLE e ();")
            #expect(try await run(folder.path).error.contains("20260102030407_dbmate.sql: The file was changed"))
        }
    }

    @Test(arguments: ["2026-01_a.sql", "2026-1-1_a.sql", "1-2-3_a.sql", "-1_a.sql", "1a.sql", "1 a.sql", "_a.sql"])
    func otherNamesAreRefused(_ name: String) async throws {
        try await MigrationFolder.with([name: "SELECT 1"]) { folder in
            let (status, _, error) = try await run(folder.path)
            #expect(status == 65 && error.hasPrefix("kindred: \(name): The name does not begin"), "\(error)")
        }
    }

    @Test func aBaselineAdoptsADatabase() async throws {
        var files = Self.prisma
        // Of another tool's own, and long run.
        files["20260130000000_psql/migration.sql"] = "\\set x 1\nCOPY a FROM stdin;\n"
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in _ = try await client.query("CREATE TABLE a (role text)") }
            #expect(try await run(folder.path).status == 65)
            let last = "20260131120001_index/migration.sql"
            let counted = ["0_init", "20260130000000_psql", "20260131120000_roles"].map { "\($0)/migration.sql" }
            let asked = try await run(folder.path, "--baseline", "20260131120000", "--dry-run")
            #expect(asked.output == counted.map { "would count \($0) as run\n" }.joined() + "would run \(last)\n")
            let wrong = try await run(folder.path, "--baseline", "7")
            #expect(wrong.status == 1 && wrong.error == "kindred: No file of the folder has the number 7.\n")
            try await withClient { client in
                let table = try await client.query("SELECT to_regclass('kindred.migration')")
                #expect(try table[0][0] == nil)
            }
            let first = try await run(folder.path, "--baseline", "20260131120000")
            #expect(first.output == counted.map { "counted \($0) as run\n" }.joined() + "ran \(last)\n", "\(first)")
            #expect(try await tables() == ["a"])
            // Again, as in a script that is run at each start.
            let second = try await run(folder.path, "--baseline", "20260131120000")
            #expect(second.status == 0 && second.output == "Everything has run already.\n", "\(second)")
            #expect(try await run("status", folder.path, "--check").status == 0)
            try folder.write("20260131120003_more/migration.sql", "CREATE TABLE more ()")
            let late = try await run(folder.path, "--baseline", "20260131120003")
            #expect(late.status == 1 && late.error.contains("Files are recorded here already"), "\(late)")
            #expect(try await run(folder.path).output == "ran 20260131120003_more/migration.sql\n")
            #expect(try await run(folder.path, "--baseline", "1", "--tenants").status == 64)
        }
    }

    @Test func aFileThatWasCountedIsComparedLikeOthers() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()", "2_b.sql": "CREATE TABLE b ()"]) { folder in
            try await withClient { (client) async throws in
                let migrations = folder.migrations
                #expect(try await migrations.baseline(1, in: client).map(\.number) == [1])
                #expect(try await migrations.status(of: client).map(\.state) == [.applied, .pending])
                try folder.write("1_a.sql", "CREATE TABLE a (b integer)")
                #expect(try await migrations.status(of: client).map(\.state) == [.changed, .pending])
                let error = await #expect(throws: MigrationError.self) { try await migrations.baseline(2, in: client) }
                #expect(error?.code == .alreadyMigrated && error?.file == "2_b.sql")
                await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { _ in try await migrations.baseline(1, in: client) }
                }
            }
        }
    }
}
