import CommandSupport
import Foundation
import KindredCommand
import KindredTesting
import Testing

@Suite(.database("CREATE TABLE person (id integer PRIMARY KEY, name text, age integer)"))
struct DiffCommandTests {
    private let run = DatabaseCommand("diff", hasOption: false)

    private func withFile<T>(_ name: String, _ text: String, _ body: (String) async throws -> T) async throws -> T {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }

    @Test func aModelIsASide() async throws {
        let fixture = URL(filePath: #filePath).appending(path: "../../ModelImport/Fixtures/Friends.xcdatamodeld")
        let model = fixture.standardized.path
        let same = try await run(model, model, "--check")
        #expect(same.status == .success && same.output == "-- The schemas are the same.\n", "\(same)")
        let new = try await run("DATABASE", model, "--allow-drop")
        #expect(new.status == .success && new.output.contains("CREATE TABLE"), "\(new)")
        let none = try await run("DATABASE", "nothing.xcdatamodeld")
        #expect(none.status.rawValue == 65, "\(none)")
    }

    @Test func keysWithAnotherMeaningAreNamed() async throws {
        let table =
            "CREATE TABLE person (id int PRIMARY KEY); CREATE TABLE task (id int PRIMARY KEY, owner_id int REFERENCES person"
        try await withFile("old.sql", "\(table));") { (old) async throws in
            try await withFile("new.sql", "\(table), author_id int REFERENCES person);") { (new) async throws in
                let result = try await run(old, new)
                let heading = "-- Keys of relationships with another meaning:\n"
                #expect(result.status == .success && result.output.hasPrefix(heading), "\(result)")
                let line =
                    "--   public.task.person is no key any more; it led to public.person by owner_id = id, as owner does\n"
                #expect(result.output.contains(line), "\(result)")
                let same = try await run(new, new)
                #expect(!same.output.contains(heading))
            }
        }
    }

    @Test func theSameEndsWithZeroAndADifferenceIsSQL() async throws {
        let same = "CREATE TABLE person (id integer PRIMARY KEY, name text, age integer);"
        try await withFile("same.sql", same) { (file) async throws in
            let result = try await run("DATABASE", file, "--check")
            #expect(result.status == .success && result.output == "-- The schemas are the same.\n", "\(result)")
        }
        try await withFile("new.sql", "CREATE TABLE person (id bigint PRIMARY KEY, name text, age integer);") {
            (file) async throws in
            let result = try await run("DATABASE", file)
            #expect(result.status == .success, "\(result)")
            #expect(
                result.output == """
                    -- Tried out: afterwards nothing is left to change.
                    -- Step 1 of 1: one transaction
                    BEGIN;
                    SET LOCAL lock_timeout = '5s';

                    -- ACCESS EXCLUSIVE on public.person; rewrites the table
                    ALTER TABLE "public"."person" ALTER COLUMN "id" TYPE bigint;

                    COMMIT;

                    """)
            let checked = try await run("DATABASE", file, "--check")
            #expect(checked.status == .failure && checked.error == "kindred: The schemas differ.\n")
        }
    }

    @Test func whatCanLoseDataNeedsLeave() async throws {
        try await withFile("less.sql", "CREATE TABLE person (id integer PRIMARY KEY, surname text);") {
            (file) async throws in
            let refused = try await run("DATABASE", file)
            #expect(refused.status == .failure && refused.error.contains("--allow-drop"))
            #expect(!refused.output.contains("\nALTER TABLE \"public\".\"person\" DROP"))
            #expect(refused.output.contains("--   ALTER TABLE \"public\".\"person\" DROP COLUMN \"age\""))
            #expect(refused.output.contains("say --rename public.person.name=surname"), "\(refused.output)")
            let dropped = try await run("DATABASE", file, "--allow-drop", "--rename", "public.person.name=surname")
            #expect(dropped.status == .success, "\(dropped)")
            #expect(dropped.output.contains("RENAME COLUMN \"name\" TO \"surname\""))
            #expect(dropped.output.contains("CAN LOSE DATA\nALTER TABLE \"public\".\"person\" DROP COLUMN \"age\""))
        }
    }

    @Test func anInspectionIsComparedAsFarAsItGoes() async throws {
        let uri = try TestDatabase.current.uri
        let outcome = await TestCommand()("inspect", "--format", "json", "--database", uri)
        try await withFile("model.json", outcome.output) { (file) async throws in
            #expect(try await run(file, "DATABASE", "--check").status == .success)
            try await withFile("new.sql", "CREATE TABLE person (id bigint PRIMARY KEY, name text NOT NULL);") {
                (sql) async throws in
                let result = try await run(file, sql, "--check")
                #expect(result.status == .failure)
                #expect(result.output.contains("public.person.id was integer not null and is bigint not null."))
                #expect(result.output.contains("public.person.age is only on the old side (integer)."))
                #expect(result.output.contains("Compared is what the JSON of an inspection holds"))
            }
        }
        try await withFile("bad.json", "[[[[") { (file) async throws in
            let result = try await run(file, "DATABASE")
            #expect(result.status.rawValue == 65 && result.error.contains("is not the JSON"))
        }
    }

    @Test func whatIsWrongIsOneLineWithItsStatus() async throws {
        #expect(try await run("DATABASE").status == .usage)
        let three = try await run("postgres://u:secret@/a", "postgres://u:secret@/b", "postgres://u:secret@/c")
        #expect(three.status == .usage && !three.error.contains("secret"))
        #expect(try await run("/nowhere.sql", "DATABASE").status.rawValue == 65)
        try await withFile("bad.sql", "CREATE TABLE a ();\nCREATE\nTABEL b ();") { (file) async throws in
            let result = try await run(file, "DATABASE")
            #expect(result.status.rawValue == 65 && result.error.contains("bad.sql:3: syntax error"), "\(result)")
            #expect(result.error.split(separator: "\n").count == 1)
        }
        try await withFile("copy.sql", "CREATE TABLE a ();\nCOPY a FROM stdin;\n\\.\n") { (file) async throws in
            #expect(try await run(file, "DATABASE").error.contains("copy.sql:2: The script holds rows"))
        }
        let unreachable = try await run("postgres://u:secret@/x?host=/nowhere", "DATABASE")
        #expect(unreachable.status == .unavailable && !unreachable.error.contains("secret"))
        try await withFile("same.sql", "CREATE TABLE person ();") { (file) async throws in
            #expect(try await run("DATABASE", file, "--rename", "nobody=person").status == .usage)
            #expect(try await run("DATABASE", file, "--rename", "person").status == .usage)
        }
    }

    @Test func theOutputFileHasTheBytes() async throws {
        let name = "a\u{202E}b"
        try await withFile(
            "odd.sql", "CREATE TABLE person (id integer PRIMARY KEY, name text, age integer, \"\(name)\" text);"
        ) { (file) async throws in
            #expect(try await run("DATABASE", file).error.contains("--output"))
            try await withFile("out.sql", "") { (output) async throws in
                #expect(try await run("DATABASE", file, "--output", output).status == .success)
                #expect(try String(contentsOfFile: output, encoding: .utf8).contains("ADD COLUMN \"\(name)\" text;"))
            }
        }
    }
}
