import Foundation
import KindredPostgres
import KindredTesting
import Testing

/// Row C14 of the fault catalogue on a server with a certificate of its own.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is not installed"),
    .timeLimit(.minutes(15)))
struct CertificateFaultTests {
    private static let secret = "sEcr3t"

    @Test("C14: certificates of others and for others, and protocols that are too old, are refused")
    func refusals() async throws {
        let port = RestartableServer.freePort
        let settings = [
            "listen_addresses = '127.0.0.1'", "port = \(port)", "ssl = on", "ssl_max_protocol_version = 'TLSv1.2'",
        ]
        let server = try await RestartableServer(
            settings: settings, accessRules: ["local all all trust", "hostssl all all 127.0.0.1/32 trust"],
            hasCertificate: true)
        do {
            if await server.hasTLS {
                try await server.start()
                try await expectRefusals(server, port)
            }
        } catch {
            try? await server.remove()
            throw error
        }
        try await server.remove()
    }

    private func expectRefusals(_ server: RestartableServer, _ port: UInt16) async throws {
        var good = server.configuration
        good.endpoints = [.tcp(host: "localhost", port: port, address: "127.0.0.1")]
        good.password = .init(Self.secret)
        good.tls.mode = .verifyFull
        good.tls.rootCertificate = "\(server.folder)/data/server.crt"
        // The folder may be closed to the tests' own user.
        guard FileManager.default.isReadableFile(atPath: "\(server.folder)/data/server.crt") else { return }
        let client = try await PostgresClient.connect(good)
        #expect(try await client.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0][0] == true)
        await client.close()

        var otherHost = good
        otherHost.endpoints = [.tcp(host: "db.example.org", port: port, address: "127.0.0.1")]
        await refuse(otherHost, "does not match host name")
        // The chain is checked, the name is not.
        otherHost.tls.mode = .verifyCA
        try await PostgresClient.connect(otherHost).close()

        var otherAuthority = good
        otherAuthority.tls.rootCertificate = nil
        await refuse(otherAuthority, "certificate")

        var missing = good
        missing.tls.rootCertificate = "/nonexistent/ca.crt"
        await refuse(missing, "does not exist")

        var newer = try PostgresConfiguration(keywords: [
            "host": "localhost", "hostaddr": "127.0.0.1", "port": "\(port)", "user": "postgres", "dbname": "postgres",
            "sslmode": "require", "ssl_min_protocol_version": "TLSv1.3",
        ])
        newer.password = .init(Self.secret)
        await refuse(newer, "protocol version")
    }

    @Test("C14: certificates that are revoked, or not of this time, are refused, and so is a list that cannot be used")
    func authority() async throws {
        let port = RestartableServer.freePort
        let server = try await RestartableServer(
            settings: ["listen_addresses = '127.0.0.1'", "port = \(port)", "ssl = on"],
            accessRules: ["local all all trust", "hostssl all all 127.0.0.1/32 trust"], hasCertificate: true)
        do {
            if await server.hasTLS {
                try await server.makeAuthority()
                try await server.start()
                try await expectAuthority(server, port)
            }
        } catch {
            try? await server.remove()
            throw error
        }
        try await server.remove()
    }

    private func expectAuthority(_ server: RestartableServer, _ port: UInt16) async throws {
        let folder = "\(server.folder)/data/ca"
        guard FileManager.default.isReadableFile(atPath: "\(folder)/ca.crt") else { return }
        var trusting = server.configuration
        trusting.endpoints = [.tcp(host: "localhost", port: port, address: "127.0.0.1")]
        trusting.password = .init(Self.secret)
        trusting.tls.mode = .verifyFull
        trusting.tls.rootCertificate = "\(folder)/ca.crt"
        var checking = trusting
        checking.tls.revocationList = "\(folder)/crl.pem"

        try await server.useCertificate("good", port: port)
        try await PostgresClient.connect(checking).close()
        try await lineThatStandsStill(trusting)
        for name in ["expired", "early"] {
            try await server.useCertificate(name, port: port)
            await refuse(trusting, "certificate")
        }
        try await server.useCertificate("revoked", port: port)
        await refuse(checking, "certificate")
        try await PostgresClient.connect(trusting).close()
        for file in ["/nonexistent/crl.pem", "\(folder)/ca.crt"] {
            checking.tls.revocationList = file
            await refuse(checking, "sslcrl", code: .invalidConfiguration)
        }
    }

    /// L8: the end of a session under TLS does not wait for the last bytes, however full the line is.
    private func lineThatStandsStill(_ direct: PostgresConfiguration) async throws {
        let proxy = try FaultProxy(to: direct)
        defer { proxy.stop() }
        var configuration = direct
        configuration.endpoints = [.tcp(host: "localhost", port: proxy.port, address: "127.0.0.1")]
        for isFull in [false, true] {
            proxy.set { _, _ in .forward }
            let client = try await PostgresClient.connect(configuration)
            try await expectUsable(client)
            proxy.set { _, _ in .stall }
            let text = String(repeating: "x", count: isFull ? 32 << 20 : 1)
            let stuck = Task.detached { try await client.query("SELECT length(\(text))", timeout: .seconds(600)) }
            try await eventually("it is sent") { client.metrics.inUse == 1 }
            let start = ContinuousClock.now
            await client.close(timeout: .zero)
            await expectPostgresError(.closed) { _ = try await stuck.value }
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    private func refuse(
        _ configuration: PostgresConfiguration, _ reason: String, code: PostgresError.Code = .connectionFailed,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await expectPostgresError(code, sourceLocation: sourceLocation) {
            _ = try await PostgresClient.connect(configuration)
        }
        let texts = "\(String(describing: error)) \(String(reflecting: error))"
        #expect(texts.contains(reason) && !texts.contains(Self.secret), "\(texts)", sourceLocation: sourceLocation)
    }
}
