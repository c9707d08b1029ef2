import Foundation
import Kindred
import KindredFoundation
import KindredMigrations
import KindredTesting
import Testing

/// Files of migrations in the program, which the plugin has written into this one, and in a bundle.
@Suite struct EmbeddedMigrationTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../Migrations").standardizedFileURL

    @Test func theyAreTheFilesOfTheFolder() throws {
        let files = try Migrations(folder: Self.folder.path).files()
        #expect(try Migrations.embedded.files() == files && files.count == 2 && Migrations.embedded.folder == nil)
        let bundle = try #require(Bundle(path: Self.folder.deletingLastPathComponent().path))
        #expect(try Migrations(bundle: bundle).files() == files)
        #expect(throws: MigrationError.self) { try Migrations(bundle: bundle, folder: "Nowhere").files() }
    }

    @Test(.database) func theyRunAsFilesOfAFolder() async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        #expect(
            try await Migrations.embedded.apply(to: client).map(\.name) == [
                "0001_person.sql", "0002_email/migration.sql",
            ])
        // The same checksums: neither is to run, and none has changed.
        #expect(try await Migrations(folder: Self.folder.path).apply(to: client).isEmpty)
        #expect(try await client.query("SELECT email FROM person").isEmpty)
        await client.close()
    }

    @Test func filesInTheProgramAreReadAsThoseOfAFolder() throws {
        func names(_ files: [String: String]) throws -> [String] { try Migrations(files: files).files().map(\.name) }
        let files = [
            "10_b.SQL": "SELECT 1", "2_a.sql": "SELECT 1", "3_c.up.sql": "SELECT 1", "3_c.down.sql": "SELECT 1",
            "20240131120000_d/migration.sql": "SELECT 1", "20240131120000_d/notes.txt": "", ".hidden.sql": "",
            "notes.txt": "",
        ]
        #expect(try names(files) == ["2_a.sql", "3_c.up.sql", "10_b.SQL", "20240131120000_d/migration.sql"])
        #expect(try names([:]) == [])
        #expect(throws: MigrationError.self) { try names(["a.sql": "SELECT 1"]) }
        #expect(throws: MigrationError.self) { try names(["1_a.sql": "SELECT 1", "01_b.sql": "SELECT 1"]) }
        #expect(throws: MigrationError.self) { try names(["1_a.sql": "SELECT (1"]) }
    }
}
