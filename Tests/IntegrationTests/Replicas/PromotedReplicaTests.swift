import Kindred
import KindredLive
import KindredPostgres
import Logging
import TestSupport
import Testing

/// Replicas that follow a new primary, before their first restartpoint.
@Suite(.timeLimit(.minutes(15))) struct PromotedReplicaTests {
    /// Lends a scene without restartpoints, and a database over its servers with a role of few rights, whose log goes to `lines`.
    ///
    /// - Parameter prepare: is called before the database is connected.
    private func withRole(
        _ lines: LogLines, tracking: Tracking.Options = Tracking.Options(),
        preparing prepare: (_ writer: PostgresClient) async throws -> Void = { _ in },
        body: (_ scene: ReplicaScene, _ database: Database) async throws -> Void
    ) async throws {
        try await ReplicaScene.with(replicas: 2, settings: ["checkpoint_timeout = 1h"]) { scene in
            try await scene.writer.runScript("CREATE ROLE app LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
            try await prepare(scene.writer)
            for reader in scene.readers {
                try await eventually("the role arrives") {
                    try await reader.value("SELECT count(*) FROM pg_roles WHERE rolname = 'app'") == 1
                }
            }
            var configurations = ([scene.primary] + scene.servers).map(\.configuration)
            for index in configurations.indices { configurations[index].user = "app" }
            let database = try await Database.connect(
                primary: configurations[0], replicas: Array(configurations.dropFirst()), tracking: tracking,
                logger: lines.logger)
            do {
                try await body(scene, database)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
        }
    }

    /// Has the first replica take the primary's place, and the second one follow it.
    private func failOver(_ scene: ReplicaScene) async throws {
        try await scene.failOver()
        try await scene.readers[1].runScript(
            "ALTER SYSTEM SET primary_conninfo = 'host=\(scene.servers[0].folder) user=postgres'")
        try await scene.readers[1].query("SELECT pg_reload_conf()")
        try await scene.readers[0].query("INSERT INTO person (name) VALUES ('new')")
        try await eventually("the other replica follows") {
            try await scene.readers[1].people("new") == 1
        }
        #expect(try await scene.readers[1].value("SELECT timeline_id FROM pg_control_checkpoint()") == 1)
    }

    @Test func aRoleThatSeesTheReceiverReadsThemAtOnce() async throws {
        let lines = LogLines()
        try await withRole(lines) { scene, database in
            try await scene.writer.query("GRANT pg_read_all_stats TO app")
            try await failOver(scene)
            try await eventually("the replica is read") {
                try await scene.isOnReplica(database.makeContext(reading: .automatic))
            }
            // With the position of a write on the new timeline, too.
            let context = database.makeContext(reading: .automatic)
            try await context.create("person", ["name": "eve"])
            let next = database.makeContext(reading: .automatic, after: context.position)
            try await eventually("the position is reached") { try await scene.isOnReplica(next) }
            #expect(try await next.fetch("person").where("name = %@", "eve").count() == 1)
            #expect(!lines.take(.notice).contains { $0.message.contains("pg_read_all_stats") })
        }
    }

    @Test func anotherRoleIsToldTheRightThatHelps() async throws {
        let lines = LogLines()
        try await withRole(lines) { scene, database in
            try await failOver(scene)
            var said: [String] = []
            try await eventually("the log tells of it") {
                said += lines.take(.notice).map(\.message).filter { $0.contains("GRANT pg_read_all_stats TO app") }
                return !said.isEmpty
            }
            #expect(try await !scene.isOnReplica(database.makeContext(reading: .automatic)))
            try await scene.readers[0].query("GRANT pg_read_all_stats TO app")
            try await eventually("the replica is read") {
                try await scene.isOnReplica(database.makeContext(reading: .automatic))
            }
            // Once for the server.
            said += lines.take(.notice).map(\.message).filter { $0.contains("pg_read_all_stats") }
            #expect(said.count == 1)
        }
    }

    /// Reads changes with the rights of the role, and has the servers change places meanwhile.
    private func failOver(_ scene: ReplicaScene, readingWith database: Database) async throws {
        let changes = try await database.makeContext().changes(of: ["person"])
        let reading = Task { for try await _ in changes {} }
        try await failOver(scene)
        try await eventually("the replica is read") {
            try await scene.isOnReplica(database.makeContext(reading: .automatic))
        }
        reading.cancel()
        _ = await reading.result
        // Nothing but the mark tells of it.
        #expect(try await scene.readers[1].value("SELECT timeline_id FROM pg_control_checkpoint()") == 1)
    }

    @Test func aReaderOfChangesHasThePrimaryMarkItsTimeline() async throws {
        let lines = LogLines()
        try await withRole(lines) { writer in
            let tracking = Tracking(writer)
            try await tracking.install(readers: ["app"])
            try await tracking.enable("person")
        } body: { scene, database in
            try await failOver(scene, readingWith: database)
            let context = database.makeContext(reading: .automatic)
            try await context.create("person", ["name": "eve"])
            let next = database.makeContext(reading: .automatic, after: context.position)
            try await eventually("the position is reached") { try await scene.isOnReplica(next) }
            #expect(try await next.fetch("person").where("name = %@", "eve").count() == 1)
        }
    }

    /// What stands in the schema may be anybody's.
    @Test func aMarkCountsByTheRoleThatOwnsIt() async throws {
        let lines = LogLines()
        try await withRole(lines, tracking: Tracking.Options(owner: "keeper")) { writer in
            try await writer.runScript(
                """
                CREATE ROLE keeper LOGIN;
                DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO keeper', current_database()); END $$;
                ALTER TABLE person OWNER TO keeper;
                """)
            var configuration = writer.configuration
            configuration.user = "keeper"
            try await lend(configuration) { keeper in
                let tracking = Tracking(keeper)
                try await tracking.install(readers: ["app"])
                try await tracking.enable("person")
            }
        } body: { scene, database in
            var configurations = ([scene.primary] + scene.servers).map(\.configuration)
            for index in configurations.indices { configurations[index].user = "app" }
            let other = try await Database.connect(
                primary: configurations[0], replicas: Array(configurations.dropFirst()), logger: lines.logger)
            do {
                try await failOver(scene, readingWith: database)
                for _ in 0..<20 {
                    #expect(try await !scene.isOnReplica(other.makeContext(reading: .automatic)))
                    try await Task.sleep(for: .milliseconds(50))
                }
            } catch {
                await other.close(timeout: .zero)
                throw error
            }
            await other.close()
        }
    }

    /// A dump takes the mark along, to a server of another system.
    @Test func aMarkOfAnotherSystemCountsForNothing() async throws {
        let lines = LogLines()
        try await withRole(lines) { writer in
            try await Tracking(writer).install(readers: ["app"])
            // Of timeline 7, as system 1 would write it.
            try await writer.query("SELECT setval('kindred.tracking_timeline', 1::bigint << 32 | 7)")
        } body: { scene, database in
            try await failOver(scene)
            var said: [String] = []
            try await eventually("the log tells of it") {
                said += lines.take(.notice).map(\.message).filter { $0.contains("GRANT pg_read_all_stats TO app") }
                return !said.isEmpty
            }
            #expect(try await !scene.isOnReplica(database.makeContext(reading: .automatic)))
        }
    }
}
