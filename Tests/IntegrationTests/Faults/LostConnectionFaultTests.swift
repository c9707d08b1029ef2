import KindredPostgres
import KindredTesting
import Synchronization
import Testing

/// Rows L and T of the fault catalogue that need a line which fails in a certain way.
@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct LostConnectionFaultTests {
    private func withProxy(
        configure change: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (FaultProxy, PostgresClient) async throws -> Void
    ) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        change(&configuration)
        let client = try await PostgresClient.connect(configuration)
        do {
            try await body(proxy, client)
        } catch {
            await client.close(timeout: .zero)
            throw error
        }
        proxy.set { _, _ in .forward }
        await client.close(timeout: .seconds(1))
    }

    private func count() async throws -> Int {
        var count = -1
        try await withClient { client in
            count = try await client.query("SELECT count(*) FROM note")[0].decode(0, as: Int.self) ?? -1
        }
        return count
    }

    @Test("L8, L10: answers that never come are a timeout, and the connection is replaced", .timeLimit(.minutes(15)))
    func lostAnswers() async throws {
        try await withProxy { proxy, client in
            proxy.set { direction, _ in direction == .toClient ? .drop : .forward }
            await expectPostgresError(.timeout) {
                try await client.query("SELECT 1", timeout: .milliseconds(200))
            }
            proxy.set { _, _ in .forward }
            try await expectUsable(client)
        }
    }

    @Test("L9: a reset while idle is not noticed, in a statement it is one error", arguments: [true, false])
    func reset(isReset: Bool) async throws {
        try await withProxy { proxy, client in
            proxy.set { direction, bytes in
                direction == .toServer && contains(bytes, "pg_sleep") ? (isReset ? .reset : .cut) : .forward
            }
            await expectPostgresError(.connectionLost) { try await client.query("SELECT pg_sleep(0)") }
            try await expectUsable(client)
            #expect(client.metrics.lost == 1)
        }
    }

    @Test("L2: a pipeline that is cut is one error for each statement, none of which is repeated")
    func cutPipeline() async throws {
        try await withProxy { proxy, client in
            proxy.set { direction, bytes in
                direction == .toClient && contains(bytes, "INSERT 0 1") ? .cut : .forward
            }
            let tasks = (0..<10).map { number in Task { try await client.query("INSERT INTO note VALUES (\(number))") }
            }
            var failures = 0
            for task in tasks {
                do {
                    _ = try await task.value
                } catch let error as PostgresError {
                    #expect(error.code == .connectionLost, "\(error.debugDescription)")
                    failures += 1
                }
                proxy.set { _, _ in .forward }
            }
            #expect(failures > 0)
            let inserted = try await count()
            #expect(inserted <= 10 && inserted >= 10 - failures)
        }
    }

    @Test("L11: a slow line does not extend the time that a statement has") func slowLine() async throws {
        try await withProxy { proxy, client in
            proxy.drip(everyMilliseconds: 10)
            let start = ContinuousClock.now
            await expectPostgresError(.timeout) {
                try await client.query("SELECT repeat('x', 100000)", timeout: .milliseconds(200))
            }
            #expect(ContinuousClock.now - start < .seconds(25))
            proxy.drip(everyMilliseconds: nil)
            try await expectUsable(client)
        }
    }

    @Test("L11: what comes byte by byte is read all the same") func drippedAnswer() async throws {
        try await withProxy { proxy, client in
            proxy.drip(everyMilliseconds: 0)
            let rows = try await client.query("SELECT i, 'text ' || i AS text FROM generate_series(1, 20) AS i")
            #expect(rows.count == 20)
            #expect(try rows[19]["text"] == "text 20")
        }
    }

    @Test("L13: the server's own limits on sessions and statements") func serverLimits() async throws {
        // Two seconds are longer than what a busy machine takes between two steps.
        try await withClient(maximumConnections: 1, configure: { $0.settings["idle_session_timeout"] = "2s" }) {
            client in
            try await expectUsable(client)
            try await eventually("the idle session has ended") { client.metrics.lost >= 1 }
            try await expectUsable(client)
        }
        try await withClient(
            maximumConnections: 1, configure: { $0.settings["idle_in_transaction_session_timeout"] = "100ms" }
        ) { client in
            let error = await expectPostgresError(.connectionLost) {
                try await client.withTransaction { _ in
                    try await client.query("SELECT 1")
                    try await eventually("the transaction has ended") { client.metrics.lost == 1 }
                    try await client.query("SELECT 2")
                }
            }
            #expect(error != nil)
            try await expectUsable(client)
        }
        try await withClient(
            maximumConnections: 1,
            configure: {
                $0.settings["statement_timeout"] = "2s"
                $0.settings["lock_timeout"] = "200ms"
            }
        ) { client in
            let slow = await expectPostgresError(.server) { try await client.query("SELECT pg_sleep(10)") }
            #expect(slow?.sqlState == .queryCanceled)
            try await withClient { other in
                try await other.withTransaction { _ in
                    try await other.query("LOCK TABLE note")
                    let locked = await expectPostgresError(.server) { try await client.query("SELECT * FROM note") }
                    #expect(locked?.sqlState?.rawValue == "55P03")
                }
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test("T1: an answer to COMMIT that is lost is unknown, though the rows are there") func lostCommitAnswer()
        async throws
    {
        try await withProxy { proxy, client in
            proxy.set { direction, bytes in direction == .toClient && contains(bytes, "COMMIT") ? .cut : .forward }
            let runs = Atomic(0)
            await expectPostgresError(.commitUnknown) {
                try await client.withTransaction(retry: .attempts(3)) { _ in
                    runs.add(1, ordering: .relaxed)
                    _ = try await client.query("INSERT INTO note VALUES (1)")
                }
            }
            #expect(runs.load(ordering: .relaxed) == 1)
            let inserted = try await count()
            #expect(inserted == 1)
        }
    }

    @Test("T2: a COMMIT that never arrives is unknown, and the rows are not there") func lostCommit() async throws {
        try await withProxy { proxy, client in
            proxy.set { direction, bytes in
                guard direction == .toServer else { return .forward }
                return contains(bytes, "COMMIT") ? .cut : .forward
            }
            var runs = 0
            await expectPostgresError(.commitUnknown) {
                try await client.withTransaction(retry: .attempts(3)) { _ in
                    runs += 1
                    _ = try await client.query("INSERT INTO note VALUES (1)")
                }
            }
            let inserted = try await count()
            #expect(inserted == 0 && runs == 1)
        }
    }

    @Test("T1: a COMMIT that gets no answer in time is unknown, though the rows are there", .timeLimit(.minutes(15)))
    func stalledCommit() async throws {
        try await withProxy(configure: { $0.statementTimeout = .seconds(1) }) { proxy, client in
            proxy.set { direction, bytes in direction == .toClient && contains(bytes, "COMMIT") ? .drop : .forward }
            await expectPostgresError(.commitUnknown) {
                _ = try await client.withTransaction {
                    try await $0.query("INSERT INTO note VALUES (1)", timeout: .seconds(120))
                }
            }
            let inserted = try await count()
            #expect(inserted == 1)
        }
    }

    @Test("L2: a stream that is cut is one error after the rows before") func cutStream() async throws {
        try await withProxy { proxy, client in
            var seen = 0
            await expectPostgresError(.connectionLost) {
                for try await _ in try client.stream("SELECT i FROM generate_series(1, 100000) AS i") {
                    seen += 1
                    if seen == 64 { proxy.set { _, _ in .cut } }
                }
            }
            #expect(seen == 64)
            proxy.set { _, _ in .forward }
            try await expectUsable(client)
        }
    }
}
