import KindredPostgres
import KindredTesting
import Logging
import Testing

/// The kind of a pooler: told, or found out, and its consequences.
@Suite(.database) struct PoolerModeTests {
    private static let prepared: SQL = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'kindred%'"

    /// The number of prepared statements in the only session.
    private func prepared(_ client: PostgresClient) async throws -> Int {
        // SQL of the program is not prepared behind a pooler of transactions.
        let statement = Statement(text: StatementText("SELECT 1"), resultFormat: .binary)
        for _ in 0..<3 { try await client.execute(statement) }
        return try #require(try await client.query(Self.prepared)[0].decode(0, as: Int.self))
    }

    @Test func theServerItselfIsAskedNothing() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let sent = proxy.recordSent()
        let lines = LogLines()
        let client = try await PostgresClient.connect(proxy.configuration, logger: lines.logger)
        try await lend(client) { (client) async throws in
            #expect(client.pooler == .none)
            try await client.query("SELECT 'asked'")
        }
        #expect(sent.text.contains("asked") && !sent.text.contains("pg_backend_pid"))
        #expect(lines.take(.notice).isEmpty)
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"), arguments: TestPooler.Mode.usable)
    func aPoolerIsFoundAndSaidOnce(mode: TestPooler.Mode) async throws {
        let pooler = try await TestPooler(mode: mode)
        try await pooler.connect().close()
        let lines = LogLines()
        var configuration = pooler.configuration
        configuration.pool.maximumConnections = 3
        let client = try await PostgresClient.connect(configuration, logger: lines.logger)
        try await lend(client) { (client) async throws in
            #expect(client.pooler == .transaction)
            try await client.withTransaction { _ in
                try await client.query("SELECT 1")
                // Another connection.
                _ = try await Task.detached { try await client.withTransaction { try await $0.query("SELECT 1") } }
                    .value
            }
            #expect(client.metrics.opened > 1)
        }
        #expect(lines.take(.notice).count { $0.message.hasPrefix("a pooler stands before the server") } == 1)
        withExtendedLifetime(pooler) {}
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func aPoolerOfStatementsIsRefused() async throws {
        let pooler = try await TestPooler(mode: .statement)
        let configuration = pooler.configuration
        var error: PostgresError?
        try await eventually("the pooler does not answer") {
            do {
                try await PostgresClient.connect(configuration).close()
                return true
            } catch let found as PostgresError {
                error = found
                return found.message.contains("lends its sessions by statement")
            }
        }
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains("pool_mode to transaction") == true)
        withExtendedLifetime(pooler) {}
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func aPoolerThatIsFoundIsSentNothingPrepared() async throws {
        let pooler = try await TestPooler(mode: .session)
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.pool.maximumConnections = 1
        try await lend(configuration) { (client) async throws in #expect(try await prepared(client) == 0) }
        configuration.pooler = .session
        try await lend(configuration) { (client) async throws in
            #expect(client.pooler == .session)
            #expect(try await prepared(client) > 0)
        }
        withExtendedLifetime(pooler) {}
    }

    @Test(arguments: [.none, .session, .transaction] as [PostgresConfiguration.Pooler])
    func whatIsToldIsBelieved(pooler: PostgresConfiguration.Pooler) async throws {
        try await withClient(maximumConnections: 1, configure: { $0.pooler = pooler }) { client in
            #expect(client.pooler == pooler)
            let prepares = try await prepared(client) > 0
            #expect(prepares == (pooler != .transaction))
        }
        let keep: (inout PostgresConfiguration) -> Void = {
            $0.pooler = pooler
            $0.statementCacheCapacity = 10
        }
        try await withClient(maximumConnections: 1, configure: keep) { client in
            let count = try await prepared(client)
            #expect(count > 0)
        }
    }

    @Test func listeningIsRefusedBeforeAConnection() async throws {
        var configuration = try PostgresConfiguration(uri: "postgres://nobody@127.0.0.1:1/nowhere?pooler=transaction")
        configuration.tls.mode = .disable
        let listener = try PostgresListener(configuration)
        let error = await expectPostgresError(.connectionFailed) { _ = try await listener.listen(to: "orders") }
        #expect(error?.message.contains("LISTEN has no effect") == true, "\(String(describing: error))")
        listener.close()
    }

    @Test func aStreamNeedsATransactionInsideOfAConnection() async throws {
        let numbers: SQL = "SELECT generate_series(1, 3)"
        try await withClient(maximumConnections: 1, configure: { $0.pooler = .transaction }) { client in
            try await client.withConnection { _ in
                let error = await expectPostgresError(.sessionNeeded) {
                    for try await _ in try client.stream(numbers) {}
                }
                #expect(error?.message.contains("stream in a transaction") == true)
                var count = 0
                try await client.withTransaction { _ in for try await _ in try client.stream(numbers) { count += 1 } }
                #expect(count == 3)
            }
            var count = 0
            for try await _ in try client.stream(numbers) { count += 1 }
            #expect(count == 3)
        }
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { _ in
                var count = 0
                for try await _ in try client.stream(numbers) { count += 1 }
                #expect(count == 3)
            }
        }
    }
}
