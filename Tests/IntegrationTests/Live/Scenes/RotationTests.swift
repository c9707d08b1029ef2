import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

private let schema = "CREATE TABLE counter (id integer PRIMARY KEY, value integer NOT NULL DEFAULT 0);"

/// Outboxes that take turns while the library's own reader follows, and while a consumer is away.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(15))) struct RotationTests {
    private func turn(_ client: PostgresClient) async throws -> Int64 {
        guard case .integer(let turn)? = try await client.value("SELECT turn::bigint FROM kindred.tracking_state")
        else { return -1 }
        return turn
    }

    private func insert(_ id: Int, _ client: PostgresClient) async throws {
        try await client.query("INSERT INTO counter VALUES (\(Int32(id)))")
    }

    /// How often the reader has tried to rotate.
    private final class Attempts: Sendable {
        let number = Mutex(0)
    }

    /// Lends a database whose reader tries to rotate three times a second.
    private func withQuickRotation(
        _ body: (
            _ database: Database, _ context: DatabaseContext, _ other: PostgresClient, _ attempts: Attempts
        ) async throws -> Void
    ) async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install(retention: .seconds(1))
            try await database.tracking.enable("counter")
            // Records go on, however long a busy machine lets the reader wait.
            try await other.query(
                "SELECT setval('kindred.tracking_watch', extract(epoch FROM clock_timestamp())::bigint + 100000)")
            let attempts = Attempts()
            let observation = database.client.addObserver { event in
                if event.sql.contains("tracking_rotate") { attempts.number.withLock { $0 += 1 } }
            }
            try await body(database, context, other, attempts)
            withExtendedLifetime(observation) {}
        }
    }

    @Test func turnsLoseNothingAndTellNothingTwice() async throws {
        try await withQuickRotation { database, context, other, _ in
            var changes = try await context.changes(of: "counter").makeAsyncIterator()
            var list = try await context.fetch("counter").sorted("id").live().makeAsyncIterator()
            #expect(try await list.update().objects.isEmpty)
            let start = try await turn(other)
            var id = 0
            // Each outbox is emptied twice.
            while try await turn(other) < start + 4 {
                id += 1
                try await insert(id, other)
                #expect(try await changes.next().map(Seen.init) == .inserted("counter \(id)"))
            }
            try await database.tracking.catchUp()
            #expect(try await list.update().integers() == (1...Int64(id)).map { Int64?($0) })
            #expect(database.tracking.metrics.gaps.isEmpty)
            let left = try await other.query(
                "SELECT (SELECT count(*) FROM kindred.tracking_outbox_0) + (SELECT count(*) FROM kindred.tracking_outbox_1)"
            )
            #expect(try left[0].decode(0, as: Int.self) ?? id < id, "nothing was thrown away")
        }
    }

    @Test func aLongReaderHoldsUpNobody() async throws {
        try await withQuickRotation { database, context, other, attempts in
            var changes = try await context.changes(of: "counter").makeAsyncIterator()
            var id = 0
            let before = try await other.withConnection { dump in
                // As pg_dump does, and as a reader in a transaction that is left open.
                _ = try await dump.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await dump.query("SELECT count(*) FROM kindred.tracking_outbox_0")
                _ = try await dump.query("SELECT count(*) FROM kindred.tracking_outbox_1")
                // Over the database's own client: this task's statements over the other go to the dump's connection.
                let before = try await turn(database.client)
                let tried = attempts.number.withLock { $0 }
                while attempts.number.withLock({ $0 }) < tried + 12 {
                    id += 1
                    try await insert(id, database.client)
                    #expect(try await changes.next().map(Seen.init) == .inserted("counter \(id)"))
                }
                // Enough attempts for two turns, which do not wait for it.
                while try await turn(database.client) == before {
                    id += 1
                    try await insert(id, database.client)
                    #expect(try await changes.next().map(Seen.init) == .inserted("counter \(id)"))
                }
                _ = try await dump.query("ROLLBACK")
                return before
            }
            while try await turn(other) < before + 2 {
                id += 1
                try await insert(id, other)
                #expect(try await changes.next().map(Seen.init) == .inserted("counter \(id)"))
            }
            #expect(database.tracking.metrics.gaps.isEmpty)
        }
    }

    // MARK: Consumers

    /// Lets the outbox that is not in turn grow old, and gives it the turn.
    private func rotate(_ client: PostgresClient) async throws -> String? {
        for _ in 0..<2 {
            let answer = try await client.query("SELECT kindred.tracking_rotate()").first?.decode(0, as: String.self)
            if answer == "turned" || answer == "held" { return answer }
            try await client.query(
                """
                UPDATE kindred.tracking_state SET turned_at = turned_at - interval '2 hours',
                    settled_at = settled_at - interval '2 hours'
                """)
        }
        return try await client.query("SELECT kindred.tracking_rotate()").first?.decode(0, as: String.self)
    }

    /// The work of another process: it takes a batch, acknowledges it, and is gone.
    private func work(_ id: Int? = nil) async throws -> Seen? {
        let database = try await TestDatabase.current.connect()
        let context = database.makeContext()
        let sequence = try await context.changes(of: ["counter"], consumer: "index", hold: .seconds(86_400))
        if let id { try await insert(id, database.client) }
        var batches = sequence.makeAsyncIterator()
        let batch = try #require(try await batches.next())
        try await context.transaction { try await batch.acknowledge() }
        await database.close()
        if let reason = batch.reason { return .everything(reason, batch.everything.map(\.name)) }
        return Seen(.changes(batch.changes))
    }

    @Test func aConsumerThatWasAwayGoesOnWhereItWas() async throws {
        try await withLive("counter") { _, _, other in
            #expect(try await work(1) == .inserted("counter 1"))
            // The weekend: rows are written, and the outboxes would have been emptied.
            for id in 2...4 { try await insert(id, other) }
            #expect(try await rotate(other) == "turned")
            for id in 5...6 { try await insert(id, other) }
            #expect(try await rotate(other) == "held")
            #expect(
                try await work() == .inserted("counter 2", "counter 3", "counter 4", "counter 5", "counter 6"))
            #expect(try await rotate(other) == "turned")
            #expect(try await work(7) == .inserted("counter 7"))
        }
    }

    @Test func aConsumerThatWasAwayForTooLongIsToldEverythingOnce() async throws {
        try await withLive("counter") { _, _, other in
            #expect(try await work(1) == .inserted("counter 1"))
            try await insert(2, other)
            #expect(try await rotate(other) == "turned")
            #expect(try await rotate(other) == "held")
            // Longer than the limit that it has set: it is waited for no more.
            try await other.query(
                "UPDATE kindred.tracking_consumer SET acknowledged_at = acknowledged_at - interval '2 days'")
            #expect(try await rotate(other) == "turned")
            #expect(try await work() == .everything(.expired, ["counter"]))
            #expect(try await work(3) == .inserted("counter 3"))
        }
    }
}
