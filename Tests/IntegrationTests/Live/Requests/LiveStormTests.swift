import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

/// Many live requests that begin at the same time, as after a deployment.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE item (id integer PRIMARY KEY, value integer NOT NULL);
            INSERT INTO item SELECT i, i FROM generate_series(1, 300) AS i;
            """)), .timeLimit(.minutes(5))
) struct LiveStormTests {
    @Test func requestsThatBeginTogetherAskTheCatalogOnce() async throws {
        try await withLive("item") { database, context, _ in
            let questions = Mutex(0)
            let observation = database.client.addObserver { event in
                if event.sql.contains("pg_rewrite") {
                    questions.withLock { $0 += 1 }
                }
            }
            defer { observation.cancel() }
            try await withThrowingTaskGroup(of: Int64?.self) { group in
                for id in 1...300 {
                    group.addTask {
                        // Each request is another.
                        let live = try await context.fetch("item").where("id == %@", id).live()
                        var updates = live.makeAsyncIterator()
                        return try await updates.update().integers().first ?? nil
                    }
                }
                var shown: Set<Int64?> = []
                for try await id in group { shown.insert(id) }
                #expect(shown.count == 300)
            }
            let asked = questions.withLock { $0 }
            #expect(asked >= 1 && asked < 30, "The catalog was asked \(asked) times")
        }
    }

    @Test func aTableThatIsTrackedMeanwhileIsFollowed() async throws {
        try await withDatabase { database, context, _ in
            try await database.tracking.install()
            await expectError(.trackingNotEnabled) { _ = try await context.fetch("item").live() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try? await context.fetch("item").live() } }
                try await database.tracking.enable("item")
                // Answers of tasks that have asked before say that it is not tracked.
                for _ in 0..<20 { _ = try await context.fetch("item").live() }
                try await group.waitForAll()
            }
        }
    }
}
