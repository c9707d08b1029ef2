import EmbeddedPostgres
import Foundation
import Kindred
import KindredTesting
import Testing

/// A replica with a lag, and a failover, for the tests of programs.
@Suite(.timeLimit(.minutes(15))) struct ReplicatedServersTests {
    private static let fixture: DatabaseFixture = """
        CREATE TABLE note (id integer PRIMARY KEY);
        INSERT INTO note VALUES (1);
        CREATE VIEW place AS SELECT 1 AS id, pg_is_in_recovery() AS is_replica;
        """

    private func lendReplica(
        of servers: ReplicatedServers, _ body: (PostgresClient) async throws -> Void
    ) async throws {
        try await lend(try PostgresConfiguration(uri: servers.replicaURI), body)
    }

    @Test func theReplicaLagsAsItIsToldTo() async throws {
        try await ReplicatedServers.with(Self.fixture, lag: .seconds(3_600)) { servers in
            try await lendReplica(of: servers) { replica in
                #expect(try await replica.value("SELECT pg_is_in_recovery()") == true)
                #expect(try await replica.value("SELECT count(*) FROM note") == 1)
                let database = try await servers.connect()
                let context = database.makeContext(reading: .automatic)
                try await context.create("note", ["id": 2])
                // The context sees its own write, wherever it reads.
                #expect(try await context.fetch("note").count() == 2)
                #expect(try await replica.value("SELECT count(*) FROM note") == 1)
                try await servers.setLag(.zero)
                try await eventually("the replica shows the write") {
                    try await replica.value("SELECT count(*) FROM note") == 2
                }
                try await eventually("the replica is read") {
                    try await context.fetch("place").one()["is_replica"] == true
                }
            }
        }
    }

    @Test func theReplicaTakesThePlaceOfThePrimaryWithAllThatWasCommitted() async throws {
        var folder: String?
        try await ReplicatedServers.with(Self.fixture, lag: .seconds(3_600)) { servers in
            try await lendReplica(of: servers) { replica in
                folder = try await replica.value("SHOW data_directory")?.description
                #expect(FileManager.default.fileExists(atPath: folder ?? ""))
                let database = try await servers.connect()
                let context = database.makeContext()
                for id in 2...20 { try await context.create("note", ["id": id]) }
                try await servers.failOver()
                #expect(try await replica.value("SELECT pg_is_in_recovery()") == false)
                #expect(try await replica.value("SELECT count(*) FROM note") == 20)
                try await context.create("note", ["id": 21])
                #expect(try await replica.value("SELECT count(*) FROM note") == 21)
                // There is no primary to replace any more.
                await #expect(throws: PostgresError.self) { try await servers.failOver() }
            }
        }
        let removed = try #require(folder)
        #expect(!FileManager.default.fileExists(atPath: removed))
    }

    @Test func aFixtureThatFailsLeavesNothing() async throws {
        let error = await #expect(throws: TestDatabaseError.self) {
            try await ReplicatedServers.with("SELECT 1 / 0") { _ in Issue.record("the fixture has failed") }
        }
        #expect(error?.code == .fixtureFailed)
    }

    @Test func aServerThatIsGoneCannotBeFollowed() async throws {
        let primary = try await EmbeddedPostgres.start()
        await primary.stop()
        var options = EmbeddedPostgres.Options()
        options.following = primary
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            _ = try await EmbeddedPostgres.start(options: options)
        }
        #expect(error?.code == .initializationFailed && error?.message.contains("pg_basebackup") == true)
    }
}
