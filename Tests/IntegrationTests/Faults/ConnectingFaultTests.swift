import Foundation
import KindredPostgres
import KindredTesting
import Synchronization
import Testing

/// Rows C of the fault catalogue: failures while a connection is made.
@Suite(.database) struct ConnectingFaultTests {
    private func expectFailure(
        _ configuration: PostgresConfiguration, within limit: Duration, _ sqlState: SQLState? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let start = ContinuousClock.now
        let error = await expectPostgresError(.connectionFailed, sourceLocation: sourceLocation) {
            _ = try await PostgresClient.connect(configuration)
        }
        // The machine may be busy with other tests.
        #expect(ContinuousClock.now - start < limit + .seconds(25), sourceLocation: sourceLocation)
        if let sqlState { #expect(error?.sqlState == sqlState, sourceLocation: sourceLocation) }
    }

    @Test("C2, C3: servers that accept and never speak share one deadline") func silence() async throws {
        let servers = try [SilentServer(), SilentServer(), SilentServer()]
        var configuration = PostgresConfiguration(
            endpoints: servers.map { .tcp(host: "127.0.0.1", port: $0.port) }, user: "u")
        configuration.connectTimeout = .milliseconds(500)
        await expectFailure(configuration, within: .milliseconds(500))
    }

    @Test("C1: a server that ends the handshake is said to have done so") func endedHandshake() async throws {
        let server = try ScriptedServer { $0.readStartup() }
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(server.configuration)
        }
        #expect(
            error?.message.hasSuffix("server closed the connection unexpectedly") == true,
            "\(String(describing: error))")
        // The debug description still has libpq's supposition.
        #expect(error?.debugDescription.contains("before or while processing the request") == true)
    }

    @Test("C1: what the server refused comes first, not its hint") func refusalWithAHint() async throws {
        let server = try ScriptedServer { session in
            session.readStartup()
            let fields = ["SFATAL", "VFATAL", "C28000", "Mno entry\nfor you", "Dmore about it", "Htry again"]
            session.socket.write(session.message("E", Array((fields.joined(separator: "\0") + "\0\0").utf8)))
        }
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(server.configuration)
        }
        #expect(error?.message.contains("no entry") == true && error?.message.contains("try again") == false)
        #expect(error?.sqlState == .invalidAuthorization)
    }

    @Test("C4: a handshake that stalls at any byte meets the deadline") func stalledHandshake() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.connectTimeout = .milliseconds(250)
        for limit in [0, 1, 5, 8, 9, 13, 14, 50, 200, 300] {
            let seen = Atomic(0)
            proxy.drip(everyMilliseconds: 0)
            proxy.set { direction, bytes in
                guard direction == .toClient else { return .forward }
                return seen.add(bytes.count, ordering: .relaxed).newValue > limit ? .stall : .forward
            }
            await expectFailure(configuration, within: .milliseconds(250))
        }
    }

    @Test("C6, C11: a server or role without room for another session says so") func tooManyConnections() async throws {
        try await withClient { client in
            let role = "limited_\(UInt32.random(in: 0..<UInt32.max))"
            try await client.query("CREATE ROLE \(identifier: role) LOGIN CONNECTION LIMIT 1")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            configuration.pool.acquireTimeout = .seconds(300)
            let limited = try await PostgresClient.connect(configuration)
            // The pool keeps its connections, and serves every caller over them.
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await limited.withTransaction { _ in
                            try await limited.query("SELECT \(number)")[0].decode(0, as: Int.self) ?? 0
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 190)
            #expect(limited.metrics.opened == 1)
            await expectFailure(configuration, within: .zero, .tooManyConnections)
            await limited.close()
            try await eventually("the role is unused") {
                (try? await client.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    @Test("C9: a role that is not there is told at once, and does not cause a storm of attempts")
    func wrongRole() async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.user = "there_is_none"
        await expectFailure(configuration, within: .zero, SQLState(rawValue: "28000"))
    }

    @Test("C9: callers are refused at once while the server refuses everybody") func refusedAtOnce() async throws {
        let attempts = Atomic(0)
        let isOpen = Atomic(true)
        let server = try ScriptedServer { session in
            attempts.add(1, ordering: .relaxed)
            guard isOpen.load(ordering: .relaxed) else {
                session.readStartup()
                let fields = [("S", "FATAL"), ("V", "FATAL"), ("C", "28P01"), ("M", "no")]
                session.socket.write(
                    session.message("E", fields.flatMap { Array($0.utf8) + session.text($1) } + [0]))
                return
            }
            session.welcome()
        }
        let client = try await PostgresClient.connect(server.configuration)
        isOpen.store(false, ordering: .relaxed)
        try await eventually("the first session has ended") { client.metrics.lost == 1 }
        let start = ContinuousClock.now
        for _ in 0..<50 {
            await expectPostgresError(.connectionFailed) { try await client.query("SELECT 1") }
        }
        #expect(ContinuousClock.now - start < .seconds(25))
        #expect(attempts.load(ordering: .relaxed) <= 4)
        await client.close()
    }

    @Test("C12: the next host is tried if the first is not what is wanted") func targetSession() async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.targetSession = .standby
        await expectFailure(configuration, within: .zero)
        configuration.targetSession = .primary
        configuration.endpoints.insert(.tcp(host: "127.0.0.1", port: 1), at: 0)
        let client = try await PostgresClient.connect(configuration)
        try await expectUsable(client)
        await client.close()
    }

    @Test("C14: a server without encryption gets no password where it is wanted") func downgrade() async throws {
        let received = Mutex<[UInt8]>([])
        let server = try ScriptedServer { session in
            session.readStartup()
            session.socket.write([UInt8(ascii: "N")])
            while let bytes = session.socket.read(milliseconds: 1_000), !bytes.isEmpty {
                received.withLock { $0 += bytes }
            }
        }
        var configuration = server.configuration
        configuration.tls.mode = .require
        configuration.password = "sEcr3t"
        await expectFailure(configuration, within: .zero)
        #expect(received.withLock { $0.isEmpty })
    }

    @Test("C14: clear text behind the answer to the wish for encryption is refused") func injectedBytes() async throws {
        let server = try ScriptedServer { session in
            session.readStartup()
            session.socket.write([UInt8(ascii: "S")] + session.message("R", [0, 0, 0, 0]) + session.ready)
            session.readMessage()
        }
        var configuration = server.configuration
        configuration.tls.mode = .require
        await expectFailure(configuration, within: .seconds(2))
    }

    @Test("C15: a server that asks for the password itself, or for none, does not get it where a proof is wanted")
    func fakeServer() async throws {
        // Clear text, md5, and being let in without a word.
        for request: [UInt8] in [[0, 0, 0, 3], [0, 0, 0, 5, 1, 2, 3, 4], [0, 0, 0, 0]] {
            let received = Mutex<[UInt8]>([])
            let server = try ScriptedServer { session in
                session.readStartup()
                session.socket.write(session.message("R", request))
                if request.last == 0 {
                    session.socket.write(session.message("K", [0, 0, 0, 1, 0, 0, 0, 2]) + session.ready)
                }
                while let message = session.readMessage() { received.withLock { $0 += message.body } }
            }
            let keywords = [
                "host": "127.0.0.1", "port": "\(server.port)", "user": "nobody", "password": "sEcr3t",
                "dbname": "nowhere",
                "sslmode": "disable", "channel_binding": "require",
            ]
            await expectFailure(try PostgresConfiguration(keywords: keywords), within: .zero)
            #expect(received.withLock { !contains($0, "sEcr3t") && !contains($0, "md5") })
        }
    }

    @Test("C16: a server that wants a costly password proof is left at the deadline") func scramBomb() async throws {
        let server = try ScriptedServer { session in
            session.readStartup()
            session.socket.write(session.message("R", session.number(10) + session.text("SCRAM-SHA-256") + [0]))
            guard let first = session.readMessage(),
                let nonce = String(decoding: first.body, as: UTF8.self).components(separatedBy: "r=").last
            else { return }
            let challenge = "r=\(nonce)x,s=c2FsdHNhbHQ=,i=3000000"
            session.socket.write(session.message("R", session.number(11) + Array(challenge.utf8)))
            session.readMessage()
        }
        var configuration = server.configuration
        configuration.password = "sEcr3t"
        configuration.connectTimeout = .milliseconds(300)
        await expectFailure(configuration, within: .milliseconds(300))
    }

    @Test("C17: many callers at a cold start open no more connections than allowed") func coldStart() async throws {
        try await withClient(maximumConnections: 3) { client in
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<2_000 {
                    group.addTask { try await client.query("SELECT \(number)")[0].decode(0, as: Int.self) ?? 0 }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 1_999_000)
            #expect(client.metrics.opened <= 3)
        }
    }

    @Test("C19: a socket that is not there is a clear error") func missingSocket() async throws {
        let configuration = PostgresConfiguration(endpoints: [.socket(folder: "/nonexistent")], user: "u")
        await expectFailure(configuration, within: .zero)
    }

    @Test("D12: a session that reads texts differently is refused") func otherSettings() async throws {
        for (name, value) in [
            ("standard_conforming_strings", "off"), ("client_encoding", "LATIN1"), ("DateStyle", "German, DMY"),
        ] {
            let server = try ScriptedServer { $0.welcome(parameters: [(name, value)]) }
            await expectFailure(server.configuration, within: .zero)
        }
    }
}
