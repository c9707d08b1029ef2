import KindredPostgres
import KindredTesting
import TestSupport
import Testing

/// Many pipelined requests through a pooler of transactions, of which some fail.
@Suite(
    .database("CREATE TABLE note (id bigint PRIMARY KEY, text text); INSERT INTO note VALUES (1, 'a')"),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
struct PoolerLoadTests {
    /// How the pooler and Kindred keep prepared statements.
    struct Setting: CustomTestStringConvertible, Sendable {
        /// The number of statements that PgBouncer keeps for each connection; nil leaves it out, as versions before
        /// 1.21 need it.
        let kept: Int?
        /// The number of statements that Kindred prepares by name on each connection.
        let named: Int

        var testDescription: String { "PgBouncer keeps \(kept.map(String.init) ?? "none"), Kindred \(named)" }
    }

    private static let settings =
        [Setting(kept: nil, named: 0)]
        + (TestPooler.tracksPrepared ? [(0, 0), (3, 3), (3, 20), (200, 150)].map { Setting(kept: $0, named: $1) } : [])

    /// A statement as contexts send theirs, which share connections.
    private static func shared(_ sql: SQL, _ client: PostgresClient) throws -> Statement {
        var statement = try sql.statement(types: client.types, isProgrammed: false)
        statement.resultFormat = .binary
        return statement
    }

    @Test(arguments: settings) func eachAnswerIsItsCallersOwn(setting: Setting) async throws {
        let pooler = try await TestPooler(
            sessions: 4, "pooler=transaction&statementCacheCapacity=\(setting.named)", keeping: setting.kept)
        let rounds = TestAmount.of(200, full: 500, long: 50_000)
        try await lend(try await pooler.connect()) { (client) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Definitions change beside the load: the results of SELECT * get another type each time.
                group.addTask { () async throws in
                    var isText = true
                    do {
                        while true {
                            isText.toggle()
                            try await client.query(
                                "ALTER TABLE note ALTER COLUMN text TYPE \(unsafeRaw: isText ? "text" : "varchar(9)")")
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    } catch is CancellationError {}
                }
                for task in 0..<20 {
                    group.addTask { () async throws in
                        for round in 0..<rounds {
                            try await Self.ask(client, task * rounds + round, fails: round % 100 == task)
                        }
                    }
                }
                for _ in 0..<20 { try await group.next() }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(client.metrics.lost == 0)
        }
        withExtendedLifetime(pooler) {}
    }

    private static func ask(_ client: PostgresClient, _ number: Int, fails: Bool) async throws {
        do {
            let row: Row
            switch number % 5 {
            case 0:
                row = try await client.query("SELECT \(number) / \(fails ? 0 : 1), \(number)")[0]
            case 1:
                let sql: SQL = "SELECT \(number) / \(fails ? 0 : 1), \(number), note.* FROM note"
                row = try await client.execute(try shared(sql, client))[0]
                #expect(try row.decode("text", as: String.self) == "a")
            case 2:
                row = try await client.withTransaction { _ in
                    try await client.query("SELECT \(number) / \(fails ? 0 : 1), \(number)")[0]
                }
            default:
                let sql: SQL = "SELECT \(number) / \(fails ? 0 : 1), \(number)"
                row = try await client.execute(try shared(sql, client))[0]
            }
            #expect(try row.decode(0, as: Int.self) == number && !fails)
            #expect(try row.decode(1, as: Int.self) == number)
        } catch let error as PostgresError where error.sqlState?.rawValue == "22012" {
            #expect(fails)
        }
    }
}
