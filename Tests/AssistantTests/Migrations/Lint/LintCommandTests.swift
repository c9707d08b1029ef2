import CommandSupport
import Foundation
import KindredCommand
import KindredMigrations
import KindredTesting
import Testing

@Suite struct LintCommandTests {
    private let run = TestCommand("migrate", "lint")

    private static let files = [
        "1_a.sql": "CREATE TABLE t (a int);\nDO $$ BEGIN END $$;\nDO $$ BEGIN END $$",
        "2_b.sql": "SET lock_timeout = '5s';\nCREATE INDEX i ON t (a);\nCREATE INDEX j ON t (a)",
        "3_c.sql": "SET lock_timeout = '5s';\nALTER TABLE t DROP COLUMN a",
    ]

    @Test func findingsAreShownByFileAndLine() async throws {
        try await MigrationFolder.with(Self.files) { folder in
            let (status, output, error) = await run(folder.path)
            #expect(status == .success && error.isEmpty)
            #expect(
                output == """
                    2_b.sql:2: warning: The index i on t lets nothing be written to t while it is made. [M101 index-not-concurrent]
                        \(MigrationRule.named("M101")?.remedy ?? "")
                    2_b.sql:3: warning: The index j on t lets nothing be written to t while it is made. [M101 index-not-concurrent]
                    3_c.sql:2: warning: The column a of t goes with its values, and programs that still name it fail. \
                    [M401 drop-column]
                        \(MigrationRule.named("M401")?.remedy ?? "")

                    Not looked at
                      1_a.sql:2, 3: The statements inside of a DO block are not looked at.

                    0 errors, 3 warnings, 0 notes in 3 files.

                    """)
            let ignored = await run(folder.path, "--ignore", "index-not-concurrent:2_b.sql", "--ignore", "M401").output
            #expect(ignored.hasSuffix("\nNo findings in 3 files; 3 ignored.\n"), "\(ignored)")
            #expect(await run(folder.path, "--after", "2").output.contains("0 errors, 1 warning, 0 notes in 1 file."))
        }
    }

    @Test func programsGetTheShapeOfTheDoctors() async throws {
        try await MigrationFolder.with(Self.files) { folder in
            let (status, output, _) = await run(folder.path, "--format", "json", "--fail-on", "warning")
            #expect(status.rawValue == 1)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            #expect(object["format"] as? Int == 1)
            let findings = try #require(object["findings"] as? [[String: Any]])
            let last = try #require(findings.last)
            #expect(findings.count == 3)
            // The members of the doctor's findings, and file, line and remedy.
            #expect(
                Set(last.keys) == [
                    "rule", "name", "level", "entity", "object", "message", "repair", "ignore", "file", "line",
                    "remedy",
                ])
            #expect(last["rule"] as? String == "M401" && last["name"] as? String == "drop-column")
            #expect(last["level"] as? String == "warning" && last["line"] as? Int == 2)
            #expect(last["entity"] as? String == "t" && last["object"] as? String == "a")
            #expect(last["ignore"] as? String == "M401:3_c.sql")
            let skipped = try #require(object["skipped"] as? [[String: Any]])
            #expect(skipped.map { $0["line"] as? Int } == [2, 3] && skipped[0]["file"] as? String == "1_a.sql")
        }
    }

    @Test func itFailsOnTheLevelThatIsAskedFor() async throws {
        try await MigrationFolder.with(Self.files) { folder in
            #expect(await run(folder.path, "--fail-on", "error").status == .success)
            let failed = await run(folder.path, "--fail-on", "note")
            #expect(failed.status == .failure)
            #expect(failed.error == "kindred: 3 findings are of the level note or above.\n")
            try folder.write("4_d.sql", "VACUUM")
            let one = await run(folder.path, "--fail-on", "error")
            #expect(one.error == "kindred: 1 finding is of the level error or above.\n")
        }
    }

    @Test(.database) func filesThatHaveRunAreLeftOut() async throws {
        let uri = try TestDatabase.current.uri
        try await MigrationFolder.with(["1_a.sql": Self.files["1_a.sql"] ?? ""]) { folder in
            #expect(await CommandLineTool.run(["migrate", folder.path, "--database", uri]) == .success)
            for (name, text) in Self.files { try folder.write(name, text) }
            #expect(
                await run(folder.path, "--database", uri).output.contains("0 errors, 3 warnings, 0 notes in 2 files."))
            #expect(await CommandLineTool.run(["migrate", folder.path, "--database", uri]) == .success)
            #expect(await run(folder.path, "--database", uri).output == "No findings in 0 files.\n")
            #expect(await run(folder.path).output.contains("3 warnings"))
            // A CHECK that a file before has validated counts.
            try folder.write("5_e.sql", "ALTER TABLE u ADD CONSTRAINT c CHECK (a IS NOT NULL)")
            try folder.write("6_f.sql", "SET lock_timeout = 5000; ALTER TABLE u ALTER a SET NOT NULL")
            #expect(await run(folder.path, "--after", "5").output == "No findings in 1 file.\n")
        }
    }

    @Test func wrongArgumentsAreNamed() async throws {
        try await MigrationFolder.with(Self.files) { folder in
            for (arguments, status, part) in [
                ([], 64, "folder"), (["/nowhere"], 65, "/nowhere cannot be read"),
                ([folder.path, "--ignore", "M9999"], 64, "no rule \"M9999\""),
                ([folder.path, "--format", "xml"], 64, "xml"),
                ([folder.path, "--after", "1", "--database", "postgres:///x"], 64, "--after"),
                ([folder.path, "--database", "postgres://localhost:1/x"], 69, "cannot be reached"),
                (["--explain", "K101"], 64, "no rule \"K101\""),
            ] as [([String], Int32, String)] {
                let outcome = await TestCommand("migrate", "lint")(arguments)
                #expect(
                    outcome.status.rawValue == status && outcome.error.contains(part), "\(arguments): \(outcome.error)")
                #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            }
        }
        for rule in MigrationRule.all {
            let (status, output, _) = await run("--explain", rule.id)
            #expect(
                status == .success && output.contains(rule.summary) && output.contains("kindred: ignore \(rule.id)"))
        }
        #expect(await run("--help").output.contains("Example: kindred migrate lint Migrations"))
    }
}
