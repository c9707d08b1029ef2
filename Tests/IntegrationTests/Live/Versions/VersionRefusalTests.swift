import CommandSupport
import KindredCommand
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Calls where the installed helper schema is older or newer than the library: they work, or name both versions.
@Suite(.database(.sql(versionedTables)), .timeLimit(.minutes(5))) struct VersionRefusalTests {
    private static let next = Tracking.version + 1

    /// Expects that each call that reads changes is refused, with both versions and the remedy.
    private func expectRefusals(
        _ database: Database, of installed: Int, remedy: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let context = database.makeContext()
        let calls: [(String, () async throws -> Void)] = [
            ("changes", { _ = try await context.changes(of: "person") }),
            ("consumer", { _ = try await context.changes(of: ["person"], consumer: "index") }),
            ("live", { _ = try await context.fetch("person").live() }),
            ("context", { _ = try await database.makeContext(tracking: .automatic).find("person", 1) }),
            ("schema", { _ = try await database.schemaChanges.first { _ in true } }),
            ("enable", { try await database.tracking.enable("reading") }),
            ("prune", { try await database.tracking.prune() }),
        ]
        for (name, call) in calls {
            let error = await expectError(.trackingVersion, sourceLocation: sourceLocation, call)
            let message = error?.message ?? ""
            #expect(
                message.contains("version \(installed)") && message.contains("version \(Tracking.version)")
                    && message.contains(remedy), "\(name): \(message)", sourceLocation: sourceLocation)
        }
    }

    private func pretend(_ version: Int, oldest: Int, _ client: PostgresClient) async throws {
        try await client.query(
            "UPDATE kindred.tracking_state SET version = \(Int64(version)), compatible = \(Int64(oldest))")
    }

    // MARK: Older

    @Test func anOlderVersionIsNamedByEachCall() async throws {
        try await withVersionOne("person") { database, other, _ in
            await expectRefusals(database, of: 1, remedy: "kindred install")
            // A consumer would hold records back.
            #expect(try await other.value("SELECT count(*) FROM kindred.tracking_consumer") == .integer(0))
            #expect(try await other.installedVersion() == .integer(1))
            try await database.tracking.install()
            _ = try await database.makeContext().changes(of: "person")
        }
    }

    @Test func theStatusSaysThatAnUpgradeIsDue() async throws {
        try await withVersionOne("person") { database, _, _ in
            let status = try #require(try await database.tracking.status())
            #expect(status.version == 1 && status.isUpgradeDue)
            #expect(status.tables.map(\.name.name) == ["person"])
            let told = try await runTool("status", "--check")
            #expect(told.status == .failure)
            #expect(told.output.contains("1, and this library has version \(Tracking.version): run `kindred install`"))
            #expect(try await runTool("install").status == .success)
            #expect(try await database.tracking.status()?.isUpgradeDue == false)
            #expect(try await runTool("status", "--check").status == .success)
        }
    }

    // MARK: Newer

    @Test func aNewerVersionIsNotReplaced() async throws {
        try await withTracking("person") { database, other, _ in
            try await pretend(Self.next, oldest: 1, other)
            let (schema, rows) = (try await other.helperSchema(), try await other.trackedRows())
            let (error, recorder) = await recordingStatements {
                await expectError(.trackingVersion) { try await database.tracking.install(retention: .seconds(5)) }
            }
            let message = error?.message ?? ""
            #expect(message.contains("version \(Self.next)") && message.contains("version \(Tracking.version)"))
            let statements = recorder.statements
            #expect(!statements.isEmpty)
            let writes = [
                "CREATE ", "ALTER ", "INSERT ", "UPDATE ", "DELETE ", "DROP ", "GRANT ", "REVOKE ", "COMMENT ",
            ]
            #expect(statements.filter { text in writes.contains { text.contains($0) } } == [])
            #expect(try await other.helperSchema() == schema)
            #expect(try await other.trackedRows() == rows)
            let told = try await runTool("install")
            #expect(told.status == .failure && told.error.contains("version \(Self.next)"))
        }
    }

    /// Its installation says whether an older library may use it.
    @Test func aNewerVersionThatIsCompatibleIsRead() async throws {
        try await withTracking("person") { database, other, _ in
            try await pretend(Self.next, oldest: Tracking.version, other)
            try await database.tracking.enable("reading")
            var changes = try await database.makeContext().changes(of: "person").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await changes.seen(database) == .inserted("person 1"))
            #expect(try await database.tracking.status()?.isUpgradeDue == false)
            #expect(
                try await runTool("status").output.contains(
                    "\(Self.next), and this library has version \(Tracking.version)"))
        }
    }

    /// With and without the functions that this library knows.
    @Test(arguments: [true, false])
    func aNewerVersionThatIsNotCompatibleIsNamedByEachCall(hasFunctions: Bool) async throws {
        try await withTracking("person") { database, other, _ in
            try await pretend(Self.next, oldest: Self.next, other)
            if !hasFunctions {
                try await other.query("DROP FUNCTION kindred.tracking_tables()")
                try await other.query("DROP FUNCTION kindred.tracking_begin()")
            }
            await expectRefusals(database, of: Self.next, remedy: "use a newer library")
        }
    }

    /// An upgrade while changes are followed.
    @Test(arguments: [true, false])
    func aSequenceEndsWhereItsLibraryHasBecomeTooOld(hasFunctions: Bool) async throws {
        try await withTracking("person") { database, other, _ in
            var changes = try await database.makeContext().changes(of: "person").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await changes.seen(database) == .inserted("person 1"))
            try await other.withTransaction { _ in
                try await pretend(Self.next, oldest: Self.next, other)
                if !hasFunctions { try await other.query("DROP FUNCTION kindred.tracking_read(pg_snapshot, integer)") }
            }
            await expectError(.trackingVersion) { _ = try await changes.next() }
        }
    }
}
