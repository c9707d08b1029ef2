import KindredPostgres
import KindredTesting
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct ResultSizeTests {
    @Test(
        "D5: a result that is too large stops the server and leaves the connection usable",
        arguments: [
            "SELECT generate_series(1, 100000000), repeat('x', 100)",
            "SELECT generate_series(1, 100000), repeat('x', 10000000)",
        ])
    func aLargeResultIsOneError(sql: String) async throws {
        try await withClient(maximumConnections: 1, configure: { $0.maximumResultSize = 4 << 20 }) { client in
            let error = await expectPostgresError(.resultTooLarge) { try await client.query(SQL(unsafeRaw: sql)) }
            #expect(error?.statement == sql)
            try await expectUsable(client)
            #expect(client.metrics.opened == 1 && client.metrics.lost == 0)
        }
    }

    @Test func aResultJustBelowTheLimitIsRead() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.maximumResultSize = 4 << 20 }) { client in
            let rows = try await client.query("SELECT repeat('x', 1000) FROM generate_series(1, 3000)")
            #expect(rows.count == 3_000)
            // Many small ones are not one large one.
            for _ in 0..<3 {
                #expect(try await client.query("SELECT repeat('x', 2000000)").count == 1)
            }
        }
    }

    @Test func aLargeResultInATransactionFailsIt() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.maximumResultSize = 1 << 20 }) { client in
            await expectPostgresError(.resultTooLarge) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (1)")
                    try await client.query("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)")
                }
            }
            let count = try await client.query("SELECT count(*) FROM note")
            #expect(try count[0][0] == 0)
            #expect(client.metrics.lost == 0)
        }
    }

    @Test func streamsHaveNoLimit() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.maximumResultSize = 1 << 20 }) { client in
            var count = 0
            for try await _ in try client.stream("SELECT repeat('x', 100) FROM generate_series(1, 20000)") {
                count += 1
            }
            #expect(count == 20_000)
        }
    }

    @Test func statementsThatAreTooLargeTogetherGoOneAfterTheOther() async throws {
        try await withClient(maximumConnections: 1, configure: { $0.maximumBytesInFlight = 100_000 }) { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<30 {
                    let text = String(repeating: "x", count: number % 3 == 0 ? 150_000 : 40_000)
                    group.addTask {
                        let rows = try await client.query("SELECT length(\(text)), \(number)::bigint")
                        #expect(try rows[0].decode(1, as: Int.self) == number)
                        return try rows[0].decode(0, as: Int.self) ?? 0
                    }
                }
                let sum = try await group.reduce(0, +)
                #expect(sum == 10 * 150_000 + 20 * 40_000)
            }
        }
    }
}
