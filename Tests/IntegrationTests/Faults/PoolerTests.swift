import KindredPostgres
import KindredTesting
import Testing

@Suite(
    .database("CREATE TABLE note (id bigint PRIMARY KEY, text text)"),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
struct PoolerTests {
    private func withPooler(sessions: Int = 2, _ body: (PostgresClient) async throws -> Void) async throws {
        let pooler = try await TestPooler(sessions: sessions)
        let client = try await pooler.connect()
        do {
            try await body(client)
        } catch {
            await client.close(timeout: .zero)
            throw error
        }
        await client.close()
        withExtendedLifetime(pooler) {}
    }

    @Test("S3: without named statements, clients share the sessions of a pooler") func sharedSessions() async throws {
        try await withPooler { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for number in 0..<20 {
                            let id = task * 100 + number
                            try await client.withTransaction { _ in
                                try await client.query("INSERT INTO note VALUES (\(id), \("text \(id)"))")
                                let row = try await client.query("SELECT text FROM note WHERE id = \(id)")[0]
                                #expect(try row["text"] == .string("text \(id)"))
                            }
                            let row = try await client.query("SELECT \(id) AS id")[0]
                            #expect(try row.decode("id", as: Int.self) == id)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await client.query("SELECT count(*) FROM note")
            #expect(try rows[0][0] == 160)
            #expect(client.metrics.lost == 0)
        }
    }

    @Test("L15: streams, COPY, cancellation and errors work through a pooler") func otherRequests() async throws {
        try await withPooler { client in
            let copied = try await client.copyIn(
                "COPY note FROM STDIN", from: CopyTests.pieces(1_000) { "\($0)\tx\n" })
            #expect(copied == 1_000)
            var count = 0
            for try await _ in try client.stream("SELECT * FROM note") { count += 1 }
            #expect(count == 1_000)
            for try await _ in try client.stream("SELECT generate_series(1, 1000000)") { break }
            await expectPostgresError(.timeout) {
                try await client.query("SELECT pg_sleep(60)", timeout: .milliseconds(100))
            }
            await expectPostgresError(.server) { try await client.query("SELECT 1 / 0") }
            try await expectUsable(client)
        }
    }
}
