import Foundation
import KindredPostgres
import KindredTesting
import Synchronization
import Testing

/// Rows L3 to L7 and T3 of the fault catalogue: a server that crashes, stops, is restarted or stands still.
@Suite struct ServerEndTests {
    private func withServer(_ body: (RestartableServer) async throws -> Void) async throws {
        try await RestartableServer.with(body)
    }

    /// Lends a client that has four connections open.
    private func withWarmClient(
        _ configuration: PostgresConfiguration, _ body: (PostgresClient) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.pool.maximumConnections = 4
        try await lend(configuration) { client in
            try await fill(client)
            try await body(client)
        }
    }

    /// Uses four connections at once, all of which answer.
    private func fill(_ client: PostgresClient) async throws {
        let arrivals = Arrivals()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await client.withTransaction { _ in
                        try await client.query("SELECT 1")
                        arrivals.count.add(1, ordering: .sequentiallyConsistent)
                        while arrivals.count.load(ordering: .sequentiallyConsistent) < 4 {
                            try await Task.sleep(for: .milliseconds(2))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private final class Arrivals: Sendable {
        let count = Atomic(0)
    }

    /// Waits until nothing is open that belongs to the server before.
    private func expectDropped(_ client: PostgresClient, since opened: Int) async throws {
        try await eventually("all connections of the server before are gone") {
            let metrics = client.metrics
            return metrics.lost + metrics.closed >= opened
        }
    }

    @Test(
        "L3, L4, L5: connections of a server that ended are replaced, and nobody who was idle notices",
        .timeLimit(.minutes(15)))
    func restarts() async throws {
        try await withServer { server in
            try await withWarmClient(server.configuration) { client in
                let ends: [() async throws -> Void] = [
                    {
                        let rows = try await client.query("SELECT pg_backend_pid()")
                        let process = try #require(try rows[0].decode(0, as: Int32.self))
                        try await server.signal(SIGKILL, process: process)
                    },
                    {
                        try await server.stop(.fast)
                        try await server.start()
                    },
                    {
                        try await server.stop(.immediate)
                        try await server.start()
                    },
                    {
                        try await server.signal(SIGKILL)
                        try await server.start()
                    },
                ]
                for end in ends {
                    let opened = client.metrics.opened
                    try await end()
                    try await expectDropped(client, since: opened)
                    try await expectUsable(client)
                }
                #expect(client.metrics.idle >= 1 && client.metrics.waiting == 0)
            }
        }
    }

    @Test("L4: whoever asks while the server is away is served when it is back", .timeLimit(.minutes(15)))
    func outage() async throws {
        try await withServer { server in
            try await withWarmClient(server.configuration) { client in
                let opened = client.metrics.opened
                try await server.stop(.fast)
                try await expectDropped(client, since: opened)
                let asking = (0..<10).map { number in Task { try await client.query("SELECT \(number)") } }
                try await eventually("attempts fail") { client.metrics.failedAttempts >= 3 }
                try await server.start()
                for (number, task) in asking.enumerated() {
                    #expect(try await task.value[0].decode(0, as: Int.self) == number)
                }
            }
        }
    }

    @Test("T3: a commit whose answer is lost with the server is known once that is back", .timeLimit(.minutes(15)))
    func commitOfALostServer() async throws {
        try await withServer { server in
            let proxy = try FaultProxy(to: server.configuration)
            defer { proxy.stop() }
            try await withWarmClient(server.configuration) { direct in
                try await direct.query("CREATE TABLE note (id bigint PRIMARY KEY)")
                try await withWarmClient(proxy.configuration) { client in
                    let isInserted = Atomic(false)
                    proxy.set { direction, bytes in
                        guard direction == .toClient else { return .forward }
                        // Before that a COMMIT is the end of what puts the session back.
                        guard isInserted.load(ordering: .relaxed) else {
                            if contains(bytes, "INSERT 0 1") { isInserted.store(true, ordering: .relaxed) }
                            return .forward
                        }
                        return position(of: "COMMIT", in: bytes).map { FaultProxy.Verdict.cutAfter($0 - 5) } ?? .forward
                    }
                    let error = await expectPostgresError(.commitUnknown) {
                        try await client.withTransaction(tracksCommit: true) { _ in
                            _ = try await client.query("INSERT INTO note VALUES (1)")
                        }
                    }
                    let id = try #require(error?.transactionID)
                    try await server.stop(.immediate)
                    #expect(try await direct.resolveCommit(id, timeout: .milliseconds(50)) == .unknown)
                    try await server.start()
                    #expect(try await direct.resolveCommit(id, timeout: .seconds(120)) == .committed)
                    let count = try await direct.query("SELECT count(*) FROM note")
                    #expect(try count[0][0] == 1)
                }
            }
        }
    }

    @Test(
        "L6: while the server's first process stands still, sessions go on and new ones meet the deadline",
        .timeLimit(.minutes(15)))
    func frozenServer() async throws {
        try await withServer { server in
            try await withWarmClient(server.configuration) { client in
                try await server.signal(SIGSTOP)
                try await expectUsable(client)
                var configuration = server.configuration
                configuration.connectTimeout = .milliseconds(200)
                await expectPostgresError(.connectionFailed) { _ = try await PostgresClient.connect(configuration) }
                // The request to cancel is not taken either.
                await expectPostgresError(.timeout) {
                    try await client.query("SELECT pg_sleep(600)", timeout: .milliseconds(50))
                }
                try await server.signal(SIGCONT)
                try await fill(client)
            }
        }
    }

    @Test(
        "L7: a session that stands still meets its deadline and is replaced", .timeLimit(.minutes(15)))
    func frozenSession() async throws {
        try await withServer { server in
            var configuration = server.configuration
            configuration.pool.maximumConnections = 1
            let client = try await PostgresClient.connect(configuration)
            let process = try #require(try await client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self))
            try await server.signal(SIGSTOP, process: process)
            let start = ContinuousClock.now
            await expectPostgresError(.timeout) { try await client.query("SELECT 1", timeout: .milliseconds(100)) }
            #expect(ContinuousClock.now - start < .seconds(60))
            try await expectUsable(client)
            try await server.signal(SIGCONT, process: process)
            await client.close()
        }
    }
}

/// Where a text begins in bytes.
func position(of text: String, in bytes: [UInt8]) -> Int? {
    bytes.firstRange(of: Array(text.utf8))?.lowerBound
}
