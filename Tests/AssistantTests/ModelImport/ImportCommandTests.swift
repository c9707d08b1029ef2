import CommandSupport
import Foundation
import KindredCommand
import KindredModelImport
import KindredPostgres
import KindredTesting
import Testing

@Suite struct ImportCommandTests {
    private let run = TestCommand("import")

    private func tables() async throws -> [String] {
        try await withClient { client in
            try await client.query(
                "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
            )
            .compactMap { try $0.decode(0, as: String.self) }
        }
    }

    @Test(.database) func nothingRunsUnlessItIsAsked() async throws {
        let path = ModelFixture.path("School")
        let (status, output, error) = await run(path)
        #expect(status == .success && error.isEmpty)
        #expect(output.contains("\n-- ignored: ") || output.hasPrefix("-- ignored: "))
        #expect(output.hasSuffix(try ModelImport(ModelFixture.model("School")).sql))
        #expect(try await tables() == [])
        let uri = try TestDatabase.current.uri
        #expect(await run(path, "--apply", "--database", uri).status == .success)
        #expect(try await tables() == ["Clazz", "Course", "Course_students", "Student"])
        let again = await run(path, "--apply", "--database", uri)
        #expect(again.status == .failure && again.error.contains("already exists"))
        #expect(again.error.split(separator: "\n").count == 1)
    }

    @Test(.database) func whatIsPrintedCanBeRunAsItIs() async throws {
        for inheritance in ["single", "joined"] {
            let script = await run(
                ModelFixture.path("Everything"), "--inheritance", inheritance, "--schema", inheritance
            ).output
            try await withClient { client in
                // Reports are comments, so that the whole output is a script.
                let statements = script.split(separator: ";\n").map(String.init)
                for statement in statements where !statement.allSatisfy(\.isWhitespace) {
                    try await client.query(SQL(unsafeRaw: statement))
                }
            }
        }
    }

    @Test(.database) func aMigrationIsPrintedAndApplied() async throws {
        let (path, uri) = (ModelFixture.path("Shop"), try TestDatabase.current.uri)
        let old = path + "/Shop.xcdatamodel"
        #expect(await run(old, "--apply", "--database", uri).status == .success)
        let migration = await run(path, "--from", old)
        #expect(migration.status == .success && migration.output.contains("RENAME TO \"Product\""))
        #expect(await run(path, "--from", old, "--apply", "--database", uri).status == .success)
        #expect(try await tables() == ["Group", "Product", "Product_tags", "Tag"])
    }

    @Test func errorsAreOneLineWithTheirStatus() async throws {
        let school = ModelFixture.path("School")
        let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let hostile = folder.appending(path: "contents")
        let old = folder.appending(path: "Old.xcdatamodel")
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        try Data("bplist00".utf8).write(to: old.appending(path: "elements"))
        try Data("<!DOCTYPE m [<!ENTITY a 'b'>]><model/>".utf8).write(to: hostile)
        let cases: [([String], Int32, String)] = [
            ([], 64, "model"), ([school, "--inheritance", "none"], 64, "none"),
            ([school, "--allow-drop"], 64, "--from"),
            ([school, "--database", "postgres:///x"], 64, "--apply"), (["/nowhere"], 65, "no model at /nowhere"),
            ([hostile.path], 65, "DOCTYPE"), ([old.path], 65, "format \"elements\""),
            ([school, "--configuration", "x"], 65, "no configuration"),
            ([school, "--entity", "x"], 65, "no entity"), ([school, "--version", "x"], 65, "no version"),
            ([school, "--schema", ""], 65, "schema"), ([school, "--from", "/nowhere"], 65, "no model at /nowhere"),
            ([school, "--apply", "--database", "postgres://localhost:1/x"], 69, "cannot be reached"),
        ]
        for (arguments, status, part) in cases {
            let outcome = await TestCommand("import")(arguments)
            #expect(outcome.status.rawValue == status && outcome.error.contains(part), "\(arguments): \(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
        }
        let help = await run("--help")
        #expect(help.status == .success && help.output.contains("kindred import Shop.xcdatamodeld --apply"))
    }
}
