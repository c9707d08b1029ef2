import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import KindredTesting
import Testing

private let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../../Examples/Shop/Migrations").standardizedFileURL.path

/// Change tracking in a database whose schema is made by numbered files: both keep their records in the schema `kindred`.
@Suite(.database(.migrations(folder))) struct TrackedMigrationTests {
    private let run = DatabaseCommand()

    private func history(_ client: PostgresClient) async throws -> [PostgresValue?] {
        try await client.values("SELECT m::text FROM kindred.migration AS m ORDER BY m.number")
    }

    @Test func uninstallingLeavesTheHistoryAlone() async throws {
        try await withDatabase { database, context, other in
            let before = try await history(other)
            #expect(before.count == 4)
            for _ in 0..<2 {
                try await database.tracking.install()
                try await database.tracking.enable("book", "author")
                var changes = try await context.changes(of: "author").makeAsyncIterator()
                try await other.query("UPDATE author SET name = name || '.' WHERE id = 1")
                guard case .changes(let batch)? = try await changes.next() else {
                    Issue.record("no batch")
                    return
                }
                #expect(batch.updated.map(\.key.values) == [[.integer(1)]])
                try await database.tracking.prune()
                #expect(try await history(other) == before)
                #expect(try await run("migrate", "status", folder, "--check").status == .success)
                try await database.tracking.uninstall()
                #expect(try await history(other) == before)
                // It is told before the next one begins.
                await expectError(.trackingNotInstalled) {
                    while try await changes.next() != nil {}
                }
            }
            #expect(try await run("migrate", folder).output == "Everything has run already.\n")
        }
    }

    @Test func filesRunWhileTablesAreTracked() async throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        // Some files are links, relative to their folder.
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                .write(to: copy.appending(path: name), atomically: true, encoding: .utf8)
        }
        try """
        ALTER TABLE author ADD COLUMN nick text;
        UPDATE author SET nick = 'x' WHERE id = 1;
        """.write(to: copy.appending(path: "0005_nick.sql"), atomically: true, encoding: .utf8)
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await database.tracking.enable("author")
            var changes = try await context.changes(of: "author").makeAsyncIterator()
            let migrated = try await run("migrate", copy.path)
            #expect(migrated.status == .success, "\(migrated)")
            #expect(try await changes.seen(database) == .everything(.schemaChanged, ["author"]))
            try await other.query("UPDATE author SET nick = 'y' WHERE id = 2")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: ["author 2": ["nick"]], deleted: []))
            try await database.tracking.uninstall()
            #expect(try await history(other).count == 5)
            #expect(try await run("migrate", "status", copy.path, "--check").status == .success)
        }
    }
}
