import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredDiagram
import KindredTesting
import Testing

/// `kindred diagram`: files, checks and exit codes.
@Suite(
    .database(
        """
        CREATE TABLE person (id integer PRIMARY KEY, name text);
        CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person);
        CREATE TABLE tag (id integer PRIMARY KEY);
        CREATE TABLE person_tag (person_id integer REFERENCES person, tag_id integer REFERENCES tag,
            PRIMARY KEY (person_id, tag_id));
        """))
struct DiagramCommandTests {
    private let run = DatabaseCommand("diagram")

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-diagram-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func eachLanguageIsPrinted() async throws {
        #expect(try await run().output.hasPrefix("digraph"))
        #expect(try await run("--format", "mermaid").output.hasPrefix("classDiagram"))
        #expect(try await run("--format", "mermaid", "--notation", "crow").output.hasPrefix("erDiagram"))
        #expect(try await run("--format", "json").output.hasPrefix("{\"format\": 1"))
        let dbml = try await run("--format", "dbml")
        #expect(dbml.output.contains("Table \"public\".\"person_tag\""), "\(dbml.output)")
        #expect(try await run("--helpers").output.contains("\"public.person_tag\" ["))
        let near = try await run("--around", "tag", "--distance", "2", "--format", "mermaid")
        #expect(near.output.contains("email") && near.status == 0)
    }

    @Test func viewsAreShownOnDemand() async throws {
        try await TestDatabase.current.connect().client.runScript(
            "CREATE VIEW adult AS SELECT id, name FROM person; CREATE SCHEMA report; CREATE VIEW report.names AS SELECT name FROM person"
        )
        for format in ["dot", "mermaid", "dbml", "json"] {
            #expect(try await !run("--format", format).output.contains("adult"))
            #expect(try await run("--format", format, "--views").output.contains("adult"))
        }
        #expect(try await run("--around", "adult").output.contains("\"public.adult\" ["))
        #expect(try await run("--entity", "adult").output.contains("\"public.adult\" ["))
        // A title without the schema: nothing of the other one is shown.
        #expect(try await run().output.contains("<B>person</B>"))
        let empty = try await run("--schema", "report")
        #expect(empty.status == 0 && empty.error.contains("--views") && empty.error.split(separator: "\n").count == 1)
        #expect(try await run("--schema", "report", "--views").error.isEmpty)
        #expect(try await run("--help").output.contains("--views"))
    }

    @Test func theLinesOfAHubAreDrawnOnDemand() async throws {
        let others = (1...21).map { "CREATE TABLE t\($0) (id integer PRIMARY KEY, p integer REFERENCES person);" }
        try await TestDatabase.current.connect().client.runScript(others.joined())
        let labels = try await run().output
        #expect(labels.contains(#""public.person@public.t7" -> "public.t7""#), "\(labels)")
        let lines = try await run("--hub-lines").output
        #expect(!lines.contains("@") && lines.contains(#" -> "public.t7""#), "\(lines)")
        #expect(try await run("--help").output.contains("--hub-lines"))
    }

