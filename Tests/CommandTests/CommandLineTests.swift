import CommandSupport
import Foundation
import KindredCommand
import KindredPostgres
import KindredTesting
import Testing

/// The tool's texts before and around its commands.
@Suite struct CommandLineTests {
    private let run = TestCommand()

    @Test(arguments: [
        (
            ["inpsect", "--database", "postgres://u:secret@h/d"],
            #"There is no command "inpsect"; did you mean "inspect"? See `kindred --help`."#
        ),
        (["migrat", "Migrations", "--baseline"], #"There is no command "migrat"; did you mean "migrate"?"#),
        (["nothing", "--nonsense"], #"There is no command "nothing"; there are inspect, generate, doctor, "#),
        (
            ["migrate", "stauts", "--chekc"],
            #"There is no folder or subcommand "stauts"; did you mean "status"? See `kindred migrate --help`."#
        ),
        (
            ["migrate", "undo", "Migrations", "--steps", "3"],
            #"There is no folder or subcommand "undo"; there are apply, status, resolve, lint."#
        ),
        (
            ["--format", "json", "inspect"],
            "Options come after their command, as in kindred inspect --format. See `kindred inspect --help`."
        ),
        (
            ["--database=postgres://u:secret@h/d", "doctor"],
            "Options come after their command, as in kindred doctor --database."
        ),
    ]) func aWrongCommandIsNamedBeforeItsOptions(_ arguments: [String], _ message: String) async {
        let (status, output, error) = await run(arguments)
        #expect(status == 64 && output.isEmpty)
        #expect(error.hasPrefix("kindred: " + message), "\(error)")
        #expect(error.split(separator: "\n").count == 1 && !error.contains("secret"))
    }

    @Test(arguments: [[], ["--help"], ["-h"], ["help"]])
    func helpBeginsWithTheFirstThingToDo(_ arguments: [String]) async throws {
        let (status, output, error) = await run(arguments)
        #expect(status == 0 && error.isEmpty)
        let usage = try #require(output.range(of: "USAGE"))
        for first in ["kindred inspect --database postgres://user@host/name", "kindred demo", "DATABASE_URL"] {
            let place = try #require(output.range(of: first), "\(output)")
            #expect(place.upperBound < usage.lowerBound)
        }
        #expect(output.contains("migrate") && output.contains("--version"))
    }

    @Test(arguments: [["--version"], ["--generate-completion-script", "bash"], ["inspect", "--help"]])
    func theParsersOwnRequestsAreAnswered(_ arguments: [String]) async {
        let (status, output, error) = await run(arguments)
        #expect(status == 0 && !output.isEmpty && error.isEmpty)
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        .database("CREATE TABLE person (id integer PRIMARY KEY)"))
    func outputThatCannotBeWrittenIsAFailure() async throws {
        let database = ["--database", try TestDatabase.current.uri]
        for arguments in [["--help"], ["inspect"] + database, ["inspect", "--format", "json"] + database] {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let (status, error) = try await BuiltTool.run(arguments, output: full)
            #expect(status == 1, "\(arguments)")
            #expect(error == "kindred: The output could not be written: No space left on device.\n")
        }
        // Without an output no file or socket that the tool opens gets the printed text.
        for arguments in [["--help"], ["inspect"] + database] {
            let (status, error) = try await BuiltTool.run(arguments, output: nil)
            #expect(
                status == 1 && error == "kindred: The output could not be written: Bad file descriptor.\n", "\(error)")
        }
        // Another failure keeps its status.
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let (status, error) = try await BuiltTool.run(["inspect", "nobody"] + database, output: full)
        #expect(status == 65 && error.split(separator: "\n").count == 1, "\(error)")
    }

    @Test(
        .database(
            """
            CREATE TABLE person (id integer PRIMARY KEY);
            CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person);
            CREATE TABLE letter (id integer PRIMARY KEY);
            CREATE VIEW address AS SELECT id FROM email;
            CREATE SCHEMA closed;
            CREATE TABLE closed.thing (id integer PRIMARY KEY);
            """))
    func aRoleWithoutRightsIsToldSo() async throws {
        let uri = try TestDatabase.current.uri
        let role = "visitor_\(UInt32.random(in: 0 ..< .max))"
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-classes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await admin.query("CREATE ROLE \(identifier: role)")
        #expect(await run(["generate", "--database", uri, "--output", folder.path]).status == 0)
        let classes = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let asRole = ["--database", uri + (uri.contains("?") ? "&" : "?") + "options=-c%20role%3D\(role)"]
        for command in [
            ["inspect"], ["inspect", "--format", "json"], ["inspect", "person"], ["diagram"],
            ["generate", "--output", folder.path],
        ] {
            let (status, output, error) = await run(command + asRole)
            #expect(status == 1 && output.isEmpty, "\(command)")
            #expect(
                error == """
                    kindred: 0 entities: the role \(role) may read none of the 5 tables and views. Grant it SELECT on them and \
                    USAGE on their schemas.

                    """)
        }
        // The classes of tables that it may not read are not removed.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == classes)
        try await admin.query("GRANT SELECT ON person, letter TO \(identifier: role)")
        let (status, output, error) = await run(["inspect"] + asRole)
        #expect(status == 0 && output.hasPrefix("2 entities, 0 relationships\n"), "\(output)")
        #expect(
            error
                == "Without 3 tables and views that the role \(role) may not read: closed.thing, public.address, public.email.\n"
        )
        #expect(await run(["inspect", "--database", uri]).error.isEmpty)
        try await admin.query("DROP OWNED BY \(identifier: role)")
        try await admin.query("DROP ROLE \(identifier: role)")
        await admin.close()
    }
}
