import CommandSupport
import Foundation
import KindredCommand
import KindredPostgres
import KindredTesting
import TestSupport
import Testing

@Suite struct GenerateTests {
    private static let schema = """
        CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE email (id integer PRIMARY KEY, address text, person_id integer REFERENCES person);
        CREATE SCHEMA other;
        CREATE TABLE other.thing (id integer PRIMARY KEY);
        """

    private let run = DatabaseCommand("generate")

    /// Changes the database behind the tool's back.
    private func change(_ statements: SQL...) async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        for statement in statements { try await client.query(statement) }
        await client.close()
    }

    /// Lends a folder that is removed afterwards.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(.database(.file("../../sql/demo.sql"))) func theDemoModelsAreCurrent() async throws {
        try await checkModels("DemoModels")
    }

    @Test(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand"), .database(.sql(Chinook.sql ?? "")))
    func theChinookModelsAreCurrent() async throws {
        try await checkModels("ChinookModels")
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func theTypeModelsAreCurrent() async throws {
        try await checkModels("TypeModels")
    }

    /// Finds the classes of a folder current; with KINDRED_UPDATE_MODELS they are written instead.
    private func checkModels(_ name: String) async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: name)
        let isUpdate = ProcessInfo.processInfo.environment["KINDRED_UPDATE_MODELS"] != nil
        let (status, output, error) = try await run(["--output", folder.path] + (isUpdate ? [] : ["--check"]))
        #expect(status == .success, "\(output)\(error)")
    }

    @Test(.database(.sql(schema))) func theUsersFilesAreWrittenOnce() async throws {
        try await withFolder { folder in
            #expect(try await run("--output", folder.path).status == .success)
            let own = folder.appending(path: "Person.swift")
            try Data("// mine".utf8).write(to: own)
            let (status, output, _) = try await run("--output", folder.path)
            #expect(status == .success && output.contains("up to date"))
            #expect(try String(contentsOf: own, encoding: .utf8) == "// mine")
            #expect(try await run("--output", folder.path, "--check").status == .success)
        }
    }

    @Test(.database(.sql(schema)), arguments: ["Person.swift", ".KindredNames.lock.json", "Email+Properties.swift"])
    func whatCannotBeReadIsNotWrittenOver(name: String) async throws {
        try await withFolder { folder in
            // A folder cannot be read as a file, not even by root.
            let taken = folder.appending(path: name)
            try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: true)
            let (status, output, error) = try await run("--output", folder.path)
            #expect(status == .failure && output.isEmpty && error.contains(name))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        }
    }

    @Test(.database(.sql(schema))) func aFileOfTheUsersIsNotWrittenOver() async throws {
        try await withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let own = folder.appending(path: "Person+Properties.swift")
            try Data("struct Mine {}".utf8).write(to: own)
            for options in [[], ["--check"]] {
                let (status, output, error) = try await run(["--output", folder.path] + options)
                #expect(status == .failure && output.isEmpty && error.contains("Person+Properties.swift"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [own.lastPathComponent])
            #expect(try String(contentsOf: own, encoding: .utf8) == "struct Mine {}")
            try FileManager.default.removeItem(at: own)
            #expect(try await run("--output", folder.path).status == .success)
            // Where a class belongs now, an enum of before is no file of the user's.
            let person = folder.appending(path: "Person.swift")
            try FileManager.default.removeItem(at: person)
            try FileManager.default.copyItem(at: own, to: person)
            #expect(try await run("--output", folder.path).output.contains("changed: Person.swift"))
            #expect(try String(contentsOf: person, encoding: .utf8).contains("class Person"))
        }
    }

    @Test(.database(.sql(schema))) func addressesInTheWrongPlaceAreNotRepeated() async throws {
        let address = "postgres://app:s3cret@db/shop"
        for arguments in [
            ["generate", "--output", "models", address], ["inspect", address], ["inspect", "--schema", address],
            ["generate", "--output", "models", "--entity=\(address)"], [address], ["--verbose", address],
        ] {
            let outcome = await TestCommand()(arguments)
            #expect(outcome.status == .usage && outcome.error.contains("--database"), "\(arguments)")
            #expect(!(outcome.output + outcome.error).contains("s3cret"), "\(arguments)")
        }
    }

    @Test func anEmptyAddressIsSaidToBeEmpty() async throws {
        for arguments in [["generate", "--output", "models", "--database", ""], ["inspect", "--database", ""]] {
            let outcome = await TestCommand()(arguments)
            #expect(outcome.status == .usage && outcome.error.contains("--database is empty"), "\(outcome.error)")
        }
    }

    @Test(.database) func largeDifferencesAreShownAtOnce() async throws {
        let tables = (0..<400).map { "CREATE TABLE table\($0) (id integer PRIMARY KEY, name text);" }
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        try await client.runScript(tables.joined(separator: "\n"))
        await client.close()
        try await withFolder { folder in
            let (status, output, _) = try await run("--output", folder.path, "--check")
            let lines = output.split(separator: "\n")
            #expect(status.rawValue == 1 && lines.count { $0.hasPrefix("+++ ") } == 802)
            #expect(lines.allSatisfy { $0.hasPrefix("+") || $0.hasPrefix("---") || $0.hasPrefix(" ") })
        }
    }

    @Test(.database(.sql(schema))) func checkShowsWhatDiffers() async throws {
        try await withFolder { folder in
            #expect(try await run("--output", folder.path).status == .success)
            try await change("ALTER TABLE person ADD nickname text", "DROP TABLE other.thing")
            let (status, output, error) = try await run("--output", folder.path, "--check")
            #expect(status.rawValue == 1 && error.contains("differ"))
            #expect(output.contains("+    public var nickname: String? {") && output.contains("+++ /dev/null"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "Nothing").path))
            let written = try await run("--output", folder.path)
            #expect(written.status == .success && written.output.contains("removed: Thing+Properties.swift"))
            #expect(try await run("--output", folder.path, "--check").status == .success)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE visit (id integer PRIMARY KEY, began timestamptz NOT NULL, seen timestamp, day date, days date[],
                    spans tstzrange, times timestamptz[]);
                """)))
    func datesAreOfTheTypesThatAreAskedFor() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "Visit+Properties.swift")
            func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }
            #expect(try await run("--output", folder.path).status == .success)
            let plain = try text()
            #expect(plain.contains("public var began: PostgresTimestamp {") && plain.contains("where Self: Visit {"))
            #expect(
                plain.contains("public var seen: PostgresTimestamp? {")
                    && plain.contains("public var day: PostgresDate? {"))
            #expect(plain.contains("write .today, or PostgresDate(date, in: timeZone)"))
            #expect(try await run("--output", folder.path, "--dates", "foundation").status == .success)
            let dated = try text()
            #expect(dated.contains("public var began: Date {") && dated.contains("public var seen: Date? {"))
            #expect(dated.contains("column `began`, without infinities; 1970-01-01 while a new object has no value."))
            #expect(dated.contains("public var times: [Date?]? {") && dated.contains("public var day: PostgresDate? {"))
            #expect(dated.contains("PostgresRange<PostgresTimestamp>") && dated.contains("public import Foundation"))
            #expect(!dated.contains("PostgresTimestamp(clamping"))
            // It stays so until it is said otherwise.
            #expect(try await run("--output", folder.path, "--check").status == .success)
            #expect(try await run("--output", folder.path, "--dates", "postgres").status == .success)
            #expect(try text() == plain)
            #expect(try await run("--output", folder.path, "--check").status == .success)
            #expect(try await run("--output", folder.path, "--dates", "swift").status == .usage)
        }
    }

    @Test(.database(.sql(schema))) func aNameOnceGivenStays() async throws {
        try await withFolder { folder in
            #expect(try await run("--output", folder.path).status == .success)
            // Named after its table it would now be claimed twice.
            try await change("ALTER TABLE email ADD sender_id integer REFERENCES person")
            #expect(try await run("--output", folder.path).status == .success)
            let text = try String(contentsOf: folder.appending(path: "Person+Properties.swift"), encoding: .utf8)
            #expect(text.contains(#".toMany(\Person.emails, "public_email_email_person_id_fkey", name: "emails")"#))
            #expect(
                text.contains(
                    #".toMany(\Person.senderEmails, "public_email_email_sender_id_fkey", name: "senderEmails")"#))
        }
    }

    @Test(.database(.sql(schema))) func annotatedNamesComeWhenTheyAreAskedFor() async throws {
        try await withFolder { folder in
            #expect(try await run("--output", folder.path).status == .success)
            try await change(
                #"""
                COMMENT ON CONSTRAINT email_person_id_fkey ON email IS '@kindred {"name": "owner", "inverse": "addresses"}'
                """#)
            func text(_ name: String) throws -> String {
                try String(contentsOf: folder.appending(path: "\(name)+Properties.swift"), encoding: .utf8)
            }
            #expect(try await run("--output", folder.path).status == .success)
            #expect(try text("Email").contains("var person: ToOne<Person?>"))
            #expect(try await run("--output", folder.path, "--annotated-names").status == .success)
            #expect(try text("Email").contains("var owner: ToOne<Person?>"))
            #expect(try text("Person").contains("var addresses: ToMany<Email>"))
            // From then on they are kept.
            #expect(try await run("--output", folder.path, "--check").status == .success)
        }
    }

    @Test(.database(.sql(schema))) func aNewColumnChangesFewLines() async throws {
        try await withFolder { folder in
            func lines() throws -> [Substring] {
                try String(contentsOf: folder.appending(path: "Email+Properties.swift"), encoding: .utf8)
                    .split(separator: "\n")
            }
            #expect(try await run("--output", folder.path).status == .success)
            let before = try lines()
            try await change("ALTER TABLE email ADD sent date")
            #expect(try await run("--output", folder.path).status == .success)
            let difference = try lines().difference(from: before)
            // The overload for `Date` is the largest part.
            #expect(difference.insertions.count <= 30 && difference.removals.count <= 4, "\(difference)")
            try await change("ALTER TABLE email ADD note text")
            let dated = try lines()
            #expect(try await run("--output", folder.path).status == .success)
            let small = try lines().difference(from: dated)
            #expect(small.insertions.count <= 10 && small.removals.isEmpty, "\(small)")
        }
    }

    @Test(.database(.sql(schema))) func newRowsNeedWhatTheDatabaseDoesNotFill() async throws {
        try await change(
            "CREATE TABLE visit (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at date NOT NULL, kind text NOT NULL DEFAULT 'x', "
                + "email_id integer NOT NULL REFERENCES email, person_id integer REFERENCES person)")
        try await withFolder { folder in
            #expect(try await run("--output", folder.path, "--access", "internal").status == .success)
            let text = try String(contentsOf: folder.appending(path: "Visit+Properties.swift"), encoding: .utf8)
            #expect(
                text.contains(
                    """
                        static func new(
                            at: PostgresDate,
                            kind: String? = nil,
                            email: some ToOneValue<Email>,
                            person: some OptionalToOneValue<Person> = Person?.none
                        ) -> NewValues<Visit> {
                    """), "\(text)")
        }
    }

    @Test(.database(.sql(schema))) func entitiesAreChosen() async throws {
        try await withFolder { folder in
            #expect(
                try await run("--output", folder.path, "--entity", "e*l", "--access", "internal").status == .success)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(
                names == [".KindredNames.lock.json", "Email+Properties.swift", "Email.swift", "KindredModels.swift"])
            let text = try String(contentsOf: folder.appending(path: "Email+Properties.swift"), encoding: .utf8)
            #expect(text.contains("    var address: String? {") && !text.contains("public var"))
            #expect(try await run("--output", folder.path, "--entity", "nothing").status == .badInput)
            #expect(try await run("--output", folder.path, "--schema", "nowhere").status == .badInput)
        }
    }

    @Test(.database(.sql(schema))) func whatTheSearchPathDoesNotLeadToIsQualified() async throws {
        func mappings(_ arguments: String...) async throws -> [Bool] {
            var found: [Bool] = []
            try await withFolder { (folder) async throws in
                #expect(try await run(["--output", folder.path] + arguments).status == .success)
                for name in ["Person", "Thing"] {
                    let file = folder.appending(path: "\(name)+Properties.swift")
                    guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                    found.append(text.contains("        isQualified: true,\n        ["))
                }
            }
            return found
        }
        #expect(try await mappings() == [false, true])
        // Schemas that are chosen are looked in first.
        #expect(try await mappings("--schema", "other") == [false])
    }

    @Test(.database(.sql(schema))) func aForeignKeyThatIsThereTwiceRenamesNothing() async throws {
        try await change(
            "CREATE TABLE label (id integer PRIMARY KEY)",
            "CREATE TABLE tag (person_id integer CONSTRAINT p REFERENCES person, label_id integer CONSTRAINT l REFERENCES label, PRIMARY KEY (person_id, label_id))"
        )
        try await withFolder { folder in
            func declarations() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().flatMap { name in
                    try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n")
                        .filter { $0.contains(" var ") || $0.contains(".to") }.map { "\(name): \($0)" }
                }.sorted()
            }
            #expect(try await run("--output", folder.path).status == .success)
            let before = try declarations()
            try await change(
                "ALTER TABLE email ADD CONSTRAINT a_copy FOREIGN KEY (person_id) REFERENCES person",
                "ALTER TABLE tag ADD CONSTRAINT a_label FOREIGN KEY (label_id) REFERENCES label",
                "ALTER TABLE tag ADD CONSTRAINT a_person FOREIGN KEY (person_id) REFERENCES person")
            #expect(try await run("--output", folder.path).status == .success)
            #expect(try declarations() == before && before.count > 10)
        }
    }
}
