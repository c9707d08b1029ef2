import KindredPostgres
import KindredTesting
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)"))
struct ConnectionFaultTests {
    /// Shuts or opens the test's database for new connections.
    private func allowConnections(_ isAllowed: Bool) async throws {
        let name = try TestDatabase.current.name
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.database = "postgres"
        let client = try await PostgresClient.connect(configuration)
        try await client.query("ALTER DATABASE \(identifier: name) ALLOW_CONNECTIONS \(unsafeRaw: "\(isAllowed)")")
        await client.close()
    }

    @Test("L1: a connection killed while idle is not noticed") func aConnectionKilledWhileIdleIsNotNoticed()
        async throws
    {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                // The server forgets a session a moment before it closes the socket.
                func kill() async throws {
                    try await other.endSessions([client.processID])
                    try await Task.sleep(for: .milliseconds(50))
                }
                for _ in 0..<5 {
                    try await kill()
                    #expect(try await client.query("SELECT 7")[0][0] == 7)
                    try await kill()
                    try await client.withTransaction { _ in try await client.query("SELECT 8") }
                }
                #expect(client.metrics.lost == 10)
            }
        }
    }

    @Test("L2: a connection killed in a statement is one error and the next call works")
    func aConnectionKilledInAStatementIsOneErrorAndTheNextCallWorks() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                let pid = try await client.processID
                let task = Task { try await client.query("SELECT pg_sleep(600)") }
                try await eventually("the statement runs") {
                    try await runningCount(other, "SELECT pg_sleep") == 1
                }
                try await other.endSessions([pid])
                let error = await expectPostgresError(.connectionLost) { _ = try await task.value }
                #expect(error?.sqlState == .adminShutdown)
                #expect(error?.statement == "SELECT pg_sleep(600)")
                #expect(try await client.query("SELECT 7")[0][0] == 7)
            }
        }
    }

    @Test("L2: a connection killed in a transaction is one error and the next transaction works")
    func aConnectionKilledInATransactionIsOneErrorAndTheNextTransactionWorks() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                await expectPostgresError(.connectionLost) {
                    try await client.withTransaction { transaction in
                        try await transaction.query("INSERT INTO note VALUES (1)")
                        try await other.endSessions([client.processID])
                        try await transaction.query("INSERT INTO note VALUES (2)")
                    }
                }
                // The error is swallowed: the transaction still did not take effect, and says so.
                await expectPostgresError(.connectionLost) {
                    try await client.withTransaction { transaction in
                        try await transaction.query("INSERT INTO note VALUES (3)")
                        try await other.endSessions([client.processID])
                        _ = try? await transaction.query("INSERT INTO note VALUES (4)")
                    }
                }
                try await client.withTransaction { try await $0.query("INSERT INTO note VALUES (5)") }
                #expect(try await client.query("SELECT array_agg(id) FROM note")[0][0]?.description == "{5}")
            }
        }
    }

    @Test(
        "L2: all statements on a killed connection fail, and the ones that were not sent go to the next",
        arguments: [true, false])
    func statementsOnAKilledConnectionFail(areProgrammed: Bool) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        let client = try await PostgresClient.connect(configuration)
        @Sendable func run(_ text: String) async throws -> QueryResult {
            try await client.execute(SQL(unsafeRaw: text).statement(isProgrammed: areProgrammed))
        }
        try await withClient { other in
            let pid = try await client.processID
            let slow = Task { try await run("SELECT pg_sleep(600)") }
            try await eventually("the statement runs") {
                try await runningCount(other, "SELECT pg_sleep") == 1
            }
            let sent = proxy.recordSent()
            let texts = (0..<5).map { "SELECT 'behind \($0)'" }
            let behind = texts.map { text in Task { try await run(text) } }
            if areProgrammed {
                // They wait until the session can be put back.
                try await Task.sleep(for: .milliseconds(50))
                #expect(sent.all.isEmpty)
            } else {
                try await eventually("all are sent") { texts.allSatisfy { contains(sent.all, $0) } }
            }
            try await other.endSessions([pid])
            await expectPostgresError(.connectionLost) { _ = try await slow.value }
            for task in behind {
                if areProgrammed {
                    #expect(try await task.value.count == 1)
                } else {
                    await expectPostgresError(.connectionLost) { _ = try await task.value }
                }
            }
            #expect(try await client.query("SELECT 7")[0][0] == 7)
        }
        await client.close()
    }

    @Test("C1: a server that is down is a clear error at once") func aServerThatIsDownIsAClearErrorAtOnce() async throws
    {
        var configuration = try PostgresConfiguration(uri: "postgresql://nobody@127.0.0.1:1/nowhere")
        configuration.connectTimeout = .seconds(5)
        let start = ContinuousClock.now
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(ContinuousClock.now - start < .seconds(25))
        #expect(error?.description.contains("127.0.0.1:1") == true)
        #expect(error?.underlying.contains { $0.contains("refused") } == true)
    }

    @Test("C3: a server that does not answer is given up in time") func aServerThatDoesNotAnswerIsGivenUpInTime()
        async throws
    {
        let silent = try SilentServer()
        var configuration = try PostgresConfiguration(uri: "postgresql://nobody@127.0.0.1:\(silent.port)/nowhere")
        configuration.connectTimeout = .milliseconds(300)
        let start = ContinuousClock.now
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(ContinuousClock.now - start < .seconds(25))
        #expect(error?.message.contains("connect timeout") == true)
    }

    @Test("C9: a wrong database is a clear error with its code") func aWrongDatabaseIsAClearErrorWithItsCode()
        async throws
    {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.database = "there_is_none"
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.sqlState == .invalidCatalogName)
        #expect(error?.description.contains("there_is_none") == true)
    }

    @Test func anExhaustedPoolIsATypedTimeoutWithItsFacts() async throws {
        try await withClient(
            maximumConnections: 2,
            configure: {
                $0.pool.minimumConnections = 2
                $0.pool.acquireTimeout = .seconds(2)
            }
        ) { client in
            // Opening the second connection may take longer than any caller waits here.
            try await eventually("two connections are open") { client.metrics.idle == 2 }
            try await client.withConnection { _ in
                try await Task.detached {
                    try await client.withConnection { _ in
                        await Task.detached {
                            let error = await expectPostgresError(.poolTimeout) { try await client.query("SELECT 1") }
                            #expect(error?.message.contains("2 of 2 connections") == true)
                        }.value
                    }
                }.value
            }
            #expect(client.metrics.timeouts == 1)
            #expect(try await client.query("SELECT 7")[0][0] == 7)
        }
    }

    @Test func tooManyWaitersAreRefused() async throws {
        try await withClient(
            maximumConnections: 1,
            configure: {
                $0.pool.maximumWaiters = 2
                $0.pool.acquireTimeout = .seconds(30)
            }
        ) { client in
            try await client.withConnection { _ in
                let waiting = (0..<2).map { _ in Task.detached { try await client.query("SELECT 1") } }
                try await eventually("two tasks wait") { client.metrics.waiting == 2 }
                await Task.detached {
                    _ = await expectPostgresError(.poolOverloaded) { try await client.query("SELECT 1") }
                }.value
                for task in waiting { task.cancel() }
            }
        }
    }

    @Test func aClosedClientSaysSoAndLeavesNoConnection() async throws {
        let uri = try TestDatabase.current.uri
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: uri))
        let slow = Task { try await client.query("SELECT pg_sleep(600)") }
        try await withClient { other in
            try await eventually("the statement runs") { try await runningCount(other, "SELECT pg_sleep") == 1 }
            await client.close(timeout: .milliseconds(100))
            try await eventually("the server stops too") { try await runningCount(other, "SELECT pg_sleep") == 0 }
        }
        await expectPostgresError(.closed) { _ = try await slow.value }
        await expectPostgresError(.closed) { try await client.query("SELECT 1") }
        await expectPostgresError(.closed) { _ = try await client.withTransaction { try await $0.query("SELECT 1") } }
        #expect(client.metrics.inUse + client.metrics.idle + client.metrics.connecting == 0)
    }

    @Test("T1: a commit whose answer is lost is unknown") func aCommitWhoseAnswerIsLostIsUnknown() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.runScript(
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON note DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION wait();
                """)
            try await withClient { other in
                let pid = try await client.processID
                let task = Task {
                    try await client.withTransaction { _ in try await client.query("INSERT INTO note VALUES (1)") }
                }
                try await eventually("COMMIT runs") { try await runningCount(other, "COMMIT") == 1 }
                // The task's cancellation comes too late now.
                task.cancel()
                try await other.endSessions([pid])
                let error = await expectPostgresError(.commitUnknown) { _ = try await task.value }
                #expect(error?.sqlState == .adminShutdown)
            }
        }
    }

    @Test("C8: callers wait for a server that is away and are served when it is back")
    func callersWaitForAServerThatIsAwayAndAreServedWhenItIsBack() async throws {
        try await withClient { other in
            try await withClient(maximumConnections: 2) { client in
                let pid = try await client.processID
                try await allowConnections(false)
                try await other.endSessions([pid])
                let waiting = (0..<4).map { number in Task { try await client.query("SELECT \(number)")[0][0] } }
                try await eventually("attempts fail") { client.metrics.failedAttempts >= 3 }
                #expect(client.metrics.waiting == 4)
                try await allowConnections(true)
                for (number, task) in waiting.enumerated() {
                    let value = try await task.value
                    #expect(value == .integer(Int64(number)))
                }
            }
        }
    }

    @Test("C8: a server that stays away is a clear error") func aServerThatStaysAwayIsAClearError() async throws {
        try await withClient { other in
            try await withClient(maximumConnections: 2, configure: { $0.pool.acquireTimeout = .seconds(1) }) { client in
                let pid = try await client.processID
                try await allowConnections(false)
                try await other.endSessions([pid])
                // On a busy machine one attempt alone can take longer than any caller waits here.
                try await eventually("an attempt fails") {
                    _ = try? await client.query("SELECT 1")
                    return client.metrics.failedAttempts > 0
                }
                await expectPostgresError(.connectionFailed) { try await client.query("SELECT 1") }
                try await allowConnections(true)
            }
        }
    }

    @Test("S5: a type that was made anew is learnt anew") func aTypeThatWasMadeAnewIsLearntAnew() async throws {
        try await withClient(maximumConnections: 1) { client in
            for label in ["sad", "happy"] {
                try await client.runScript(
                    "DROP TYPE IF EXISTS mood CASCADE; CREATE TYPE mood AS ENUM ('\(label)'); CREATE TABLE IF NOT EXISTS "
                        + "person (id int); ALTER TABLE person ADD mood mood")
                try await client.query("INSERT INTO person (mood) VALUES (\(label))")
                let rows = try await client.query("SELECT mood FROM person WHERE mood = \(label)")
                #expect(try rows[0][0]?.description == label)
            }
        }
    }

    @Test func largeBytesGoBothWays() async throws {
        try await withClient(maximumConnections: 1) { client in
            let bytes = [UInt8](repeating: 0xa5, count: 64 << 20)
            async let small = client.query("SELECT 7")
            let rows = try await client.query("SELECT \(bytes) AS bytes, length(\(bytes)) AS length")
            #expect(try rows[0]["length"] == 67_108_864)
            #expect(try rows[0].decode("bytes", as: [UInt8].self) == bytes)
            let other = try await small
            #expect(try other[0][0] == 7)
        }
    }
}
