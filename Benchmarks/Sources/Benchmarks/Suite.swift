import CFloor
import EmbeddedPostgres
import KindredPostgres

/// All measurements.
struct Suite: Sendable {
    let rounds: Int
    let only: String
    let isPinned: Bool

    // Not on the main actor, as in a server: its thread would be another hop for each answer.
    @concurrent
    func run() async throws {
        var table = Table(isPinned: isPinned)
        try await EmbeddedPostgres.withServer { server in
            let shop = try BenchmarkDatabase.make("bench_shop", on: server, Workload.script)
            let one = try await PostgresClient.connect(try shop.configuration(connections: 1))
            let four = try await PostgresClient.connect(try shop.configuration(connections: 4))
            let measurements = lookups(shop, one) + rows(shop, one) + concurrentLookups(shop, four)
            for measurement in measurements where only.isEmpty || measurement.name.contains(only) {
                var outcome = Outcome(of: measurement)
                for round in 0..<rounds { try await outcome.measure(round: round) }
                table.append(outcome)
            }
            await one.close()
            await four.close()
        }
        table.write()
    }

    /// One after the other over one connection.
    private func lookups(_ database: BenchmarkDatabase, _ client: PostgresClient) -> [Measurement] {
        let count: Int32 = 5_000
        return [
            Measurement(
                name: "row by key",
                unit: "rows",
                goal: .ofFloor(isPinned ? 0.5 : 0.85),
                floor: {
                    try database.withTarget {
                        Double(count) / (try seconds(floor_lookup($0, Workload.bookByKey, Workload.books, count)))
                    }
                },
                kindred: {
                    try await rate(of: Int(count)) {
                        for step in 0..<count { try await lookUp(key(Int(step)), client) }
                    }
                }
            )
        ]
    }

    /// Whole tables.
    private func rows(_ database: BenchmarkDatabase, _ client: PostgresClient) -> [Measurement] {
        let count: Int32 = 20
        return [
            Measurement(
                name: "10,000 rows",
                unit: "rows",
                goal: .ofFloor(0.35),
                floor: {
                    try database.withTarget {
                        var rows = 0
                        let time = try seconds(floor_rows($0, Workload.allBooks, count, &rows))
                        return Double(rows) / time
                    }
                },
                kindred: {
                    try await rate(of: Int(count * Workload.books)) {
                        for _ in 0..<count {
                            let result = try await client.query("SELECT id, author_id, title, year, price FROM book")
                            for row in result where row.count != 5 { throw UnexpectedResult() }
                        }
                    }
                }
            )
        ]
    }

    /// Many tasks over few connections.
    private func concurrentLookups(_ database: BenchmarkDatabase, _ client: PostgresClient) -> [Measurement] {
        let tasks: Int32 = 20
        let count: Int32 = 1_000
        let kindred: Measurement.Run = {
            try await rate(of: Int(tasks * count)) {
                try await withThrowingDiscardingTaskGroup { group in
                    for task in 0..<tasks {
                        group.addTask {
                            for step in 0..<count { try await lookUp(key(Int(task * count + step)), client) }
                        }
                    }
                }
            }
        }
        return [
            Measurement(
                name: "20 tasks over 4 connections, libpq in threads",
                unit: "rows",
                goal: .rate(90_000),
                floor: {
                    try database.withTarget {
                        Double(tasks * count)
                            / (try seconds(floor_threads($0, Workload.bookByKey, Workload.books, tasks, 4, count)))
                    }
                },
                kindred: kindred
            ),
            Measurement(
                name: "20 tasks over 4 connections, libpq pipelined",
                unit: "rows",
                goal: .rate(90_000),
                floor: {
                    try database.withTarget {
                        Double(tasks * count)
                            / (try seconds(
                                floor_pipeline($0, Workload.bookByKey, Workload.books, tasks, 4, tasks * count)))
                    }
                },
                kindred: kindred
            ),
        ]
    }
}

struct UnexpectedResult: Error {}

private func key(_ step: Int) -> Int {
    step * 7919 % Int(Workload.books) + 1
}

private func lookUp(_ key: Int, _ client: PostgresClient) async throws {
    let result = try await client.query("SELECT id, author_id, title, year, price FROM book WHERE id = \(key)")
    guard result.first?.count == 5 else { throw UnexpectedResult() }
}

/// How much was done per second.
private func rate(of count: Int, _ body: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await body()
    return Double(count) / (ContinuousClock.now - start).seconds
}

extension Duration {
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
