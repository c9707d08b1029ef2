import CommandSupport
import Foundation
import KindredCommand
import KindredMigrations
import KindredTesting
import Testing

/// `kindred diff --write`, and how the command ends.
@Suite(.database("CREATE TABLE person (id integer PRIMARY KEY, name text)")) struct DiffWriteTests {
    private let run = DatabaseCommand("diff", hasOption: false)

    private func files(_ folder: MigrationFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "sides" }.sorted()
    }

    /// Sides as files, beside the migrations.
    private func side(_ name: String, _ text: String, in folder: MigrationFolder) throws -> String {
        try folder.write("sides/\(name).sql", text)
        return folder.path + "/sides/\(name).sql"
    }

    @Test func thePlanIsTheNextFilesAndRuns() async throws {
        let to = """
            CREATE TYPE mood AS ENUM ('sad');
            CREATE TABLE person (id bigint PRIMARY KEY, name text NOT NULL, mood mood);
            CREATE INDEX ON person (name);
            """
        try await MigrationFolder.with(["0007_first.sql": "SELECT 1;"]) { (folder) async throws in
            let new = try side("new", to, in: folder)
            let first = try await run("DATABASE", new, "--write", folder.path, "--name", "moods")
            #expect(first.status == .success && !first.output.contains("ALTER TABLE"), "\(first)")
            let names = try files(folder)
            #expect(
                names.count > 2 && names.contains("0008_moods.sql") && first.output.contains("-- Wrote 0008_moods.sql.")
            )
            let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            let ran = try await folder.migrations.apply(to: client)
            await client.close()
            #expect(ran.map(\.name) == names && ran.contains { !$0.isTransaction })
            // Nothing is left, and nothing is written.
            let second = try await run("DATABASE", new, "--write", folder.path, "--check")
            #expect(second.status == .success && second.output == "-- The schemas are the same.\n", "\(second)")
            #expect(try files(folder) == names)
        }
    }

    @Test func numbersGoOnAsTheyAre() async throws {
        try await MigrationFolder.with(["20240131120000_a.sql": "SELECT 1;"]) { (folder) async throws in
            let new = try side("new", "CREATE TABLE person (id integer PRIMARY KEY, name text, n integer);", in: folder)
            #expect(try await run("DATABASE", new, "--write", folder.path).status == .success)
            let written = try #require(try files(folder).last)
            #expect(written > "20250101000000" && written.hasSuffix("_change.sql") && written.count == 25)
            let fresh = folder.path + "/sides/fresh"
            #expect(try await run("DATABASE", new, "--write", fresh).status == .success)
            #expect(try FileManager.default.contentsOfDirectory(atPath: fresh) == ["0001_change.sql"])
        }
    }

    private static let logged = """
        CREATE TABLE log (who text, what text);
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO log (who) VALUES ('me'); RETURN NULL; END $$;
        CREATE TRIGGER l AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION logged();
        """

    @Test func aPlanThatFailsIsWrittenOnlyWithoutAProof() async throws {
        try await MigrationFolder.with([:]) { (folder) async throws in
            let old = try side("old", Self.logged, in: folder)
            let new = try side("new", Self.logged.replacing("who text, ", with: ""), in: folder)
            let refused = try await run(old, new, "--allow-drop", "--write", folder.path)
            #expect(refused.status == .failure && refused.error.contains("Nothing was written"), "\(refused)")
            #expect(try files(folder).isEmpty)
            let leave = try await run(old, new, "--allow-drop", "--no-proof", "--write", folder.path)
            #expect(leave.status == .success, "\(leave)")
            #expect(try files(folder) == ["0001_change.sql"])
        }
    }

    @Test func theStatusSaysWhatIsLeft() async throws {
        try await MigrationFolder.with([:]) { (folder) async throws in
            let table = "CREATE TABLE t (id integer);"
            let old = try side("old", table, in: folder)
            // No statement is planned for it.
            let new = try side(
                "new",
                table + "CREATE OPERATOR CLASS c FOR TYPE integer USING btree AS "
                    + "OPERATOR 1 <, FUNCTION 1 btint4cmp(integer, integer);", in: folder)
            let named = try await run(old, new)
            #expect(named.status == .success && named.output.contains("operator class"), "\(named)")
            #expect(try await run(old, new, "--check").status == .failure)
            #expect(try await run(old, old, "--check", "--no-proof").status == .success)
            // A copy of the database lacks its publication, on both sides the same: that is said, and the rest is tried out.
            let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            try await client.runScript("CREATE PUBLICATION p")
            await client.close()
            let rest = try await run("DATABASE", "DATABASE", "--check")
            #expect(rest.status == .success && rest.output.contains("The publication p: no copy has it."), "\(rest)")
            #expect(try await run("DATABASE", "DATABASE").status == .success)
            #expect(try await run("DATABASE", "DATABASE", "--check", "--no-proof").status == .success)
        }
    }

    @Test func optionsThatDoNotGoTogetherAreRefused() async throws {
        #expect(try await run("DATABASE", "DATABASE", "--write", "a", "--output", "b").status == .usage)
        #expect(try await run("DATABASE", "DATABASE", "--name", "a").status == .usage)
        #expect(try await run("DATABASE", "DATABASE", "--write", "a", "--name", "a/b").status == .usage)
    }
}
