import KindredPostgres
import KindredTesting
import Testing

/// How many sessions of the test's database run a statement whose text begins so; asked over another connection.
func runningCount(_ client: PostgresClient, _ prefix: String) async throws -> Int {
    let rows = try await client.query(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND starts_with(query, \(prefix))
        """)
    return try rows[0].decode(0, as: Int.self) ?? 0
}

/// Waits until a condition holds, at most two minutes.
func eventually(
    _ comment: @autoclosure () -> Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record(comment(), sourceLocation: sourceLocation)
}

/// The error of a statement that its timeout stops while the server runs it.
///
/// On a busy machine, the first timeouts may be over before the statement is sent.
@discardableResult
func expectTimeoutOfRunningStatement(
    sourceLocation: SourceLocation = #_sourceLocation, _ query: (_ timeout: Duration) async throws -> Void
) async -> PostgresError? {
    var timeout = Duration.milliseconds(50)
    while true {
        let error = await expectPostgresError(.timeout, sourceLocation: sourceLocation) { try await query(timeout) }
        guard error?.message.contains("before it could be sent") == true else { return error }
        timeout = timeout * 2
    }
}

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL DEFAULT '')"))
struct CancellationTests {
    @Test func aCancelledTaskStopsTheServerAndLeavesTheConnectionUsable() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                let task = Task { try await client.query("SELECT pg_sleep(600)") }
                try await eventually("the statement runs") {
                    try await runningCount(other, "SELECT pg_sleep") == 1
                }
                let start = ContinuousClock.now
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(ContinuousClock.now - start < .seconds(25))
                #expect(try await runningCount(other, "SELECT pg_sleep") == 0)
                #expect(try await client.query("SELECT 7")[0][0] == 7)
                #expect(client.metrics.opened == 1)
            }
        }
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await client.query("INSERT INTO note VALUES (1)")
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let count = try await client.query("SELECT count(*) FROM note")
            #expect(try count[0][0] == 0)
        }
    }

    @Test func aStatementThatTakesTooLongIsATimeout() async throws {
        try await withClient(maximumConnections: 1) { client in
            let error = await expectTimeoutOfRunningStatement { timeout in
                try await client.query("SELECT pg_sleep(600)", timeout: timeout)
            }
            #expect(error?.statement == "SELECT pg_sleep(600)")
            #expect(error?.sqlState == .queryCanceled)
            let next = try await client.query("SELECT 7")
            #expect(try next[0][0] == 7)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aStatementBehindAnotherMayLeaveAtOnce() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                let slow = Task { try await client.query("SELECT pg_sleep(600)") }
                try await eventually("the slow statement runs") {
                    try await runningCount(other, "SELECT pg_sleep") == 1
                }
                // Both stand behind the slow one in the pipeline.
                let impatient = Task { try await client.query("SELECT 'impatient'") }
                await expectPostgresError(.timeout) {
                    try await client.query("SELECT 'late'", timeout: .milliseconds(30))
                }
                impatient.cancel()
                await #expect(throws: CancellationError.self) { try await impatient.value }
                #expect(try await runningCount(other, "SELECT pg_sleep") == 1)
                slow.cancel()
                _ = await slow.result
                #expect(try await client.query("SELECT 7")[0][0] == 7)
                #expect(client.metrics.opened == 1)
            }
        }
    }

    /// Statements of other tasks follow closely on cancelled statements, over the same connections.
    @Test func aCancellationNeverHitsAStatementOfAnotherTask() async throws {
        try await withClient(maximumConnections: 2, configure: { $0.pool.acquireTimeout = .seconds(60) }) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<6 {
                    group.addTask {
                        for number in 0..<60 {
                            let victim = Task { try await client.query("SELECT pg_sleep(0.0004)") }
                            try await Task.sleep(for: .microseconds(Int.random(in: 0...1_200)))
                            victim.cancel()
                            _ = await victim.result
                            let id = task * 1_000 + number
                            try await client.query("INSERT INTO note VALUES (\(id), 'x')")
                            let row = try await client.query("SELECT \(id), pg_sleep(0.0002)")[0]
                            #expect(try row.decode(0, as: Int.self) == id)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 360)
            #expect(client.metrics.lost == 0)
        }
    }

    @Test func acquiringCanBeCancelled() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { _ in
                let waiting = Task.detached { try await client.query("SELECT 1") }
                try await eventually("the task waits") { client.metrics.waiting == 1 }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                #expect(client.metrics.waiting == 0)
            }
            #expect(try await client.query("SELECT 7")[0][0] == 7)
        }
    }

    @Test("T9: a transaction of a cancelled task is rolled back") func aTransactionOfACancelledTaskIsRolledBack()
        async throws
    {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                let task = Task {
                    try await client.withTransaction { _ in
                        try await client.query("INSERT INTO note VALUES (1)")
                        try await client.query("SELECT pg_sleep(600)")
                    }
                }
                try await eventually("the statement runs") {
                    try await runningCount(other, "SELECT pg_sleep") == 1
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 0)
                #expect(client.metrics.opened == 1)
            }
        }
    }
}
