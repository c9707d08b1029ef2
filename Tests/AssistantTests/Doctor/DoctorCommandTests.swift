import CommandSupport
import Foundation
import KindredCommand
import KindredDoctor
import KindredTesting
import Testing

/// `kindred doctor`: its output and its status.
@Suite struct DoctorCommandTests {
    private static let schema = """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person);
        """

    private let run = DatabaseCommand("doctor")

    @Test(.database(.sql(schema))) func theJSONHasTheDocumentedForm() async throws {
        let (status, output, _) = try await run(["--all", "--format", "json"])
        #expect(status == 0)
        let expected = #"""
            {"format": 1, "findings": [{"rule": "K101", "name": "unindexed-foreign-key",
            "level": "warning", "entity": "public.email", "object": "email_person_id_fkey",
            "message": "public.email has no usable index on person_id for the foreign key email_person_id_fkey, so that deleting a row of public.person, or reading the rows that refer to it, reads all of about 0 rows",
            "repair": ["CREATE INDEX CONCURRENTLY IF NOT EXISTS \"email_person_id_idx\" ON \"public\".\"email\" (\"person_id\")"],
            "ignore": "K101:public.email.email_person_id_fkey"}],
            "skipped": []}
            """#.replacing("\n", with: " ")
        let found = try #require(
            JSONSerialization.jsonObject(with: Data(output.utf8), options: .mutableContainers) as? NSMutableDictionary)
        // The skipped rules depend on how long the server has been running.
        for skip in try #require(found["skipped"] as? [[String: String]]) {
            #expect(skip.keys.sorted() == ["reason", "rule"] && skip["rule"] == "K104")
        }
        found["skipped"] = [String]()
        let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(found == wanted, "\(output)")
    }

    @Test(.database(.sql(schema + "CREATE TABLE \"a\\\"\"\nb\" (x integer); CREATE TABLE plain (x integer);")))
    func findingsAreSortedByRuleAndEntityAndNamesAreEscaped() async throws {
        let output = try await run(["--all", "--format", "json"]).output
        let found = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        let findings = found?["findings"] as? [[String: Any]] ?? []
        #expect(findings.map { $0["rule"] as? String } == ["K101", "K301", "K301"])
        #expect(findings.map { $0["entity"] as? String } == ["public.email", "public.a\\\"\nb", "public.plain"])
        #expect(findings[1]["object"] is NSNull)
    }

    @Test(.database(.sql(schema))) func sarifIsReadByOtherTools() async throws {
        let output = try await run(["--all", "--format", "sarif"]).output
        let log = try JSONDecoder().decode(SARIF.self, from: Data(output.utf8))
        #expect(log.version == "2.1.0" && log.runs.count == 1)
        let run = log.runs[0]
        #expect(run.tool.driver.name == "kindred doctor" && run.tool.driver.rules.count == DoctorRule.all.count)
        let result = try #require(run.results.first)
        #expect(run.results.count == 1 && result.ruleId == "K101" && result.level == "warning")
        #expect(run.tool.driver.rules[result.ruleIndex].id == "K101")
        #expect(
            result.locations[0].logicalLocations[0].fullyQualifiedName == "public.email.email_person_id_fkey")
        #expect(result.partialFingerprints["kindredIgnoreKey/v1"] == "K101:public.email.email_person_id_fkey")
        #expect(run.invocations[0].toolConfigurationNotifications.allSatisfy { $0.associatedRule.id == "K104" })
    }

    private struct SARIF: Decodable {
        struct Text: Decodable { var text: String }
        struct Rule: Decodable {
            var id: String
            var name: String
            var shortDescription: Text
        }
        struct Driver: Decodable {
            var name: String
            var rules: [Rule]
        }
        struct Tool: Decodable { var driver: Driver }
        struct LogicalLocation: Decodable { var fullyQualifiedName: String }
        struct Location: Decodable { var logicalLocations: [LogicalLocation] }
        struct Result: Decodable {
            var ruleId: String
            var ruleIndex: Int
            var level: String
            var message: Text
            var locations: [Location]
            var partialFingerprints: [String: String]
        }
        struct Reference: Decodable { var id: String }
        struct Notification: Decodable {
            var message: Text
            var associatedRule: Reference
        }
        struct Invocation: Decodable {
            var executionSuccessful: Bool
            var toolConfigurationNotifications: [Notification]
        }
        struct Run: Decodable {
            var tool: Tool
            var invocations: [Invocation]
            var results: [Result]
        }
        var version: String
        var runs: [Run]
    }

    @Test(.database(.sql(schema))) func theTextHasFactsRepairAndSummary() async throws {
        let (status, output, error) = try await run(["--all"])
        #expect(status == 0 && error.isEmpty && !output.contains("\u{1B}"))
        for part in [
            "warning: public.email has no usable index on person_id", "[K101 unindexed-foreign-key]",
            "    asked by: person.emailSet",
            "ignore by K101:",
            "    CREATE INDEX CONCURRENTLY IF NOT EXISTS \"email_person_id_idx\"",
            "0 errors, 1 warning, 0 notes.",
        ] { #expect(output.contains(part), "\(part) in \(output)") }
        #expect(try await run([]).output.contains("No findings; 1 about small tables left out, --all shows them."))
        #expect(try await run(["--all"], usesStyles: true).output.contains("\u{1B}[33mwarning"))
    }

    @Test(.database(.sql(schema))) func failOnDecidesHowItEnds() async throws {
        #expect(try await run(["--all", "--fail-on", "error"]).status == 0)
        let (status, output, error) = try await run(["--all", "--fail-on", "warning", "--format", "json"])
        #expect(status == 1 && output.contains("K101"))
        #expect(error == "kindred: 1 finding is of the level warning or above.\n")
        #expect(try await run(["--all", "--fail-on", "note"]).status == 1)
        #expect(try await run(["--fail-on", "note"]).status == 0)
    }

    @Test(.database(.sql("CREATE TABLE plan (code text PRIMARY KEY, tenant_id integer)")))
    func theColumnOfTenantsIsAnOption() async throws {
        #expect(try await !run(["--all"]).output.contains("K411"))
        #expect(
            try await run(["--all", "--tenant-column", "tenant_id"]).output.contains("[K411 unique-across-tenants]"))
        #expect(
            try await run(["--all", "--tenant-column", "owner"]).output.contains("K411: No table has the column owner"))
    }

    @Test(.database(.sql(schema))) func fixPrintsSQLThatCanBeRun() async throws {
        let output = try await run(["--all", "--fix"]).output
        #expect(output.contains("-- K101 public.email has no usable index"))
        try await withDoctorClient { client in
            #expect(try await client.query("SELECT FROM pg_indexes WHERE indexname = 'email_person_id_idx'").isEmpty)
            let statements = output.split(separator: "\n").filter { !$0.hasPrefix("--") }
            #expect(statements.count == 1 && statements.allSatisfy { $0.hasSuffix(";") })
            for statement in statements { try await client.query(SQL(unsafeRaw: String(statement))) }
        }
        #expect(try await run(["--all", "--fix"]).output.split(separator: "\n").count == 1)
    }

    @Test(.database(.sql(schema))) func anIgnoreFileLeavesFindingsOut() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "ignored").path
        try "# reviewed\nK101:public.email.email_person_id_fkey\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let (status, output, _) = try await run(["--all", "--fail-on", "note", "--ignore-file", file])
        #expect(status == 0 && output.contains("No findings; 1 ignored."))

        try "K101\nK1O1:public.email".write(toFile: file, atomically: true, encoding: .utf8)
        let wrong = try await run(["--ignore-file", file])
        #expect(wrong.status == 65 && wrong.error.contains("Line 2: there is no rule \"K1O1\"; did you mean"))
        #expect(wrong.error.split(separator: "\n").count == 1)
        let missing = try await run(["--ignore-file", folder.appending(path: "none").path])
        #expect(missing.status == 65 && missing.error.contains("cannot be read"))
    }

    @Test(arguments: ["K101", "unindexed-foreign-key"]) func aRuleIsExplainedWithoutADatabase(name: String) async {
        let outcome = await TestCommand()("doctor", "--explain", name)
        #expect(outcome.status == .success)
        #expect(outcome.output.hasPrefix("K101 unindexed-foreign-key (warning)"))
        #expect(outcome.output.contains("INCLUDE columns do not count"))
    }

    @Test(arguments: [
        ["--explain", "K999"], ["--format", "xml"], ["--fail-on", "everything"], ["--fix", "--format", "json"],
        ["extra"],
    ])
    func wrongUsageIsOneLineAndStatus64(arguments: [String]) async {
        let outcome = await TestCommand("doctor")(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty && outcome.error.split(separator: "\n").count == 1)
    }

    @Test func anUnreachableDatabaseIsStatus69() async {
        let arguments = ["doctor", "--database", "postgres:///x?host=/nonexistent"]
        let outcome = await TestCommand()(arguments)
        #expect(outcome.status == 69)
        #expect(outcome.error.split(separator: "\n").count == 1)
    }

    @Test func theHelpHasAnExample() async {
        let outcome = await TestCommand()("doctor", "--help")
        #expect(outcome.status == .success)
        #expect(outcome.output.contains("kindred doctor --database postgres://localhost/shop --fail-on warning"))
    }

    @Test(.database(.sql(schema))) func generatedClassesThatTheDatabaseHasGoneOnFromAreFound() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let uri = try TestDatabase.current.uri
        let arguments = ["generate", "--database", uri, "--output", folder]
        let outcome = await TestCommand()(arguments)
        #expect(outcome.status == .success)
        #expect(try await !run(["--generated", folder]).output.contains("K504"))
        try await withDoctorClient { client in
            // A new table has no class yet; a new column changes one, and the lock file.
            try await client.runScript(
                "ALTER TABLE email ADD COLUMN address text; CREATE TABLE other (id integer PRIMARY KEY)")
        }
        let output = try await run(["--generated", folder]).output
        #expect(
            output.contains("The file Email+Properties.swift in \(folder) does not fit")
                && output.contains("2 warnings")
        )
        #expect(try await run(["--generated", folder + "/none"]).status == 65)
    }
}
