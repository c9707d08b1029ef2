import EmbeddedPostgres
import KindredPostgres
import Testing

/// An embedded server asks clients over TCP for a password: any user of the machine may connect.
@Suite struct EmbeddedPasswordTests {
    @Test func aClientOverTCPNeedsAPassword() async throws {
        // A loopback address of its own, since the port is always the same.
        let address = "127.83.\(Int.random(in: 1...250)).\(Int.random(in: 1...250))"
        var options = EmbeddedPostgres.Options()
        options.settings = ["listen_addresses": address]
        try await EmbeddedPostgres.withServer(options: options) { server in
            func greeting(_ user: String) async throws -> String? {
                let uri = "postgresql://\(user)@\(address):\(EmbeddedPostgres.port)/postgres?sslmode=disable"
                return try await PostgresClient.connect(try PostgresConfiguration(uri: uri)).lend { client in
                    try await client.query("SELECT 'hello'").first?.decode(0, as: String.self)
                }
            }
            for user in ["postgres", "postgres:", "postgres:wrong"] {
                await #expect(throws: PostgresError.self) { try await greeting(user) }
            }
            let local = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
            try await local.runScript("ALTER ROLE postgres PASSWORD 'right'")
            await local.close()
            #expect(try await greeting("postgres:right") == "hello")
            await #expect(throws: PostgresError.self) { try await greeting("postgres:wrong") }
        }
    }
}
