import KindredPostgres
import KindredTesting
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL)"))
struct QueryTests {
    @Test func parametersAndResultsGoBothWays() async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        for _ in 0..<3 {
            let rows = try await client.query("SELECT \(41)::int8 + 1 AS number, \("ä'b") || '' AS text")
            #expect(try rows[0].decode("number", as: Int.self) == 42)
            #expect(try rows[0].decode("text", as: String.self) == "ä'b")
        }
        let inserted = try await client.query("INSERT INTO note VALUES (\(1), \("first")), (2, 'second')")
        #expect(inserted.affectedRows == 2)
        await client.close()
        #expect(client.metrics.idle + client.metrics.inUse == 0)
    }

    @Test func anErrorHasItsFactsAndHarmsNobodyElse() async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        try await client.query("INSERT INTO note VALUES (1, 'first')")
        let error = await #expect(throws: PostgresError.self) {
            try await client.query("INSERT INTO note VALUES (1, \("secret"))")
        }
        #expect(error?.sqlState == .uniqueViolation)
        #expect(error?.server?.constraint == "note_pkey")
        #expect(error?.statement?.hasPrefix("INSERT INTO note") == true)
        #expect(error.map { !"\($0)".contains("secret") } == true)
        #expect(try await client.query("SELECT count(*) FROM note")[0].decode(0, as: Int.self) == 1)
        await client.close()
    }

    @Test func manyTasksShareFewConnections() async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.pool.maximumConnections = 4
        let client = try await PostgresClient.connect(configuration)
        try await withThrowingTaskGroup { group in
            for task in 0..<20 {
                group.addTask {
                    for number in 0..<50 {
                        let value = task * 1_000 + number
                        if number % 10 == 9 {
                            await #expect(throws: PostgresError.self) { try await client.query("SELECT 1 / \(0)") }
                        }
                        let row = try await client.query("SELECT \(value)")[0]
                        #expect(try row.decode(0, as: Int.self) == value)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(client.metrics.opened <= 4)
        await client.close()
    }
}
