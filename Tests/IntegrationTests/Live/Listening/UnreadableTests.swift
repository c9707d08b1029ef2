import Kindred
import KindredLive
import KindredTesting
import Logging
import Testing

/// The log's lines where changes cannot be read.
@Suite(.database(.sql(Listening.schema)), .timeLimit(.minutes(5))) struct UnreadableTests {
    @Test func itIsSaidOnceAndReadingGoesOn() async throws {
        let log = LogLines()
        try await RestartableServer.with(settings: ["fsync = on"]) { server in
            var configuration = server.configuration
            // An attempt takes as long while the server is away.
            configuration.pool.acquireTimeout = .seconds(5)
            let database = try await Database.connect(
                configuration, tracking: Tracking.Options(wakeUp: .poll), logger: log.logger)
            try await database.client.runScript("CREATE TABLE person (id integer PRIMARY KEY)")
            try await database.refreshSchema()
            try await database.tracking.install()
            try await database.tracking.enable("person")
            var changes = try await database.makeContext().changes(of: "person").makeAsyncIterator()
            try await server.stop(.immediate)
            var lines: [String] = []
            func look() { lines += log.take(.warning).map(\.message).filter { $0.contains("could not be read") } }
            try await eventually("nothing is said") {
                look()
                return !lines.isEmpty
            }
            let before = database.tracking.metrics.retries
            try await eventually("it is not tried again") { database.tracking.metrics.retries > before + 1 }
            try await server.start()
            try await lend(server.configuration) { try await $0.query("INSERT INTO person VALUES (1)") }
            #expect(try await changes.next().map(Seen.init) == .inserted("person 1"))
            look()
            #expect(lines.count == 1)
            await database.close()
        }
    }
}
