import Kindred
import KindredLive
import KindredTesting
import Synchronization
import TestSupport
import Testing

/// Questions that take too long, or wait for a lock: they delay nothing but themselves, and lose nothing.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE parent (id integer PRIMARY KEY, name text);
            CREATE TABLE item (id integer PRIMARY KEY, value integer, parent_id integer REFERENCES parent);
            CREATE TABLE mark (id integer PRIMARY KEY);
            CREATE TABLE pace (id integer PRIMARY KEY, delay double precision NOT NULL);
            INSERT INTO pace VALUES (1, 0);
            CREATE VIEW slow AS SELECT i.id, i.value FROM item AS i
                WHERE (SELECT pg_sleep(delay) FROM pace) IS NOT NULL;
            INSERT INTO parent VALUES (1, 'a'), (2, 'b');
            INSERT INTO item SELECT i, i, 1 + i % 2 FROM generate_series(1, 6) AS i;
            """)), .timeLimit(.minutes(5))
) struct SlowQuestionTests {
    /// Lends a database that tracks all tables, whose questions have some time in a common step.
    private func withDatabase(
        _ options: Tracking.Options = Tracking.Options(),
        _ body: (_ database: Database, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withLive("parent", "item", "mark", "pace") { owner, _, other in
            let database = try await Database.connect(owner.client.configuration, tracking: options)
            do {
                try await body(database, other)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
        }
    }

    /// What SQL says of a column, beside what a list shows.
    private func expectAgreement(
        _ update: LiveUpdate<DatabaseObject>, _ column: String, of table: String, _ other: PostgresClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let values = try await other.query(
            "SELECT \(identifier: column)::bigint FROM \(identifier: table) ORDER BY id"
        ).map { try $0.decode(0, as: Int64.self) }
        #expect(update.integers(column) == values, sourceLocation: sourceLocation)
    }

    @Test func aLockDelaysOnlyTheQuestionsThatWaitForIt() async throws {
        try await withDatabase { database, other in
            let context = database.makeContext()
            var items = try await context.fetch("item").sorted("id").prefetch("parent").live().makeAsyncIterator()
            var marks = try await context.fetch("mark").sorted("id").live().makeAsyncIterator()
            let tracking = database.makeContext(tracking: .automatic)
            let item = try #require(try await tracking.fetch("item").where("id == 1").prefetch("parent").first())
            _ = try await (items.update(), marks.update())
            try await withClient { blocker in
                try await blocker.withTransaction { _ in
                    try await blocker.query("LOCK TABLE parent IN ACCESS EXCLUSIVE MODE")
                    try await other.query("UPDATE item SET value = 10 * value, parent_id = NULL WHERE id = 1")
                    try await other.query("UPDATE item SET value = 20 WHERE id = 2")
                    for id in Int32(1)...5 {
                        try await other.query("INSERT INTO mark VALUES (\(id))")
                        let update = try await marks.update()
                        #expect(update.objects.count == Int(id))
                    }
                    try await blocker.query("UPDATE parent SET name = 'late' WHERE id = 1")
                }
            }
            try await database.tracking.catchUp()
            let update = try await items.update()
            try await expectAgreement(update, "value", of: "item", other)
            #expect(update.updates == [0, 1, 3, 5])
            #expect(item["value"] == 10)
            try await withStatementLimit(0) {
                let parent = try await item.object(forKey: "parent")
                #expect(parent == nil)
            }
        }
    }

    /// A question that waits for a lock has its snapshot from before: a table that is written anew meanwhile has no rows for it.
    @Test func aTableThatIsWrittenAnewMeanwhileIsNotShownEmpty() async throws {
        let options = Tracking.Options(lockTimeout: .seconds(100), questionTimeout: .milliseconds(200))
        try await withDatabase(options) { database, other in
            let request = try database.makeContext().fetch("item").where("parent.name != %@", "c").sorted("id")
            var items = try await request.live().makeAsyncIterator()
            #expect(try await items.update().integers() == [1, 2, 3, 4, 5, 6])
            let new = AsyncStream<Void>.makeStream()
            let begun = Task {
                for await _ in new.stream { break }
                var items = try await request.where("id > %@", 2).live().makeAsyncIterator()
                return try await items.update().integers()
            }
            try await withClient { migration in
                try await migration.withTransaction { _ in
                    try await migration.query("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
                    new.continuation.yield()
                    try await other.query("UPDATE parent SET name = 'c' WHERE id = 1")
                    try await eventually("both questions wait, alone") {
                        try await other.value(
                            """
                            SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                                AND datname = current_database() AND query_start < clock_timestamp() - interval '1 second'
                            """) == 2
                    }
                    try await migration.query("ALTER TABLE item ADD COLUMN chance double precision DEFAULT random()")
                }
            }
            #expect(try await items.update().integers() == [1, 3, 5])
            #expect(try await begun.value == [3, 5])
        }
    }

    @Test func timesThatNoStatementCouldTakeAreRefused() async throws {
        let configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        for options in [
            Tracking.Options(lockTimeout: .microseconds(999)), Tracking.Options(questionTimeout: .zero),
            Tracking.Options(lockTimeout: .milliseconds(-5)),
        ] {
            await expectPostgresError(.invalidConfiguration) {
                _ = try await Database.connect(configuration, tracking: options)
            }
        }
    }

    @Test func aMigrationIsNeverTheVictimOfAReader() async throws {
        try await withDatabase { database, other in
            let items = try await database.makeContext().fetch("item").sorted("id").prefetch("parent").live()
            let reader = Task { for try await _ in items {} }
            defer { reader.cancel() }
            for round in 0..<(TestAmount.isLong ? 100 : 10) {
                try await withClient { migration in
                    try await migration.withTransaction { _ in
                        try await migration.query("LOCK TABLE parent IN ACCESS EXCLUSIVE MODE")
                        // The reader asks for the item, and then for its parent.
                        try await other.query("UPDATE item SET value = \(Int32(round)) WHERE id = 1")
                        try await Task.sleep(for: .milliseconds(20 * (round % 10)))
                        try await migration.query(
                            "ALTER TABLE item ALTER COLUMN value SET DEFAULT \(unsafeRaw: "\(round)")")
                    }
                }
            }
            try await database.tracking.catchUp()
            #expect(database.tracking.metrics.slowQuestions.isEmpty)
        }
    }

    @Test func aSlowQuestionDelaysNoOther() async throws {
        try await withDatabase(Tracking.Options(questionTimeout: .milliseconds(200))) { database, other in
            let context = database.makeContext()
            try await other.query("UPDATE pace SET delay = 2")
            var slow = try await context.fetch("slow").sorted("id").live().makeAsyncIterator()
            let line = #line - 1
            var marks = try await context.fetch("mark").sorted("id").live().makeAsyncIterator()
            _ = try await marks.update()
            let first = try await slow.update()
            try await expectAgreement(first, "value", of: "item", other)
            #expect(first.cause == .first)
            let name = "public.slow at IntegrationTests/SlowQuestionTests.swift:\(line)"
            #expect(database.tracking.metrics.slowQuestions[name].map { $0 >= .seconds(2) } == true)
            // While it is asked, others get their updates; afterwards it is asked once for all changes meanwhile.
            for id in Int32(1)...6 {
                try await other.withTransaction { _ in
                    try await other.query("UPDATE item SET value = 100 + value WHERE id = \(id)")
                    try await other.query("INSERT INTO mark VALUES (\(id))")
                }
                #expect(try await marks.update().objects.count == Int(id))
            }
            try await database.tracking.catchUp()
            try await expectAgreement(try await slow.update(), "value", of: "item", other)
            // Another consumer of the same request gets an answer that is not older than its call.
            try await other.query("DELETE FROM item WHERE id = 6")
            var another = try await context.fetch("slow").sorted("id").live().makeAsyncIterator()
            try await expectAgreement(try await another.update(), "value", of: "item", other)
            // A question that has become quick has a place in common steps again.
            try await other.query("UPDATE pace SET delay = 0")
            try await database.tracking.catchUp()
            try await other.query("DELETE FROM item WHERE id = 5")
            try await database.tracking.catchUp()
            try await expectAgreement(try await slow.update(), "value", of: "item", other)
            #expect(database.tracking.metrics.slowQuestions.isEmpty)
        }
    }

    @Test func aSlowQuestionThatFailsEndsAlone() async throws {
        try await withDatabase(Tracking.Options(questionTimeout: .milliseconds(100))) { database, other in
            let context = database.makeContext()
            try await other.query("UPDATE pace SET delay = 0.5")
            var slow = try await context.fetch("slow").sorted("id").live().makeAsyncIterator()
            var marks = try await context.fetch("mark").sorted("id").live().makeAsyncIterator()
            _ = try await (slow.update(), marks.update())
            try await other.query("DROP VIEW slow")
            try await other.query("UPDATE item SET value = 0")
            await #expect(throws: (any Error).self) { while true { _ = try await slow.update() } }
            try await other.query("INSERT INTO mark VALUES (1)")
            #expect(try await marks.update().objects.count == 1)
            try await database.tracking.catchUp()
        }
    }

    @Test func aSlowQuestionEndsWithItsIteration() async throws {
        try await withDatabase(Tracking.Options(questionTimeout: .milliseconds(100))) { database, other in
            let context = database.makeContext()
            try await other.query("UPDATE pace SET delay = 300")
            let live = try await context.fetch("slow").live()
            let waiting = Task {
                var slow = live.makeAsyncIterator()
                _ = try await slow.next()
            }
            /// The statements that have slept longer than a common step would let them.
            func sleeping() async throws -> Int64? {
                try await other.query(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()
                    AND clock_timestamp() - query_start > interval '0.5 s'
                    """
                ).first?.decode(0, as: Int64.self)
            }
            try await eventually("it is asked alone") { try await sleeping() == 1 }
            waiting.cancel()
            try await eventually("its statement is cancelled") { try await sleeping() == 0 }
        }
    }

    @Test(arguments: 1...3) func whateverIsSlowAgreesWithSQL(seed: Int) async throws {
        // Nearly every question is too slow for a common step at times.
        try await withDatabase(Tracking.Options(questionTimeout: .milliseconds(2))) { database, other in
            let context = database.makeContext()
            var random = RepeatedRandom(seed)
            var items = try await context.fetch("item").sorted("id").prefetch("parent").live().makeAsyncIterator()
            var few = try await context.fetch("item").where("value > 5").sorted("id").live().makeAsyncIterator()
            let tracking = database.makeContext(tracking: .automatic)
            let parents = try await tracking.fetch("parent").sorted("id").all()
            var last = try await (items.update(), few.update())
            for round in 0..<25 {
                for _ in 0..<random.below(6) {
                    let (id, value) = (random.key(12), random.below(12))
                    try await other.query("UPDATE pace SET delay = \(Double(random.below(3)) / 1_000)")
                    switch random.below(4) {
                    case 0: try await other.query("DELETE FROM item WHERE id = \(id)")
                    case 1:
                        try await other.query(
                            "INSERT INTO item VALUES (\(id), \(Int32(value)), 1) ON CONFLICT (id) DO UPDATE SET value = \(Int32(value))"
                        )
                    case 2: try await other.query("UPDATE item SET parent_id = \(1 + id % 2) WHERE id = \(id)")
                    default: try await other.query("UPDATE parent SET name = \("n\(round)") WHERE id = \(1 + id % 2)")
                    }
                }
                try await other.query("INSERT INTO item VALUES (\(Int32(100 + round)), 50, 2)")
                try await database.tracking.catchUp()
                // Each iteration has the newest answer only.
                last = try await (items.update(), few.update())
                try await expectAgreement(last.0, "value", of: "item", other)
                let shown = try await other.query("SELECT id::bigint FROM item WHERE value > 5 ORDER BY id")
                    .map { try $0.decode(0, as: Int64.self) }
                #expect(last.1.integers() == shown, "seed \(seed), round \(round)")
                for parent in parents {
                    let row = try await other.query("SELECT name FROM parent WHERE id = \(Int32(parent.number ?? 0))")
                    let name = try row.first?.decode(0, as: String.self)
                    #expect(parent["name"] == name.map { .string($0) }, "seed \(seed), round \(round)")
                }
            }
        }
    }

    /// A request that was answered alone is not mixed with the answers of a step whose snapshot is older.
    @Test(arguments: 1...2) func noAnswerMixesTwoStates(seed: Int) async throws {
        let options = Tracking.Options(lockTimeout: .milliseconds(2), questionTimeout: .seconds(1))
        try await withDatabase(options) { database, other in
            try await other.query("UPDATE pace SET delay = 0.02")
            try await other.query("UPDATE item SET value = 100")
            let count = try #require(try await other.value("SELECT count(*) FROM item").flatMap { Int("\($0)") })
            let context = database.makeContext()
            // The view's answers take a while, so that others are given during a step.
            let views = try await context.fetch("slow").sorted("id").live()
            let items = try await context.fetch("item").sorted("value").live()
            let sums = Mutex<[Int64: Int]>([:])
            let readers = [
                Task { for try await _ in views {} },
                Task {
                    for try await update in items {
                        let sum = update.objects.reduce(Int64(0)) { sum, item in
                            if case .integer(let value)? = item["value"] { sum + value } else { sum }
                        }
                        sums.withLock { $0[sum, default: 0] += 1 }
                    }
                },
            ]
            defer { for reader in readers { reader.cancel() } }
            let writer = Task {
                var random = RepeatedRandom(seed)
                try await withClient { client in
                    while !Task.isCancelled {
                        let (from, to, amount) = (1 + random.below(2) * 2, 5, random.below(20))
                        // Both rows in one statement: the sum of all is the same in each state.
                        try await client.query(
                            """
                            UPDATE item SET value = value + CASE id WHEN \(Int32(from)) THEN -\(Int32(amount)) ELSE \(Int32(amount)) END
                            WHERE id IN (\(Int32(from)), \(Int32(to)))
                            """)
                        try await Task.sleep(for: .milliseconds(random.below(6)))
                    }
                }
            }
            try await withClient { migration in
                for round in 0..<(TestAmount.isLong ? 1_000 : 60) {
                    // The whole list is asked again after it, and meets a lock.
                    try await migration.query(
                        "ALTER TABLE item ALTER COLUMN value SET DEFAULT \(unsafeRaw: "\(round)")")
                    for _ in 0..<3 {
                        try await migration.withTransaction { _ in
                            try await migration.query("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
                            try await Task.sleep(for: .milliseconds(8))
                        }
                        try await Task.sleep(for: .milliseconds(12))
                    }
                }
            }
            writer.cancel()
            _ = await writer.result
            try await database.tracking.catchUp()
            let found = sums.withLock { $0 }
            #expect(found.keys.sorted() == [Int64(count * 100)], "\(found)")
        }
    }
}