    @Test func aFileIsWrittenComparedAndFoundChanged() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "schema.mmd").path
            let missing = try await run("--output", file, "--check")
            #expect(missing.status == 1 && missing.error.contains("There is no"))
            #expect(try await run("--output", file).output.hasPrefix("new:"))
            #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("classDiagram"))
            #expect(try await run("--output", file).output.contains("up to date"))
            #expect(try await run("--output", file, "--check").status == 0)
            try await TestDatabase.current.connect().client.runScript("ALTER TABLE tag ADD COLUMN colour text")
            let drift = try await run("--output", file, "--check")
            #expect(drift.status == 1 && drift.error.split(separator: "\n").count == 1)
            #expect(drift.output.contains("+    text? colour"), "\(drift.output)")
            #expect(try await run("--output", file).output.hasPrefix("changed:"))
            #expect(try await run("--output", file, "--check").status == 0)
        }
    }

    @Test(arguments: [
        ["--distance", "2"], ["--around", "tag", "--distance", "-1"], ["--format", "gif"], ["--check"],
        ["--format", "png"], ["--site", "x", "--output", "y"], ["--site", "x", "--format", "dot"],
        ["--output", "x.pdf", "--check"], ["--detail", "all"], ["--draw-timeout", "0"],
    ])
    func wrongUsageIsOneLineAndStatus64(arguments: [String]) async {
        let outcome = await TestCommand("diagram")(arguments)
        #expect(outcome.status.rawValue == 64 && outcome.output.isEmpty, "\(outcome.output)")
        #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
    }

    @Test func unknownNamesAreStatus65AndSayWhatIsNear() async throws {
        let near = try await run("--around", "persn")
        #expect(near.status == 65 && near.error.contains("person") && near.error.split(separator: "\n").count == 1)
        #expect(try await run("--schema", "nowhere").status == 65)
        #expect(try await run("--entity", "x*").status == 65)
    }

    @Test func anUnreachableDatabaseIsStatus69() async {
        let arguments = ["diagram", "--database", "postgres:///x?host=/nonexistent"]
        let outcome = await TestCommand()(arguments)
        #expect(outcome.status == 69)
        #expect(outcome.error.split(separator: "\n").count == 1)
    }

    @Test func aPictureWithoutGraphvizIsStatus69AndNamesThePackage() async throws {
        try await withFolder { folder in
            let picture = folder.appending(path: "schema.svg").path
            let outcome = try await run("--output", picture, environment: ["PATH": folder.path])
            #expect(outcome.status == 69 && outcome.error.contains("graphviz"), "\(outcome)")
            #expect(outcome.error.split(separator: "\n").count == 1)
            #expect(!FileManager.default.fileExists(atPath: picture))
        }
    }

    @Test func whatTakesTooLongIsDrawnWithNamesAlone() async throws {
        try await withFolder { folder in
            let program = folder.appending(path: "dot")
            let script = "#!/bin/sh\nif /bin/grep -q PORT \"$2\"; then exec /bin/sleep 600; fi\necho '<svg/>'\n"
            try Data(script.utf8).write(to: program)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            let outcome = try await run(
                "--format", "svg", "--draw-timeout", "1", environment: ["PATH": folder.path])
            #expect(outcome.status == 0 && outcome.output == "<svg/>\n", "\(outcome)")
            #expect(outcome.error.contains("only names are drawn"))
        }
    }

    @Test func aFileThatCannotBeWrittenIsOneLine() async throws {
        let outcome = try await run("--output", "/nonexistent/schema.dot")
        #expect(outcome.status == 1 && outcome.error.split(separator: "\n").count == 1)
    }

    @Test func theHelpHasExamples() async {
        let outcome = await TestCommand()("diagram", "--help")
        #expect(outcome.status == .success)
        #expect(outcome.output.contains("kindred diagram --output schema.svg"))
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func picturesAreWrittenByTheFilesEnding() async throws {
        try await withFolder { folder in
            for (ending, start) in [("svg", "<?xml"), ("png", "\u{89}PNG"), ("pdf", "%PDF")] {
                let file = folder.appending(path: "schema.\(ending)")
                #expect(try await run("--output", file.path).status == 0)
                let bytes = try Data(contentsOf: file).prefix(5)
                #expect(bytes.starts(with: start.unicodeScalars.map { UInt8($0.value) }), "\(ending)")
            }
            #expect(try await run("--output", folder.path + "/schema.svg", "--check").status == 0)
        }
    }

    @Test func pagesAreWrittenComparedAndRemoved() async throws {
        try await withFolder { folder in
            let site = folder.appending(path: "site").path
            // Without Graphviz, so that the test is the same everywhere.
            func run(_ arguments: String...) async throws -> CommandOutcome {
                try await self.run(
                    "--site", site, arguments.first ?? "--notation=arrows", environment: ["PATH": folder.path])
            }
            #expect(try await run("--check").status == 1)
            #expect(try await run().output.contains("5 of 5 pages written"))
            #expect(try await run("--check").status == 0)
            let page = try String(contentsOfFile: site + "/public/person.html", encoding: .utf8)
            #expect(page.contains("emailSet") && page.contains("table name") && page.contains("classDiagram"))
            try Data("mine".utf8).write(to: URL(filePath: site + "/own.html"))
            try await TestDatabase.current.connect().client.runScript("DROP TABLE email")
            let drift = try await run("--check")
            #expect(drift.status == 1 && drift.output.contains("gone:    public/email.html"), "\(drift.output)")
            #expect(try await run().output.contains("1 removed"))
            #expect(!FileManager.default.fileExists(atPath: site + "/public/email.html"))
            #expect(FileManager.default.fileExists(atPath: site + "/own.html"))
            try Data("mine".utf8).write(to: URL(filePath: site + "/public/tag.html"))
            let refused = try await run()
            #expect(refused.status == 1 && refused.error.contains("public/tag.html"), "\(refused)")
        }
    }
}
