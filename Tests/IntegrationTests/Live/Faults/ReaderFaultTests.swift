import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Faults of readers: without rights, too slow, stopped.
@Suite(.database(.sql(FaultWorld.schema)), .timeLimit(.minutes(10))) struct ReaderFaultTests {
    /// Lends a role that may log in, and removes it afterwards.
    private func withRole(_ other: PostgresClient, _ body: (_ role: String) async throws -> Void) async throws {
        let role = "kindred_reader_\(UInt32.random(in: 0..<UInt32.max))"
        try await other.query("CREATE ROLE \(identifier: role) LOGIN")
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(role))
        } catch {
            result = .failure(error)
        }
        try await other.query("DROP OWNED BY \(identifier: role)")
        try await other.query("DROP ROLE \(identifier: role)")
        try result.get()
    }

    /// Lends a database of a role.
    private func lendDatabase(
        of role: String, _ other: PostgresClient, _ body: (_ database: Database) async throws -> Void
    ) async throws {
        var configuration = other.configuration
        configuration.user = role
        let database = try await Database.connect(configuration)
        do {
            try await body(database)
        } catch {
            await database.close(timeout: .zero)
            throw error
        }
        await database.close()
    }

    @Test("A role without rights") func withoutRights() async throws {
        try await withLive("parent", "item", "leaf", "mark") { owner, _, other in
            try await withRole(other) { role in
                try await other.query("GRANT SELECT ON parent, item, leaf, mark TO \(identifier: role)")
                try await lendDatabase(of: role, other) { database in
                    let (plain, tracking) = (database.makeContext(), database.makeContext(tracking: .automatic))
                    await expectError(.accessDenied) { _ = try await plain.changes(of: "item") }
                    await expectError(.accessDenied) { _ = try await plain.fetch("item").live() }
                    await expectError(.accessDenied) { _ = try await tracking.fetch("item").all() }
                    #expect(try await plain.fetch("item").all().count == 6)
                    try await owner.tracking.install(readers: [role])
                    var followers = try await Followers(database, seenBy: other)
                    try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                    try await other.query("DELETE FROM parent WHERE id = 2")
                    try await followers.expectAgreement()
                }
            }
        }
    }

    @Test("RLS on the table") func policies() async throws {
        try await withLive("parent", "item", "leaf", "mark") { owner, _, other in
            try await withRole(other) { role in
                try await other.query("GRANT SELECT ON parent, item, leaf, mark TO \(identifier: role)")
                try await owner.tracking.install(readers: [role])
                try await lendDatabase(of: role, other) { database in
                    let context = database.makeContext()
                    var changes = try await context.changes(of: "item").makeAsyncIterator()
                    var updates = try await context.fetch("item").sorted("id").live().makeAsyncIterator()
                    let objects = try await database.makeContext(tracking: .automatic).fetch("item").sorted("id").all()
                    #expect(try await updates.update().integers() == [1, 2, 3, 4, 5, 6])
                    /// Expects that the live request and the objects show what SQL shows to the role.
                    func expectAgreement(_ keys: [Int64]) async throws {
                        try await database.tracking.catchUp()
                        #expect(
                            try await FollowedWorld.keys(database.client, "SELECT id FROM item ORDER BY id") == keys)
                        #expect(try await updates.update().integers() == keys)
                        #expect(objects.filter { !$0.isDeleted }.allSatisfy { keys.contains($0.number ?? 0) })
                    }
                    try await other.withTransaction { _ in
                        try await other.query("CREATE POLICY few ON item USING (value < 5)")
                        try await other.query("ALTER TABLE item ENABLE ROW LEVEL SECURITY")
                    }
                    #expect(try await changes.seen(database) == .everything(.schemaChanged, ["item"]))
                    try await expectAgreement([1, 2, 3, 4])
                    // Which rows have changed is not told any more.
                    try await other.query("UPDATE item SET value = 7 WHERE id = 1")
                    #expect(try await changes.seen(database) == .everything(.unnamed, ["item"]))
                    try await expectAgreement([2, 3, 4])
                    try await other.query("UPDATE item SET value = 2 WHERE id = 6")
                    try await other.query("INSERT INTO item VALUES (100, 1, 1), (101, 9, 1)")
                    #expect(try await changes.seen(database) == .everything(.unnamed, ["item"]))
                    try await expectAgreement([2, 3, 4, 6, 100])
                }
            }
        }
    }

    @Test("Slow or stuck consumer") func stuckConsumer() async throws {
        try await withFollowers { followers, other in
            let context = followers.database.makeContext()
            var stuck = try await context.changes(of: ["item", "leaf"], bufferingAtMost: 10).makeAsyncIterator()
            var updates = try await context.fetch("item").sorted("id").live().makeAsyncIterator()
            _ = try await updates.update()
            for id in Int32(100)..<140 {
                try await other.query("INSERT INTO item VALUES (\(id), 1, 1)")
                if id.isMultiple(of: 4) { try await followers.expectAgreement() }
            }
            #expect(
                try await stuck.seen(followers.database) == .everything(.overflow, ["item", "leaf"]))
            // All that it has missed is one update.
            let update = try await updates.update()
            #expect(update.insertions == Array(6..<46) && update.removals == [] && update.cause == .change)
            try await other.query("DELETE FROM item WHERE id = 139")
            #expect(
                try await stuck.seen(followers.database)
                    == .changes(inserted: [], updated: [:], deleted: ["item 139"]))
            #expect(try await updates.update().removals == [45])
            try await followers.expectAgreement()
        }
    }

    /// Gives the followers' sessions another timeout: their present sessions end, and new sessions begin.
    ///
    /// From the start it would hit statements that a busy machine runs slowly.
    private func setTimeout(_ milliseconds: Int, _ other: PostgresClient) async throws {
        try await other.query(
            """
            DO $$ BEGIN
                EXECUTE format(
                    'ALTER DATABASE %I SET statement_timeout = %s', current_database(), \(unsafeRaw: String(milliseconds)));
            END $$
            """)
        for session in try await other.followersSessions() {
            try await other.query("SELECT pg_terminate_backend(\(session)::int)")
        }
    }

    @Test("Statement timeout during a read") func statementTimeout() async throws {
        try await withFollowers { followers, other in
            try await withClient { client in
                try await client.withConnection { blocker in
                    try await blocker.query("BEGIN")
                    try await blocker.query(
                        "LOCK TABLE kindred.tracking_outbox_0, kindred.tracking_outbox_1 IN ACCESS EXCLUSIVE MODE")
                    try await blocker.query("INSERT INTO item VALUES (100, 1, 1)")
                    try await blocker.query("UPDATE item SET value = 50 WHERE id = 1")
                    try await setTimeout(500, other)
                    let retries = followers.database.tracking.metrics.retries
                    try await eventually("no reading is stopped") {
                        followers.database.tracking.metrics.retries >= retries + 3
                    }
                    try await blocker.query("COMMIT")
                }
            }
            try await setTimeout(0, other)
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }
}
