import Foundation
import Kindred
import Testing

/// Servers that tell no positions of their log, as other engines do.
@Suite(.timeLimit(.minutes(15))) struct DelayedReplicaTests {
    /// A role from which the functions of the log are taken.
    private static let role = """
        CREATE ROLE app LOGIN;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
        REVOKE EXECUTE ON FUNCTION pg_current_wal_lsn(), pg_current_wal_flush_lsn(), pg_current_wal_insert_lsn(),
            pg_last_wal_replay_lsn(), pg_last_wal_receive_lsn(), pg_walfile_name(pg_lsn), pg_walfile_name_offset(pg_lsn),
            pg_control_system(), pg_control_checkpoint(), pg_control_recovery() FROM PUBLIC;
        """

    /// Lends a scene, and a database over the same servers whose role cannot ask for positions.
    ///
    /// - Parameter delay: the time in which replicas show a write.
    private func withDatabase(
        delay: Duration?, _ body: (ReplicaScene, Database) async throws -> Void
    ) async throws {
        try await ReplicaScene.with { scene in
            try await scene.writer.runScript(Self.role)
            try await eventually("the replica has the role") {
                try await scene.readers[0].value("SELECT count(*) FROM pg_roles WHERE rolname = 'app'") == 1
            }
            func configuration(_ server: RestartableServer) -> PostgresConfiguration {
                var configuration = server.configuration
                configuration.user = "app"
                configuration.replicaDelay = delay
                return configuration
            }
            let database = try await Database.connect(
                primary: configuration(scene.primary), replicas: scene.servers.map(configuration))
            do {
                try await body(scene, database)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
        }
    }

    /// A context that reads replicas whatever time is set.
    private func reader(_ database: Database, after token: DatabasePosition? = nil) -> DatabaseContext {
        database.makeContext(reading: .replica(maximumLag: .seconds(100_000)), after: token)
    }

    /// The token of a write some time ago.
    private func token(_ age: TimeInterval) -> DatabasePosition {
        DatabasePosition(
            system: 0, timeline: 0, location: UInt64((Date.now.timeIntervalSince1970 - age) * 1_000))
    }

    @Test func afterAWriteThePrimaryIsReadForTheTimeThatIsSet() async throws {
        try await withDatabase(delay: .seconds(50_000)) { scene, database in
            func recent() -> Int { database.readMetrics?.primary[.recentWrite] ?? 0 }
            try await eventually("the replica is read") { try await scene.isOnReplica(reader(database)) }
            // It counts as a lag of so much.
            #expect(try await !scene.isOnReplica(database.makeContext(reading: .automatic)))
            try await scene.pause()
            let context = reader(database)
            let ann = try await context.get("person", 1)
            #expect(context.position == nil)
            try await expectStatements(["UPDATE", "SELECT"]) {
                try await ann.setValue("anna", forKey: "name")
                #expect(try await context.fetch("person").where("name = 'anna'").count() == 1)
            }
            #expect(recent() == 1)
            // By the form that goes through a cookie.
            let written = try #require((context.position?.description).flatMap { DatabasePosition($0) })
            #expect(try await reader(database, after: written).get("person", 1)["name"] == "anna")
            try await eventually("without the token the replica is read") {
                try await reader(database).get("person", 1)["name"] == "ann"
            }
            // In transactions of the database too.
            let other = reader(database)
            let bob = try await other.get("person", 2)
            try await database.transaction { try await bob.setValue(41, forKey: "age") }
            #expect(try await other.fetch("person").where("age = 41").count() == 1)
            // Of another database, and of a time to come: both as a write just now.
            for forged in [DatabasePosition(system: 7, timeline: 1, location: 1), token(-1_000_000)] {
                let before = recent()
                let misled = reader(database, after: forged)
                #expect(try await misled.get("person", 1)["name"] == "anna")
                #expect(recent() == before + 1 && misled.position != nil)
            }
            try await eventually("the token of a former write says nothing") {
                let late = reader(database, after: token(60_000))
                return try await late.get("person", 1)["name"] == "ann" && late.position == nil
            }
            try await scene.resume()
        }
    }

    @Test func afterThatTimeReplicasAreReadAgain() async throws {
        try await withDatabase(delay: .milliseconds(300)) { scene, database in
            let context = database.makeContext(reading: .automatic)
            try await eventually("the replica is read") { try await scene.isOnReplica(context) }
            try await context.get("person", 1).setValue(31, forKey: "age")
            try await eventually("the replica is read again") { try await scene.isOnReplica(context) }
            #expect(context.position == nil)
            // A server that has become the primary is none to read as a replica.
            try await scene.failOver()
            try await eventually("the new primary takes writes") {
                (try? await database.makeContext().get("person", 1).setValue(32, forKey: "age")) != nil
            }
            #expect(try await !scene.isOnReplica(database.makeContext(reading: .automatic)))
        }
    }

    @Test func withoutATimeNoReplicaIsRead() async throws {
        try await withDatabase(delay: nil) { scene, database in
            let context = reader(database)
            try await context.get("person", 1).setValue(31, forKey: "age")
            for _ in 0..<3 { #expect(try await !scene.isOnReplica(context)) }
            #expect(database.readMetrics?.replica == 0)
            #expect(database.readMetrics?.replicas.allSatisfy { $0.lag == nil } == true)
            // A later request begins on the primary wherever it is, as nothing is known of the write.
            let written = try #require(context.position)
            let next = scene.lagging(after: written)
            let unknown = scene.count(.unknownPosition)
            try await eventually("the other database reads replicas") {
                try await scene.isOnReplica(scene.lagging())
            }
            #expect(try await next.get("person", 1)["age"] == 31)
            #expect(scene.count(.unknownPosition) == unknown + 1)
            try await eventually("from its position on, replicas") { try await scene.isOnReplica(next) }
        }
    }
}
