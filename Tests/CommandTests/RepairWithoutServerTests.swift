import Foundation
import KindredTesting
import Testing

/// `kindred doctor --fix` where no server's programs are installed.
@Suite(
    .database(
        """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE email (id integer PRIMARY KEY, owner integer REFERENCES person);
        """))
struct RepairWithoutServerTests {
    @Test func eachRepairIsPrintedAsNotTried() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "kindred-output-\(UUID())")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try await BuiltTool.run(
            ["doctor", "--all", "--fix", "--database", try TestDatabase.current.uri],
            output: try FileHandle(forWritingTo: file), environment: ["KINDRED_POSTGRES_BIN": "/nonexistent"])
        let output = try String(contentsOf: file, encoding: .utf8)
        #expect(result.status == 0 && result.error.contains("1 repair not tried"), "\(result)")
        #expect(output.contains("\n-- Not tried: there is no embedded server: "), "\(output)")
        #expect(output.contains("\nCREATE INDEX CONCURRENTLY IF NOT EXISTS \"email_owner_idx\""), "\(output)")
    }
}
