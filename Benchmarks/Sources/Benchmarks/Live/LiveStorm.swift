import Kindred
import KindredLive

/// Many live requests that begin at once in a fresh program, as after a deploy.
struct LiveStorm: Sendable {
    private let place: BenchmarkDatabase

    init(_ place: BenchmarkDatabase) { self.place = place }

    /// 10,000 distinct requests, until each has had its first update; beside it the same questions, asked once by themselves.
    func measure() async throws -> [[String]] {
        let database = try await Database.connect(try place.configuration(connections: 10))
        let count = 10_000
        let plain = try await ContinuousClock().measure {
            let context = database.makeContext()
            for owner in 1...count { _ = try await context.fetch("part").where("owner_id == %@", owner).all() }
        }
        let counter = StatementCounter(database.client)
        let time = try await ContinuousClock().measure {
            let (given, first) = AsyncThrowingStream<Void, any Error>.makeStream()
            try await withThrowingDiscardingTaskGroup { group in
                for owner in 1...count {
                    group.addTask {
                        do {
                            let request = try database.makeContext().fetch("part").where("owner_id == %@", owner)
                            var updates = try await request.live().makeAsyncIterator()
                            _ = try await updates.next()
                            first.yield()
                            // All stay open until the last one has had its update.
                            try? await Task.sleep(for: .seconds(600))
                            withExtendedLifetime(updates) {}
                        } catch {
                            first.finish(throwing: error)
                        }
                    }
                }
                var updates = given.makeAsyncIterator()
                for _ in 1...count { _ = try await updates.next() }
                group.cancelAll()
            }
        }
        let statements = counter.count
        await database.close()
        func seconds(_ time: Duration) -> String { "\((time / .milliseconds(10)).rounded() / 100) s" }
        return [
            ["storm, 10,000 requests at once, to the last first update", seconds(time), "5 s"],
            ["storm, the same 10,000 questions one after the other", seconds(plain), ""],
            ["storm, statements", "\(statements)", ""],
        ]
    }
}
