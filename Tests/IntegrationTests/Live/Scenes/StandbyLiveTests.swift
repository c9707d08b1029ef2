import Kindred
import KindredLive
import Testing

/// Reading changes from a standby, whose snapshots list no transaction that runs.
@Suite(.timeLimit(.minutes(15))) struct StandbyLiveTests {
    /// Lends a primary and a database over its standby, both with a table that is tracked.
    private func withStandby(
        _ body: (_ primary: RestartableServer, _ standby: RestartableServer, _ database: Database) async throws -> Void
    ) async throws {
        try await RestartableServer.with(settings: ["fsync = on"]) { primary in
            try await lend(primary.configuration) { client in
                try await client.runScript(
                    "CREATE TABLE person (id integer PRIMARY KEY, name text); INSERT INTO person VALUES (1, 'ann')")
                try await Tracking(client).install()
                try await Tracking(client).enable("person")
            }
            let standby = try await RestartableServer(following: primary)
            do {
                try await standby.start()
                let database = try await Database.connect(standby.configuration)
                try await eventually("the table does not arrive") {
                    let isTracked = try? await database.query("SELECT FROM kindred.tracking_table").count == 1
                    return isTracked == true
                }
                try await database.refreshSchema()
                do {
                    try await body(primary, standby, database)
                } catch {
                    await database.close(timeout: .zero)
                    throw error
                }
                await database.close()
            } catch {
                try? await standby.remove()
                throw error
            }
            try await standby.remove()
        }
    }

    @Test func everyWayToFollowIsRefusedWithTheReason() async throws {
        try await withStandby { _, _, database in
            let context = database.makeContext()
            let errors = [
                await expectError(.trackingOnStandby) { _ = try await context.changes(of: "person") },
                await expectError(.trackingOnStandby) {
                    _ = try await context.changes(of: ["person"], consumer: "index")
                },
                await expectError(.trackingOnStandby) {
                    var updates = try await context.fetch("person").live().makeAsyncIterator()
                    _ = try await updates.next()
                },
                await expectError(.trackingOnStandby) {
                    _ = try await database.makeContext(tracking: .automatic).find("person", 1)
                },
                await expectError(.trackingOnStandby) {
                    var changes = database.schemaChanges.makeAsyncIterator()
                    _ = try await changes.next()
                },
            ]
            #expect(errors.allSatisfy { $0?.message.contains("read changes on the primary") == true })
            // Reading goes on as everywhere.
            let ann = try await context.find("person", 1)
            #expect(ann?["name"] == "ann")
        }
    }

    @Test func afterItsPromotionItIsAnotherServerForCursors() async throws {
        try await withStandby { primary, standby, database in
            let first = try await Database.connect(primary.configuration)
            let cursor = try await first.makeContext().changes(of: "person").cursor
            await first.close()
            try await standby.promote()
            try await eventually("the standby takes no writes") {
                try await database.query("SELECT pg_is_in_recovery()")[0][0] == false
            }
            var changes = try await database.makeContext().changes(of: "person", since: cursor).makeAsyncIterator()
            #expect(try await changes.seen(database) == .everything(.foreignCursor, ["person"]))
            try await database.query("INSERT INTO person VALUES (2, 'bob')")
            #expect(try await changes.seen(database) == .inserted("person 2"))
        }
    }
}
