import KindredPostgres
import KindredTesting
import Testing

/// PgBouncer as its package sets it, which refuses options at the beginning of a session.
@Suite(
    .database("CREATE TABLE note (id bigint PRIMARY KEY, data bytea, number float8, span interval)"),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed: apt-get install pgbouncer"))
struct PoolerDefaultsTests {
    private func alterDatabase(_ setting: SQL) async throws {
        try await withClient { client in
            let name = try await client.query("SELECT current_database()")[0].decode(0, as: String.self) ?? ""
            try await client.query("ALTER DATABASE \(identifier: name) SET " + setting)
        }
    }

    @Test(arguments: TestPooler.Mode.usable) func everythingWorksThroughIt(mode: TestPooler.Mode) async throws {
        let pooler = try await TestPooler(mode: mode)
        try await lend(try await pooler.connect()) { (client) async throws in
            let data: [UInt8] = [0, 0x5C, 0xFF, 0x41]
            for id in 0..<20 {
                try await client.withTransaction { _ in
                    try await client.query(
                        "INSERT INTO note VALUES (\(id), \(data), \(0.1 + 0.2), '1 day 02:03:04')")
                    try await client.query("SELECT 1")
                }
            }
            var count = 0
            for try await row in try client.stream("SELECT id, data, number FROM note") {
                #expect(try row.decode(1, as: [UInt8].self) == data && row.decode(2, as: Double.self) == 0.1 + 0.2)
                count += 1
            }
            #expect(count == 20)
            // As texts.
            let texts = try await client.query("SELECT data::text, number::text, span::text FROM note LIMIT 1")[0]
            #expect(try texts[0] == "\\x005cff41" && texts[1] == "0.30000000000000004" && texts[2] == "1 day 02:03:04")
            await expectPostgresError(.timeout) {
                try await client.query("SELECT pg_sleep(60)", timeout: .milliseconds(100))
            }
            try await expectUsable(client)
        }
        withExtendedLifetime(pooler) {}
    }

    @Test(arguments: TestPooler.Mode.usable) func timesAreThoseOfUTCAlsoAfterAReset(mode: TestPooler.Mode)
        async throws
    {
        try await alterDatabase("TimeZone = 'Asia/Tokyo'")
        try await alterDatabase("DateStyle = 'German'")
        let pooler = try await TestPooler(mode: mode)
        let first = try await pooler.connect()
        await first.close()
        var configuration = pooler.configuration
        configuration.pool.maximumConnections = 1
        try await lend(configuration) { (client) async throws in
            for _ in 0..<2 {
                #expect(try await client.query("SHOW TimeZone")[0][0] == "UTC")
                #expect(try await client.query("SELECT '2026-02-01'::date::text")[0][0] == "2026-02-01")
                // The session is put back afterwards.
                try await client.query("SELECT set_config('TimeZone', 'America/Lima', \(false))")
            }
            #expect(client.metrics.opened == 1)
        }
        withExtendedLifetime(pooler) {}
    }

    @Test func whatCannotBeSetIsRefusedWithTheRemedy() async throws {
        try await alterDatabase("bytea_output = 'escape'")
        let pooler = try await TestPooler(mode: .transaction)
        let error = await expectPostgresError(.connectionFailed) { try await pooler.connect().close() }
        #expect(error?.message.contains("SET bytea_output =") == true, "\(String(describing: error))")
        withExtendedLifetime(pooler) {}
    }

    @Test func theSettingsOfAClientAreNoticed() async throws {
        let pooler = try await TestPooler(mode: .session)
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.settings = ["timezone": "Europe/Paris"]
        try await lend(configuration) { (client) async throws in
            #expect(try await client.query("SHOW TimeZone")[0][0] == "Europe/Paris")
        }
        configuration.settings = ["lock_timeout": "2s"]
        let error = await expectPostgresError(.connectionFailed) { [configuration] in
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.message.contains("SET lock_timeout =") == true, "\(String(describing: error))")
        configuration.settings = [:]
        configuration.options = "-c lock_timeout=2s"
        let refused = await expectPostgresError(.connectionFailed) { [configuration] in
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(refused?.message.contains("unsupported startup parameter") == true)
        withExtendedLifetime(pooler) {}
    }

    @Test func notificationsArriveFromWholeSessions() async throws {
        let pooler = try await TestPooler(mode: .session)
        try await lend(try await pooler.connect()) { (client) async throws in
            let events = try await client.listen(to: "orders")
            try await client.notify("orders", payload: "7")
            var iterator = events.makeAsyncIterator()
            guard case .notification(let notification)? = await iterator.next() else {
                Issue.record("no notification")
                return
            }
            #expect(notification.payload == "7")
        }
        withExtendedLifetime(pooler) {}
    }

    @Test func listeningWithoutEffectIsRefused() async throws {
        let pooler = try await TestPooler(mode: .transaction)
        try await lend(try await pooler.connect()) { (client) async throws in
            let error = await expectPostgresError(.connectionFailed) { _ = try await client.listen(to: "orders") }
            #expect(error?.message.contains("LISTEN has no effect") == true, "\(String(describing: error))")
            try await expectUsable(client)
        }
        withExtendedLifetime(pooler) {}
    }
}
