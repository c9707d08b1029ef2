import CommandSupport
import KindredCommand
import KindredTesting
import Testing

@Suite(.database) struct MigrateCommandTests {
    private let run = DatabaseCommand("migrate")

    @Test func aFolderIsAppliedAndShown() async throws {
        let files = ["1_a.sql": "CREATE TABLE a ()", "2_b.sql": "-- kindred: no transaction\nSELECT 1; SELECT 1/0"]
        try await MigrationFolder.with(files) { folder in
            #expect(
                try await run(folder.path, "--dry-run").output
                    == "would run 1_a.sql\nwould run 2_b.sql, without a transaction\n")
            #expect(try await run("status", folder.path, "--check").status == .failure)
            let failed = try await run(folder.path)
            #expect(failed.status == .failure)
            #expect(failed.error.hasPrefix("kindred: 2_b.sql:2: ") && failed.error.split(separator: "\n").count == 1)
            let shown = try await run("status", folder.path).output
            #expect(shown.contains("applied     1_a.sql") && shown.contains("unfinished  2_b.sql"), "\(shown)")
            #expect(try await run("resolve", folder.path, "2").status == .usage)
            #expect(try await run("resolve", folder.path, "2", "--done").output == "2 counts as done\n")
            #expect(try await run("apply", folder.path).output == "Everything has run already.\n")
            #expect(try await run("status", folder.path, "--check").status == .success)
        }
    }

    @Test func whatIsWrongIsOneLineWithItsStatus() async throws {
        let (status, _, error) = try await run("/nowhere")
        #expect(status.rawValue == 65 && error == "kindred: The folder /nowhere cannot be read.\n")
        #expect(try await run().status == .usage)
        try await MigrationFolder.with(["1_a.sql": "COMMIT"]) { folder in
            #expect(try await run(folder.path).status.rawValue == 65)
            try folder.write("1_a.sql", "SELECT 1")
            let outcome = await TestCommand()(
                "migrate", folder.path, "--database", "postgres://u:secret@/x?host=/nowhere")
            #expect(outcome.status == .unavailable)
            #expect(!outcome.error.contains("secret"))
        }
    }

    @Test(arguments: [["migrate"], ["migrate", "apply"], ["migrate", "status"], ["migrate", "resolve"], ["diff"]])
    func helpHasAnExample(_ command: [String]) async {
        let outcome = await TestCommand()(command + ["--help"])
        #expect(outcome.status == .success)
        #expect(outcome.output.contains("Example: kindred \(command.first ?? "")"))
    }
}
