import CommandSupport
import Foundation
import KindredCommand
import KindredPostgres
import KindredTesting
import Testing

/// Names, keys and types of generated classes that options, annotations, constraints and the lock file decide.
@Suite struct GenerateNamesTests {
    private let run = DatabaseCommand("generate")

    /// Runs SQL behind the tool's back.
    private func change(_ script: String) async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        try await client.runScript(script)
        await client.close()
    }

    /// Lends a folder that is removed afterwards, and reads its files.
    private func withFolder(_ body: (URL, (String) throws -> String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder) { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }

    private func properties(_ text: String) -> [String] {
        text.matches(of: /public var ([a-zA-Z]+): ([^ ]+) \{/).map { "\($0.1): \($0.2)" }
    }

    /// As Fluent names them: a column without `_id`.
    private static let posts = """
        CREATE TABLE "user" (id uuid PRIMARY KEY, name text NOT NULL);
        CREATE TABLE forum (id uuid PRIMARY KEY);
        CREATE TABLE post (id uuid PRIMARY KEY, author uuid NOT NULL REFERENCES "user", forum uuid REFERENCES forum,
            editor_id uuid REFERENCES "user", text text NOT NULL);
        """

    @Test(.database(.sql(posts))) func relationshipsHaveThePlainName() async throws {
        try await withFolder { folder, read in
            #expect(try await run("--output", folder.path).status == .success)
            let plain = try read("Post+Properties.swift")
            #expect(
                properties(plain) == [
                    "id: UUID", "author: UUID", "forum: UUID?", "editorID: UUID?", "text: String",
                    "authorObject: ToOne<User>", "editor: ToOne<User?>", "forumObject: ToOne<Forum?>",
                ])
            #expect(try await run("--output", folder.path, "--foreign-keys", "id").status == .success)
            let text = try read("Post+Properties.swift")
            #expect(
                properties(text) == [
                    "id: UUID", "authorID: UUID", "forumID: UUID?", "editorID: UUID?", "text: String",
                    "author: ToOne<User>", "editor: ToOne<User?>", "forum: ToOne<Forum?>",
                ])
            // Keys are the database's.
            #expect(text.contains(#".attribute(\Post.authorID, "author", "uuid", name: "authorID")"#))
            #expect(text.contains("author: some ToOneValue<User>,"))
            #expect(text.contains("forum: some OptionalToOneValue<Forum> = Forum?.none"))
            // It stays so until it is said otherwise.
            #expect(try await run("--output", folder.path, "--check").status == .success)
            try await change("ALTER TABLE post ADD reviewer uuid REFERENCES \"user\"")
            #expect(try await run("--output", folder.path).status == .success)
            #expect(properties(try read("Post+Properties.swift")).contains("reviewerID: UUID?"))
            try await change("ALTER TABLE post DROP reviewer")
            #expect(try await run("--output", folder.path, "--foreign-keys", "column").status == .success)
            #expect(try read("Post+Properties.swift") == plain)
        }
    }

    @Test(.database(.sql(posts))) func anAnnotationNamesAProperty() async throws {
        try await withFolder { folder, read in
            try await change(#"COMMENT ON COLUMN post.author IS '@kindred {"property": "writer"}'"#)
            #expect(try await run("--output", folder.path).status == .success)
            #expect(properties(try read("Post+Properties.swift")).contains("writer: UUID"))
            // The relationship's name is free then, and was given when there was none.
            try await change(#"COMMENT ON COLUMN post.author IS '@kindred {"property": "text"}'"#)
            let annotated = try await run("--output", folder.path)
            #expect(annotated.status == .success && annotated.output.contains("up to date"))
            let refused = try await run("--output", folder.path, "--annotated-names")
            #expect(refused.status == .badInput)
            #expect(refused.error.contains("the column author and the column text have one property name, text"))
            for name in ["has space", "1st", "object"] {
                try await change(#"COMMENT ON COLUMN post.author IS '@kindred {"property": "\#(name)"}'"#)
                let refused = try await run("--output", folder.path, "--annotated-names")
                #expect(refused.status == .badInput && refused.error.contains("cannot have the property name \(name)"))
            }
        }
    }

    @Test(.database(.sql(posts))) func whatIsGoneFreesItsName() async throws {
        try await withFolder { folder, read in
            #expect(try await run("--output", folder.path).status == .success)
            try await change(#"ALTER TABLE post RENAME text TO body; ALTER TABLE post ADD "Text" text;"#)
            #expect(try await run("--output", folder.path).status == .success)
            let now = properties(try read("Post+Properties.swift"))
            #expect(now.contains("body: String") && now.contains("text: String?"))
            try await change("DROP TABLE forum CASCADE")
            let output = try await run("--output", folder.path).output
            #expect(output.contains("removed: Forum+Properties.swift"))
            #expect(output.contains("Forum.swift is yours, and its table is gone"))
            try FileManager.default.removeItem(at: folder.appending(path: "Forum.swift"))
            #expect(try await !run("--output", folder.path).output.contains("Forum"))
        }
    }

    @Test(.database(.sql(posts))) func anEditedLockIsHeededAndItsDoublesAreRefused() async throws {
        try await withFolder { folder, read in
            #expect(try await run("--output", folder.path).status == .success)
            let lock = folder.appending(path: ".KindredNames.lock.json")
            func edit(_ old: String, _ new: String) throws {
                let text = try read(lock.lastPathComponent)
                #expect(text.contains(old))
                try Data(text.replacing(old, with: new).utf8).write(to: lock)
            }
            try edit(#""editor_id" : "editorID""#, #""editor_id" : "editing""#)
            #expect(try await run("--output", folder.path).status == .success)
            let before = try read("Post+Properties.swift")
            #expect(properties(before).contains("editing: UUID?"))
            try edit(#""editor_id" : "editing""#, #""editor_id" : "text""#)
            let refused = try await run("--output", folder.path)
            #expect(refused.status == .badInput && refused.error.contains("the column editor_id and the column text"))
            #expect(try read("Post+Properties.swift") == before)
            try edit(#""editor_id" : "text""#, #""editor_id" : "editing""#)
            try edit(#""name" : "Forum""#, #""name" : "Post""#)
            let classes = try await run("--output", folder.path)
            #expect(classes.status == .badInput && classes.error.contains("have one class name, Post"))
        }
    }

    @Test(.database(.sql("CREATE TABLE seat (hall integer NOT NULL, number integer NOT NULL, code text NOT NULL)")))
    func aKeyThatWasChosenStays() async throws {
        try await withFolder { folder, read in
            try await change("CREATE UNIQUE INDEX place ON seat (number, hall)")
            #expect(try await run("--output", folder.path).status == .success)
            let first = try read("Seat+Properties.swift")
            #expect(first.contains(#"key: ["number", "hall"],"#) && first.contains("typealias PrimaryKey = (Int, Int)"))
            // One column alone would come first.
            try await change("ALTER TABLE seat ADD UNIQUE (code)")
            #expect(try await run("--output", folder.path, "--check").status == .success)
            let report = await TestCommand()(
                "doctor", "--all", "--database", try TestDatabase.current.uri, "--generated", folder.path)
            #expect(report.output.contains("K505"), "\(report.output)")
            #expect(report.output.contains("identifies objects by number, hall, and today code would be chosen"))
            try await change("DROP INDEX place")
            #expect(try await run("--output", folder.path).status == .success)
            #expect(try read("Seat+Properties.swift").contains(#"key: ["code"],"#))
            // A primary key is no choice.
            try await change("ALTER TABLE seat ADD PRIMARY KEY (hall, number)")
            #expect(try await run("--output", folder.path).status == .success)
            #expect(try !read("Seat+Properties.swift").contains("key: ["))
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE note (id integer PRIMARY KEY, "Tags" text[] NOT NULL CHECK (array_position("Tags", NULL) IS NULL),
                    names varchar(9)[] CHECK (array_position(names, NULL) IS NULL), numbers numeric(9, 2)[],
                    days date[] NOT NULL, loose text[], late integer[] NOT NULL, other text[]);
                ALTER TABLE note ADD CHECK (array_position(numbers, NULL) IS NULL);
                ALTER TABLE note ADD CHECK (array_position(late, NULL) IS NULL) NOT VALID;
                ALTER TABLE note ADD CHECK (array_position(other, NULL) IS NULL OR id > 0);
                COMMENT ON COLUMN note.days IS '@kindred {"nullElements": false}';
                """)))
    func arraysWithoutNullHavePlainElements() async throws {
        try await withFolder { folder, read in
            #expect(try await run("--output", folder.path).status == .success)
            #expect(
                properties(try read("Note+Properties.swift")) == [
                    "id: Int", "tags: [String]", "names: [String]?", "numbers: [PostgresNumeric]?",
                    "days: [PostgresDate]", "loose: [String?]?", "late: [Int?]", "other: [String?]?",
                ])
            let json = await TestCommand()(
                "inspect", "--database", try TestDatabase.current.uri, "--format", "json")
            #expect(json.output.matches(of: /"nullElements": false/).count == 4, "\(json.output)\(json.error)")
        }
    }
}
