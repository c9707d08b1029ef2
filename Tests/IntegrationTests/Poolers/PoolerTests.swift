import KindredPostgres
import KindredTesting
import Testing

@Suite(
    .database("CREATE TABLE note (id bigint PRIMARY KEY, text text)"),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
struct PoolerTests {
    private func withPooler(sessions: Int = 2, _ body: (PostgresClient) async throws -> Void) async throws {
        let pooler = try await TestPooler(sessions: sessions)
        try await lend(try await pooler.connect(), body)
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

    @Test("S3: statements with names never run another client's, and are given up where sessions change")
    func namedStatements() async throws {
        let pooler = try await TestPooler(sessions: 2)
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.statementCacheCapacity = 256
        configuration.pool.maximumConnections = 4
        let clients = try await [PostgresClient.connect(configuration), PostgresClient.connect(configuration)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, client) in clients.enumerated() {
                for task in 0..<4 {
                    group.addTask { () async throws in
                        for number in 0..<60 {
                            // The same types of parameters and columns everywhere, so that a mix-up would not show.
                            let sql: SQL =
                                switch (place, number % 3) {
                                case (0, 0): "SELECT \(task) + 0"
                                case (0, 1): "SELECT \(task) + 10"
                                case (0, _): "SELECT \(task) + 20"
                                case (_, 0): "SELECT \(task) + 100"
                                case (_, 1): "SELECT \(task) + 110"
                                default: "SELECT \(task) + 120"
                                }
                            let expected = task + 100 * place + 10 * (number % 3)
                            let sum = try await client.query(sql)[0].decode(0, as: Int.self)
                            #expect(sum == expected)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for client in clients {
            #expect(client.metrics.lost == 0)
            await client.close()
        }
        withExtendedLifetime(pooler) {}
    }

    @Test("L16: while a pooler pauses, statements have their own time, and those that wait go on afterwards")
    func pause() async throws {
        let pooler = try await TestPooler(sessions: 2)
        let client = try await pooler.connect()
        // Both sessions are open before the pause: the pooler takes a session that it ends in its login for a refusal.
        try await client.withTransaction { first in
            try await first.query("SELECT 1")
            let second = Task.detached { try await client.withTransaction { try await $0.query("SELECT 1") } }
            _ = try await second.value
        }
        let load = (0..<4).map { _ in
            Task {
                var count = 0
                while !Task.isCancelled {
                    try await client.query("SELECT 1", timeout: .seconds(120))
                    count += 1
                }
                return count
            }
        }
        try await expectUsable(client)
        try await pooler.command("PAUSE")
        await expectPostgresError(.timeout) { try await client.query("SELECT 2", timeout: .milliseconds(100)) }
        let waiting = Task { try await client.query("SELECT 3", timeout: .seconds(120)) }
        let transaction = Task { try await client.withTransaction { try await $0.query("SELECT 4") } }
        try await pooler.command("RESUME")
        #expect(try await waiting.value.count == 1)
        #expect(try await transaction.value.count == 1)
        for task in load {
            task.cancel()
            do { _ = try await task.value } catch is CancellationError {}
        }
        try await expectUsable(client)
        await client.close()
        withExtendedLifetime(pooler) {}
    }
}
