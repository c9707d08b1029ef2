import Kindred
import KindredMigrations
import KindredTesting
import Testing

/// The statements of migrations, and the checksums that the server makes.
@Suite(.database) struct MigrationStatementTests {
    /// Expects numbers of statements, and of BEGIN, COMMIT and ROLLBACK.
    private func expect(
        _ statements: Int, _ control: Int = 0, sourceLocation: SourceLocation = #_sourceLocation,
        of body: () async throws -> Void
    ) async throws {
        let (_, recorder) = try await recordingStatements { try await body() }
        let sent = recorder.all.map(\.sql)
        #expect(recorder.statements.count == statements, "\(sent)", sourceLocation: sourceLocation)
        #expect(sent.count == statements + control, "\(sent)", sourceLocation: sourceLocation)
    }

    @Test func eachCallSendsSoManyStatements() async throws {
        try await MigrationFolder.with([:]) { folder in
            try await withClient { client in
                let migrations = folder.migrations
                // Nothing has ever run.
                try await expect(0) { _ = try migrations.files() }
                try await expect(1) { _ = try await migrations.status(of: client) }
                try await expect(1) { _ = try await migrations.pending(for: client) }
                try await expect(3) {
                    await #expect(throws: MigrationError.self) {
                        try await migrations.resolve(1, isDone: true, in: client)
                    }
                }
                try await expect(7) { try await migrations.apply(to: client) }
                // Nothing to do.
                try await expect(4) { try await migrations.apply(to: client) }
                try await expect(2) { _ = try await migrations.status(of: client) }
                // One of two statements, then two at once.
                try folder.write("1_a.sql", "CREATE TABLE a (); CREATE TABLE b ()")
                try await expect(2) { _ = try await migrations.pending(for: client) }
                try await expect(4 + 5 + 2, 2) { try await migrations.apply(to: client) }
                try folder.write("2_c.sql", "CREATE TABLE c ()")
                try folder.write("3_d.sql", "-- kindred: no transaction\nCREATE TABLE d ()")
                try await expect(2) { _ = try await migrations.pending(for: client) }
                try await expect(4 + 5 + 1 + 6 + 1, 2) { try await migrations.apply(to: client) }
                try await expect(4) { try await migrations.apply(to: client) }
                try await expect(2) { _ = try await migrations.status(of: client) }
                // An unfinished one.
                try folder.write("4_e.sql", "-- kindred: no transaction\nSELECT 1 / 0")
                await #expect(throws: MigrationError.self) { try await migrations.apply(to: client) }
                try await expect(4) { try await migrations.resolve(4, isDone: true, in: client) }
            }
        }
    }

    @Test func aBaselineCostsTheSameForAnyNumberOfFiles() async throws {
        for files in [["1_a.sql": ""], ["1_a.sql": "", "2_b.sql": "", "3_c.sql": "", "4_d.sql": ""]] {
            try await MigrationFolder.with(files) { folder in
                try await withClient { (client) async throws in
                    let migrations = folder.migrations
                    let last = Int64(files.count)
                    try await expect(1) { _ = try await migrations.pending(afterBaseline: last, in: client) }
                    try await expect(8) { try await migrations.baseline(last, in: client) }
                    try await expect(4) { try await migrations.baseline(last, in: client) }
                    try await client.query("DELETE FROM kindred.migration")
                    try await expect(2) { _ = try await migrations.pending(afterBaseline: last, in: client) }
                    try await expect(6) { try await migrations.baseline(last, in: client) }
                    try await expect(4) { try await migrations.apply(to: client) }
                    try await client.query("DROP SCHEMA kindred CASCADE")
                }
            }
        }
    }

    @Test func allFilesOfTheFirstTimeCostSevenAndTheirOwn() async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()", "2_b.sql": "CREATE TABLE b ()"]) { folder in
            try await withClient { client in
                try await expect(7 + 2 * (5 + 1), 4) { try await folder.migrations.apply(to: client) }
            }
        }
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("-- abc", "f4e57de44f72b641624fe22b66961b91258a49940515a8bdb6010f7fe404e08b"),
        ("-- über\r\n-- 日本\r\n", "3c202cdd232d4efeccb1055e739a7a75c1c8093eec47f6c1c9c231a4eb54967d"),
        ("-- über\n-- 日本\n", "3c202cdd232d4efeccb1055e739a7a75c1c8093eec47f6c1c9c231a4eb54967d"),
        (
            "-- " + String(repeating: "a", count: 1000),
            "ae005d0b59c1399dccae56f214eba1a1450e15c716888ea4564f6f4b840861fa"
        ),
    ]) func checksumsAreThoseOfTheStandard(_ text: String, _ expected: String) async throws {
        try await MigrationFolder.with(["1_a.sql": text]) { folder in
            try await withClient { client in
                try await folder.migrations.apply(to: client)
                let rows = try await client.query("SELECT checksum FROM kindred.migration")
                #expect(try rows.first?.decode(0, as: String.self) == expected)
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.applied])
                try folder.write("1_a.sql", text + " ")
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.changed])
            }
        }
    }
}
