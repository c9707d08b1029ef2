import KindredPostgres
import KindredTesting
import Synchronization
import TestSupport
import Testing

/// Sessions behind a pooler that are ended while statements run: each request has its own answer, or the error of a lost connection.
@Suite(
    .database("CREATE TABLE note (id bigint PRIMARY KEY, text text); INSERT INTO note VALUES (1, 'a')"),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"), .timeLimit(.minutes(30)))
struct PoolerKillTests {
    /// What became of the requests.
    private final class Outcomes: Sendable {
        let answered = Atomic(0)
        let lost = Atomic(0)
        let isDone = Atomic(false)
    }

    /// In a long run a million requests.
    @Test func eachRequestHasItsAnswerOrALostConnection() async throws {
        let pooler = try await TestPooler(sessions: 4, "statementCacheCapacity=0", resetsAlways: true)
        let (tasks, outcomes) = (20, Outcomes())
        let rounds = TestAmount.of(200, full: 500, long: 50_000)
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await lend(try await pooler.connect()) { (client) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { () async throws in
                    while !outcomes.isDone.load(ordering: .relaxed) {
                        // One of the pooler's sessions, whatever it does.
                        try await admin.query(
                            """
                            SELECT pg_terminate_backend(pid) FROM (
                                SELECT a.pid FROM pg_stat_activity AS a
                                WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                                    AND a.backend_type = 'client backend' ORDER BY random() LIMIT 1) AS a
                            """)
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
                for task in 0..<tasks {
                    group.addTask { () async throws in
                        for round in 0..<rounds { try await Self.ask(client, task * rounds + round, outcomes) }
                    }
                }
                for _ in 0..<tasks { try await group.next() }
                outcomes.isDone.store(true, ordering: .relaxed)
                try await group.waitForAll()
            }
        }
        await admin.close()
        let (answered, lost) = (outcomes.answered.load(ordering: .relaxed), outcomes.lost.load(ordering: .relaxed))
        #expect(answered + lost == tasks * rounds && answered > lost)
        withExtendedLifetime(pooler) {}
    }

    private static func ask(_ client: PostgresClient, _ number: Int, _ outcomes: Outcomes) async throws {
        do {
            let row: Row
            switch number % 4 {
            case 0: row = try await client.query("SELECT \(number), note.* FROM note")[0]
            case 1:
                row = try await client.withTransaction(retry: .none) { _ in
                    try await client.query("SELECT \(number), note.* FROM note")[0]
                }
            case 2:
                var statement = try ("SELECT \(number), note.* FROM note" as SQL)
                    .statement(types: client.types, isProgrammed: false)
                statement.resultFormat = .binary
                row = try await client.execute(statement)[0]
            default:
                row = try await client.query(
                    "UPDATE note SET text = text WHERE id = 0 OR id = 1 RETURNING \(number), id, text")[0]
            }
            #expect(try row.decode(0, as: Int.self) == number)
            #expect(try row.decode("text", as: String.self) == "a")
            outcomes.answered.add(1, ordering: .relaxed)
        } catch let error as PostgresError {
            // The pooler tells of an ended session by an error of its own, class 08, and of the server by 57P01.
            let isOfServer = error.sqlState.map { $0.rawValue.hasPrefix("08") || $0.rawValue.hasPrefix("57P") } ?? false
            // A request that the pooler never answers ends by its time.
            let codes: [PostgresError.Code] = [
                .connectionLost, .connectionFailed, .commitUnknown, .outcomeUnknown, .transactionBroken, .timeout,
            ]
            #expect(isOfServer || codes.contains(error.code), "\(error.code): \(error)")
            outcomes.lost.add(1, ordering: .relaxed)
        }
    }
}
