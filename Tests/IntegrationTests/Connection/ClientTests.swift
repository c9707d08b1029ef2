import Kindred
import KindredPostgres
import KindredTesting
import Testing

/// Lends a client of the test's database.
func withClient(
    maximumConnections: Int = 4,
    configure change: ((inout PostgresConfiguration) -> Void)? = nil,
    _ body: (PostgresClient) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
    configuration.pool.maximumConnections = maximumConnections
    // Tests share two threads with each other's arithmetic: a test that is not about waiting has time.
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    configuration.cancellationGrace = .seconds(60)
    change?(&configuration)
    try await lend(configuration, body)
}

extension PostgresClient {
    /// The process of the server that answers.
    var processID: Int {
        get async throws { try #require(try await query("SELECT pg_backend_pid()")[0].decode(0, as: Int.self)) }
    }

    /// Ends sessions of other clients, and waits until they are gone.
    func endSessions(_ pids: [Int]) async throws {
        for pid in pids { try await query("SELECT pg_terminate_backend(\(pid)::int4)") }
        try await eventually("the sessions end") {
            try await query("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(\(pids)::int4[])")[0][0] == 0
        }
    }
}

/// Lends a client of a configuration and closes it afterwards.
func lend(_ configuration: PostgresConfiguration, _ body: (PostgresClient) async throws -> Void) async throws {
    try await lend(try await PostgresClient.connect(configuration), body)
}

/// Lends a client and closes it afterwards, at once if `body` fails.
func lend(_ client: PostgresClient, _ body: (PostgresClient) async throws -> Void) async throws {
    do {
        try await body(client)
    } catch {
        await client.close(timeout: .zero)
        throw error
    }
    await client.close()
}

/// Lends a database and closes it afterwards.
func lend(_ database: Database, _ body: (Database) async throws -> Void) async throws {
    do {
        try await body(database)
    } catch {
        await database.close()
        throw error
    }
    await database.close()
}

/// Expects that the client answers.
func expectUsable(_ client: PostgresClient, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let rows = try await client.query("SELECT 7")
    #expect(try rows[0][0] == 7, sourceLocation: sourceLocation)
}

/// Expects a `PostgresError` of a code and returns it.
@discardableResult
func expectPostgresError(
    _ code: PostgresError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> PostgresError? {
    do {
        try await body()
        Issue.record("no error was thrown, \(code) was expected", sourceLocation: sourceLocation)
    } catch let error as PostgresError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

@Suite(.database) struct ClientTests {
    @Test func valuesAreBoundAndRead() async throws {
        try await withClient { client in
            let rows = try await client.query(
                "SELECT \(1) + 1 AS two, \("x'y") AS text, \(Optional<Int>.none) AS nothing")
            #expect(try rows[0]["two"] == 2)
            #expect(try rows[0]["text"] == "x'y")
            #expect(try rows[0]["nothing"] == nil)
            #expect(try rows[0].decode("two", as: Int.self) == 2)
        }
    }

    @Test func aResultWithAnUnknownTypeIsReadAsText() async throws {
        try await withClient { client in
            let rows = try await client.query("SELECT '10.0.0.1'::inet AS address, 7 AS number, ARRAY[1, NULL] AS list")
            let address = try rows[0]["address"]
            #expect(address?.description == "10.0.0.1")
            #expect(try rows[0]["number"] == 7)
            let list = try rows[0]["list"]
            #expect(list?.description == "{1,NULL}")
        }
    }

    @Test func statementsOfOneConnectionHaveTheirOwnFate() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        if number % 5 == 0 {
                            let error = await expectPostgresError(.server) { try await client.query("SELECT 1 / \(0)") }
                            return error?.sqlState == .divisionByZero
                        }
                        return try await client.query("SELECT \(number)")[0][0] == .integer(Int64(number))
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aBatchTakesEffectTogetherOrNotAtAll() async throws {
        try await withClient { client in
            try await client.query("CREATE TABLE t (id integer PRIMARY KEY)")
            func insert(_ id: Int64) throws -> Statement {
                var bindings = Bindings()
                try bindings.append(.integer(id), as: .int4)
                return Statement(
                    text: StatementText("INSERT INTO t VALUES ($1)"), bindings: bindings, resultFormat: .binary)
            }
            let results = try await client.executeBatch([try insert(1), try insert(2)])
            #expect(results.map(\.affectedRows) == [1, 1])
            let error = await expectPostgresError(.server) {
                _ = try await client.executeBatch([try insert(3), try insert(1), try insert(4)])
            }
            #expect(error?.sqlState == .uniqueViolation)
            #expect(error?.server?.constraint == "t_pkey")
            #expect(try await client.query("SELECT count(*) FROM t")[0][0] == 2)
        }
    }

    @Test func largeParametersAndResultsPass() async throws {
        try await withClient { client in
            let text = String(repeating: "0123456789abcdef", count: 1 << 18)
            let rows = try await client.query("SELECT \(text)::text AS text, length(\(text)::text) AS length")
            #expect(try rows[0]["length"] == .integer(Int64(text.utf8.count)))
            #expect(try rows[0]["text"] == .string(text))
            let many = try await client.query("SELECT i, repeat('x', 100) FROM generate_series(1, 100000) AS i")
            #expect(many.count == 100_000)
            #expect(try many[99_999][0] == 100_000)
        }
    }

    @Test("S1, S2: a plan that changed is prepared anew") func aPlanThatChangedIsPreparedAnew() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.query("CREATE TABLE t (a integer)")
            try await client.query("INSERT INTO t VALUES (1)")
            #expect(try await client.query("SELECT * FROM t")[0].count == 1)
            try await client.query("ALTER TABLE t ADD b text DEFAULT 'x'")
            #expect(try await client.query("SELECT * FROM t")[0].count == 2)
            try await client.query("DEALLOCATE ALL")
            #expect(try await client.query("SELECT * FROM t")[0].count == 2)
        }
    }

    @Test("S10: the statement cache is bounded and can be off") func theStatementCacheIsBoundedAndCanBeOff()
        async throws
    {
        for capacity in [0, 8] {
            try await withClient(maximumConnections: 1, configure: { $0.statementCacheCapacity = capacity }) { client in
                for number in 0..<40 { try await client.query("SELECT \(unsafeRaw: "\(number)") + \(1)") }
                let prepared = try await client.query("SELECT count(*) FROM pg_prepared_statements")
                let count = try #require(try prepared[0].decode(0, as: Int.self))
                #expect(count <= capacity)
            }
        }
    }

    @Test func aScriptRunsSeveralStatements() async throws {
        try await withClient { client in
            try await client.runScript("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2);")
            #expect(try await client.query("SELECT count(*) FROM t")[0][0] == 2)
            await expectPostgresError(.server) { try await client.runScript("SELECT 1; SELECT 1/0;") }
            #expect(try await client.query("SELECT 1")[0][0] == 1)
        }
    }

    @Test func whatCannotBeSentIsRefused() async throws {
        try await withClient { client in
            await expectPostgresError(.invalidParameter) { try await client.query("SELECT \("a\u{0}b")") }
            await expectPostgresError(.invalidParameter) { try await client.query("SELECT \(UInt64.max)") }
            await expectPostgresError(.invalidParameter) { try await client.query("SELECT \(identifier: "")") }
            let rows = try await client.query("SELECT 1")
            #expect(try rows[0][0] == 1)
        }
    }
}
