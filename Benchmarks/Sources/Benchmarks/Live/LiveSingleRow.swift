import Kindred
import KindredLive

/// The time of statements of one row in a session whose first statements, and their triggers, were of 100,000 rows.
struct LiveSingleRow: Sendable {
    private static let table: [SQL] = [
        "CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL DEFAULT 0)",
        "INSERT INTO item SELECT i FROM generate_series(1, 100000) i", "ANALYZE item",
    ]
    private static let many: [SQL] = [
        "UPDATE item SET n = n + 1", "DELETE FROM item", "INSERT INTO item SELECT i FROM generate_series(1, 100000) i",
    ]
    private static let one: [SQL] = [
        "UPDATE item SET n = n + 1 WHERE id = 500", "DELETE FROM item WHERE id = 500", "INSERT INTO item VALUES (500)",
    ]

    private let place: BenchmarkDatabase
    private let database: Database

    init(_ database: Database, _ place: BenchmarkDatabase) {
        (self.database, self.place) = (database, place)
    }

    func measure() async throws -> [[String]] {
        for statement in Self.table { try await database.client.query(statement) }
        try await database.tracking.enable("item")
        let used = try await PostgresClient.connect(try place.configuration(connections: 1))
        for statement in Self.many { try await used.query(statement, timeout: .seconds(600)) }
        try await database.client.query("VACUUM ANALYZE item")
        let fresh = try await PostgresClient.connect(try place.configuration(connections: 1))
        var ratios: [[Double]] = [[], [], []]
        for _ in 0..<200 {
            let alone = try await times(on: fresh)
            let after = try await times(on: used)
            for statement in ratios.indices { ratios[statement].append(after[statement] / alone[statement]) }
        }
        await fresh.close()
        await used.close()
        return zip(["UPDATE", "DELETE", "INSERT"], ratios).map { name, ratios in
            let ratio = (ratios.percentile(0.5) * 100).rounded() / 100
            return ["single \(name) after one of 100,000 rows, of that in a fresh session", "\(ratio)", "2"]
        }
    }

    /// The seconds that each statement takes; together they leave the table as it was.
    private func times(on client: PostgresClient) async throws -> [Double] {
        var times: [Double] = []
        for statement in Self.one {
            let start = ContinuousClock.now
            try await client.query(statement)
            times.append((ContinuousClock.now - start) / .seconds(1))
        }
        return times
    }
}
