import Kindred
import KindredLive
import KindredTesting
import TestSupport
import Testing

/// A server that restarts under many open lists.
@Suite(.timeLimit(.minutes(15))) struct LiveRestartTests {
    @Test func aRestartUnderManyListsIsNoError() async throws {
        let count = TestAmount.isLong ? 10_000 : 500
        try await RestartableServer.with { server in
            let other = try await PostgresClient.connect(server.configuration)
            try await other.query("CREATE TABLE item (id integer PRIMARY KEY, value integer NOT NULL)")
            try await other.query("INSERT INTO item SELECT i, 0 FROM generate_series(1, \(count)) AS i")
            let database = try await Database.connect(server.configuration)
            try await database.tracking.install()
            try await database.tracking.enable("item")
            try await withThrowingTaskGroup(of: PostgresValue?.self) { group in
                let context = database.makeContext()
                let opened = AsyncStream<Void>.makeStream()
                for id in 1...count {
                    group.addTask {
                        var updates = try await context.fetch("item").where("id == %@", id).live().makeAsyncIterator()
                        _ = try await updates.update()
                        opened.continuation.yield()
                        return try await updates.update().values("value").first ?? nil
                    }
                }
                var places = opened.stream.makeAsyncIterator()
                for _ in 1...count { _ = await places.next() }
                try await server.stop(.fast)
                try await server.start()
                try await other.waitForServer()
                try await other.query("UPDATE item SET value = id")
                var values: Set<PostgresValue?> = []
                for try await value in group { values.insert(value) }
                #expect(values.count == count && !values.contains(nil))
            }
            await database.close()
            await other.close()
        }
    }
}
