import Foundation
import KindredPostgres
import KindredTesting
import Testing

#if os(Linux)
    /// Row H11 of the fault catalogue: what a server sends has a ceiling in memory, whatever it is.
    ///
    /// Each in a process of its own, whose peak is measured.
    @Suite(.database, .serialized, .timeLimit(.minutes(15))) struct HostileSizeTests {
        @Test(
            "H11: one value, a row without an end, an error, a notice, and notifications that nobody stops",
            arguments: ["value", "copiedValue", "row", "error", "notice", "flood", "idle"])
        func sizes(name: String) async throws {
            try await ChildProcess.run("HostileSizeChildTests/\(name)", argument: TestDatabase.current.uri)
        }
    }

    /// The work of the processes of `HostileSizeTests`.
    @Suite(.enabled(if: ChildProcess.argument != nil, "Part of HostileSizeTests"), .timeLimit(.minutes(15)))
    struct HostileSizeChildTests {
        private static let limit = 8 << 20
        /// libpq doubles its buffer, and the bytes that come until it is cut off depend on the server's speed: a third
        /// of the bytes that the servers here send.
        private static let bound = 192 << 20

        /// The most memory of the process while `body` runs, beyond the memory that it had before.
        private func growth(_ body: () async throws -> Void) async throws -> Int {
            let before = try #require(LongTests.residentBytes)
            try await body()
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            let peak = try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            let growth = (peak << 10) - before
            print("grown by \(growth >> 20) MiB")
            return growth
        }

        /// A client of the real database, of whose two connections one is at work all the time.
        private func withLimitedClient(_ body: @Sendable (PostgresClient) async throws -> Void) async throws {
            var configuration = try PostgresConfiguration(uri: try #require(ChildProcess.argument))
            configuration.pool.maximumConnections = 2
            configuration.pool.acquireTimeout = .seconds(120)
            configuration.statementTimeout = .seconds(120)
            configuration.maximumResultSize = Self.limit
            try await lend(configuration) { client in
                // A transaction has a connection to itself.
                let other = Task {
                    try await client.withTransaction { _ in try await client.query("SELECT pg_sleep(2), 7") }
                }
                try await body(client)
                #expect(try await other.value[0][1] == 7)
                try await expectUsable(client)
            }
        }

        @Test func value() async throws {
            try await withLimitedClient { client in
                let growth = try await growth {
                    let error = await expectPostgresError(.resultTooLarge) {
                        try await client.query("SELECT repeat('x', 500000000)")
                    }
                    #expect(error?.statement == "SELECT repeat('x', 500000000)")
                }
                #expect(growth < Self.bound)
            }
        }

        @Test func copiedValue() async throws {
            try await withLimitedClient { client in
                let growth = try await growth {
                    await expectPostgresError(.resultTooLarge) {
                        for try await _ in try client.copyOut("COPY (SELECT repeat('x', 500000000)) TO STDOUT") {}
                    }
                }
                #expect(growth < Self.bound)
            }
        }

        /// A server that answers a statement with what `answer` writes.
        private func ask(
            timeout: Duration = .seconds(60), _ answer: @escaping @Sendable (ScriptedServer.Session) -> Void
        ) async throws -> Result<QueryResult, any Error> {
            let server = try ScriptedServer { session in
                session.welcome()
                while session.readUntilSync() { answer(session) }
            }
            var configuration = server.configuration
            configuration.statementCacheCapacity = 0
            configuration.maximumResultSize = Self.limit
            let client = try await PostgresClient.connect(configuration)
            let result: Result<QueryResult, any Error>
            do {
                result = .success(try await client.query("SELECT 1", timeout: timeout))
            } catch {
                result = .failure(error)
            }
            await client.close(timeout: .zero)
            return result
        }

        /// The head of a message of a gigabyte, and 400 MB of it.
        private static func writeHuge(_ session: ScriptedServer.Session, _ type: Unicode.Scalar, _ beginning: [UInt8]) {
            session.socket.write([UInt8(ascii: type)] + session.number(1 << 30) + beginning)
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<400 where !session.socket.write(piece) { return }
        }

        private func expectTooLarge(_ result: Result<QueryResult, any Error>) {
            #expect { try result.get() } throws: { ($0 as? PostgresError)?.code == .resultTooLarge }
        }

        @Test func row() async throws {
            let growth = try await growth {
                expectTooLarge(
                    try await ask { session in
                        session.socket.write(
                            session.message("1", []) + session.message("2", []) + session.integerColumn)
                        Self.writeHuge(session, "D", session.short(1) + session.number((1 << 30) - 10))
                    })
            }
            #expect(growth < Self.bound)
        }

        @Test func error() async throws {
            let growth = try await growth {
                expectTooLarge(
                    try await ask { session in
                        Self.writeHuge(session, "E", Array("SERROR\0VERROR\0C42601\0M".utf8))
                    })
            }
            #expect(growth < Self.bound)
        }

        @Test func notice() async throws {
            let growth = try await growth {
                expectTooLarge(
                    try await ask { session in
                        Self.writeHuge(session, "N", Array("SNOTICE\0VNOTICE\0C00000\0M".utf8))
                    })
            }
            #expect(growth < Self.bound)
        }

        /// Notifications and notices pass through and are not kept, however many there are.
        @Test func flood() async throws {
            let server = try ScriptedServer { session in
                session.welcome()
                let notification = session.message(
                    "A", session.number(1) + session.text("c") + session.text(String(repeating: "p", count: 1_000)))
                let text = String(repeating: "x", count: 100)
                let notice = session.message("N", Array("SNOTICE\0C00000\0M\(text)\0\0".utf8))
                // In all more bytes than may be kept.
                let piece = Array(repeatElement(notification + notice, count: 100).joined())
                // The description first, then the statement.
                for isDescription in [true, false] {
                    guard session.readUntilSync() else { return }
                    for _ in 0..<1_000 where !session.socket.write(piece) { return }
                    let answer =
                        isDescription
                        ? session.message("t", session.short(0)) + session.integerColumn
                        : session.message("2", []) + session.integerColumn
                            + session.message("D", session.short(1) + session.number(4) + session.number(7))
                            + session.message("C", session.text("SELECT 1"))
                    session.socket.write(session.message("1", []) + answer + session.ready)
                }
                _ = session.readUntilSync()
            }
            var configuration = server.configuration
            configuration.statementCacheCapacity = 0
            configuration.maximumResultSize = Self.limit
            // 400,000 messages, beside all other tests.
            configuration.statementTimeout = .seconds(600)
            let growth = try await growth {
                try await lend(configuration) { client in
                    let rows = try await client.query("SELECT 1")
                    #expect(try rows[0][0] == 7)
                }
            }
            #expect(growth < Self.bound)
        }

        /// An idle connection is given up as well.
        @Test func idle() async throws {
            let server = try ScriptedServer { session in
                session.welcome()
                Self.writeHuge(session, "N", Array("SNOTICE\0VNOTICE\0C00000\0M".utf8))
            }
            var configuration = server.configuration
            configuration.maximumResultSize = Self.limit
            let growth = try await growth {
                let client = try await PostgresClient.connect(configuration)
                try await eventually("the connection is given up") { client.metrics.lost >= 1 }
                await client.close(timeout: .zero)
            }
            #expect(growth < Self.bound)
        }
    }
#endif
