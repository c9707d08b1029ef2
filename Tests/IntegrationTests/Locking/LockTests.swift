import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE counter (id integer PRIMARY KEY, value integer NOT NULL DEFAULT 0);
    INSERT INTO counter SELECT generate_series(1, 5);
    CREATE TABLE counter_with_version (LIKE counter INCLUDING ALL, version bigint NOT NULL DEFAULT 1);
    COMMENT ON COLUMN counter_with_version.version IS '@kindred {"version": true}';
    INSERT INTO counter_with_version (id) VALUES (1);
    CREATE TABLE counter_with_xmin (LIKE counter INCLUDING ALL);
    COMMENT ON TABLE counter_with_xmin IS '@kindred {"optimisticLocking": "xmin"}';
    INSERT INTO counter_with_xmin (id) VALUES (1);
    """

/// Locks on objects and requests, and their purposes.
@Suite struct LockTests {
    private static let increments = LongTests.areOn ? 1_000 : 10
    private static let tasks = 64

    private enum Strategy: CaseIterable {
        case object, request, serializable, version, xmin

        var table: String {
            switch self {
            case .object, .request, .serializable: "counter"
            case .version: "counter_with_version"
            case .xmin: "counter_with_xmin"
            }
        }
    }

    @Test(.database(.sql(schema), timeLimit: .seconds(3_600)), arguments: Strategy.allCases)
    private func noIncrementIsLost(strategy: Strategy) async throws {
        try await withDatabase { database, _, other in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.tasks {
                    group.addTask { try await Self.increment(database.makeContext(), strategy) }
                }
                try await group.waitForAll()
            }
            #expect(
                try await other.value("SELECT value FROM \(identifier: strategy.table) WHERE id = 1")
                    == .integer(Int64(Self.tasks * Self.increments)))
        }
    }

    private static func increment(_ context: DatabaseContext, _ strategy: Strategy) async throws {
        let counter = try await context.fetch(strategy.table).where("id = 1").one()
        for _ in 0..<increments {
            switch strategy {
            case .object:
                try await context.transaction {
                    try await counter.lock()
                    try await raise(counter)
                }
            case .request:
                try await context.transaction {
                    try await raise(try await context.fetch("counter").where("id = 1").lock(.forNoKeyUpdate).one())
                }
            case .serializable:
                // Each round only one task succeeds, so there are as many attempts as it takes.
                try await context.transaction(isolation: .serializable, retry: .attempts(10_000)) {
                    try await counter.refresh()
                    try await raise(counter)
                }
            case .version, .xmin:
                try await context.save(retry: .attempts(10_000)) {
                    let value = try counter.value(forKey: "value", as: Int64.self) ?? 0
                    counter["value"] = .integer(value + 1)
                }
            }
        }
    }

    private static func raise(_ counter: DatabaseObject) async throws {
        let value = try counter.value(forKey: "value", as: Int.self) ?? 0
        try await counter.setValue(value + 1, forKey: "value")
    }

    @Test(.database(.sql(schema))) func lockedRowsAreSkippedOrRefused() async throws {
        try await withDatabase { database, context, other in
            let counters = try await context.fetch("counter").sorted("id").all()
            try await context.transaction {
                try await counters[0].lock()
                try await Task.detached {
                    let second = database.makeContext()
                    try await second.transaction {
                        let free = try await second.fetch("counter").sorted("id").limit(2).lock(.forUpdate, .skipLocked)
                            .all()
                        #expect(free.map { $0["id"] } == [2, 3])
                        let twin = try await second.fetch("counter").where("id = 1").one()
                        await expectError(.notFound) { try await twin.lock(.forShare, .skipLocked) }
                    }
                    let error = await #expect(throws: PostgresError.self) { () async throws in
                        try await second.transaction {
                            _ = try await second.fetch("counter").lock(.forUpdate, .noWait).all()
                        }
                    }
                    #expect(error?.sqlState == .lockNotAvailable)
                }.value
            }
        }
    }

    @Test(.database(.sql(schema))) func pagesStreamsAndAttributesAreLockedToo() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("counter").sorted("id").lock(.forUpdate, .skipLocked)
            func walk() async throws -> [PostgresValue?] {
                var found: [PostgresValue?] = []
                for try await counter in request.stream() { found.append(counter["id"]) }
                return found
            }
            let reads: [(DatabaseContext) async throws -> Int] = [
                { _ in try await request.page(size: 1).objects.count },
                { _ in try await request.select("id").all().count },
                { _ in try await request.select("id").all(as: Int.self).count },
                { _ in try await walk().count },
            ]
            for read in reads {
                try await expectStatements([]) { () async throws in
                    await expectError(.invalidRequest) { _ = try await read(context) }
                }
                try await context.transaction {
                    #expect(try await read(context) > 0)
                    let free = try await other.query("SELECT 1 FROM counter WHERE id = 1 FOR UPDATE SKIP LOCKED")
                    #expect(free.isEmpty)
                }
            }
            await expectError(.invalidRequest) { _ = try request.select("id").distinct() }
        }
    }

    @Test(.database(.sql(schema))) func aLockNeedsATransactionAndARowThatIsThere() async throws {
        try await withDatabase { database, context, other in
            let counters = try await context.fetch("counter").sorted("id").all()
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { try await counters[0].lock() }
                await expectError(.invalidRequest) { _ = try await context.fetch("counter").lock().all() }
            }
            _ = try await other.query("UPDATE counter SET value = 7 WHERE id = 1")
            _ = try await other.query("DELETE FROM counter WHERE id = 2")
            try await context.transaction {
                try await counters[0].lock()
                #expect(counters[0]["value"] == 7)
            }
            await expectError(.objectDeleted) { try await context.transaction { try await counters[1].lock() } }
        }
    }

    @Test(.database(.sql(schema))) func aReadOnlyTransactionRefusesWrites() async throws {
        try await withDatabase { database, context, other in
            let counter = try await context.fetch("counter").where("id = 1").one()
            let (_, recorder) = await recordingStatements {
                await expectError(.readOnlyTransaction) { () async throws in
                    try await context.transaction(isolation: .serializable, readOnly: true, deferrable: true) {
                        try await counter.setValue(1, forKey: "value")
                    }
                }
            }
            #expect(recorder.all.first?.sql == "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
            #expect(counter["value"] == 0)
        }
    }
}
