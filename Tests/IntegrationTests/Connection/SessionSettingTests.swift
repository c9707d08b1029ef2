import KindredPostgres
import KindredTesting
import Testing

/// A client's configured settings are in force in its sessions, or the sessions are refused.
@Suite(.database) struct SessionSettingTests {
    @Test func settingsOfAllKindsAreTakenHoweverTheyAreWritten() async throws {
        let settings = [
            "lock_timeout": "2000", "work_mem": "4096kB", "enable_seqscan": "0", "timezone": "utc",
            "app.tenant": "a\'b c",
            "search_path": "pg_catalog,  public", "default_transaction_isolation": "SERIALIZABLE",
            // It can be set for the beginning of a session only.
            "log_connections": "on",
        ]
        try await withClient(maximumConnections: 1, configure: { $0.settings = settings }) { (client) async throws in
            let row = try await client.query(
                "SELECT current_setting(\("lock_timeout")), current_setting(\("work_mem")), current_setting(\("app.tenant"))"
            )[0]
            #expect(try row[0] == "2s" && row[1] == "4MB" && row[2] == "a\'b c")
        }
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func aPoolerThatDropsASettingIsRefused() async throws {
        let pooler = try await TestPooler(sessions: 1)
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.settings = ["lock_timeout": "2s", "app.tenant": "a"]
        let error = await expectPostgresError(.connectionFailed) { [configuration] in
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.message.contains("SET app.tenant =") == true, "\(String(describing: error))")
        // Where the database says the same, nothing is missing.
        try await withClient { client in
            let name = try await client.query("SELECT current_database()")[0].decode(0, as: String.self) ?? ""
            try await client.query("ALTER DATABASE \(identifier: name) SET lock_timeout = 2000")
            try await client.query("ALTER DATABASE \(identifier: name) SET app.tenant = 'a'")
        }
        try await pooler.command("RECONNECT")
        try await lend(configuration) { try await expectUsable($0) }
        withExtendedLifetime(pooler) {}
    }
}
