import KindredTesting
import Synchronization
import Testing

@testable import Kindred

private let notes = """
    CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL);
    INSERT INTO note SELECT n, 'note ' || n FROM generate_series(1, 100) AS n;
    CREATE TABLE mark (id uuid PRIMARY KEY, note_id int REFERENCES note);
    INSERT INTO mark SELECT md5(n::text)::uuid, n FROM generate_series(1, 100) AS n;
    CREATE TABLE short (id smallint PRIMARY KEY);
    INSERT INTO short VALUES (1), (2);
    CREATE TABLE long (id bigint PRIMARY KEY, text text NOT NULL);
    INSERT INTO long SELECT n, repeat('x', 700000) FROM generate_series(1, 3) AS n;
    """

/// Look-ups by key share statements while the connections have others under way.
@Suite struct SharedLookupTests {
    /// Look-ups of an entity of which as many are under way as there are connections.
    private struct Busy {
        let lookups: KeyLookups
        let entity: EntityRuntime
        let client: PostgresClient
        let limit: Int

        init(_ database: Database, _ name: String = "note", patience: Duration = .seconds(600)) throws {
            lookups = KeyLookups(patience: patience)
            client = database.client
            limit = client.configuration.pool.maximumConnections
            entity = try database.makeContext().core.runtime.entity(named: name)
            for _ in 0..<limit { #expect(enter() == nil) }
        }

        /// The place of a look-up that waits; nil if it goes alone.
        func enter(_ key: Int64 = 1, isBound: Bool = false) -> SharedLookup.Place? {
            lookups.enter(for: .integer(key), of: entity, client, isBound: isBound)
        }

        func wait(for keys: [Int64]) throws -> [Task<SharedLookup.Found?, any Error>] {
            try keys.map { key in
                let place = try #require(enter(key))
                return Task { try await lookups.wait(at: place, client) }
            }
        }
    }

    @Test(.database(.sql(notes))) func lookupsThatWaitShareAStatement() async throws {
        try await withDatabase { database, _, _ in
            let busy = try Busy(database)
            #expect(busy.enter(isBound: true) == nil)
            busy.lookups.leave(busy.client)
            let tasks = try busy.wait(for: [30, 10, 999, 30])
            busy.lookups.leave(busy.client)
            var found: [SharedLookup.Found] = []
            for task in tasks { found.append(try #require(try await task.value)) }
            #expect(found.allSatisfy { $0.result === found[0].result })
            #expect(found[0].result.count == 2)
            let keys = try found.map { found in try found.position.map { try found.result[$0][0] } }
            #expect(keys == [30, 10, nil, 30])
            #expect(busy.lookups.underWayCount == busy.limit - 1)
        }
    }

    @Test(.database(.sql(notes))) func aCancelledWaiterLeavesAtOnceAndTheOthersStay() async throws {
        try await withDatabase { database, _, _ in
            let busy = try Busy(database)
            let tasks = try busy.wait(for: [1, 2, 3])
            tasks[1].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[1].value }
            busy.lookups.leave(busy.client)
            #expect(try await tasks[0].value?.result.count == 2)
            #expect(try await tasks[2].value?.position != nil)
            // The next statement has no waiters left: nothing is sent.
            #expect(busy.enter() == nil)
            let gone = try busy.wait(for: [4])
            gone[0].cancel()
            await #expect(throws: CancellationError.self) { try await gone[0].value }
            busy.lookups.leave(busy.client)
            try await eventually("it has ended") { busy.lookups.underWayCount == busy.limit - 1 }
        }
    }

    @Test(.database(.sql(notes))) func noLookupWaitsWithoutAnAnswerUnderWay() async throws {
        try await withDatabase { database, _, _ in
            let busy = try Busy(database, patience: .zero)
            #expect(busy.enter() == nil)
        }
    }

    /// Runs `body` while the statement that two look-ups share waits for a lock.
    private func withBlockedLookups(
        _ body: (Busy, [Task<SharedLookup.Found?, any Error>], PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, _, other in
            let busy = try Busy(database)
            let tasks = try busy.wait(for: [1, 2])
            try await other.withTransaction { _ in
                try await other.query("LOCK TABLE note")
                busy.lookups.leave(busy.client)
                try await eventually("it waits") { try await other.value(waiting) == 1 }
                try await body(busy, tasks, other)
            }
        }
    }

    /// The waiters for this database's table: other databases' tables may have the same number.
    private let blocked = """
        FROM pg_locks JOIN pg_database AS d ON d.oid = database
        WHERE datname = current_database() AND NOT granted AND relation = 'note'::regclass
        """
    private var waiting: SQL { SQL(unsafeRaw: "SELECT count(*) \(blocked)") }

    @Test(.database(.sql(notes))) func theServerStopsWhenAllAreCancelled() async throws {
        try await withBlockedLookups { _, tasks, other in
            tasks[0].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[0].value }
            #expect(try await other.value(waiting) == 1)
            tasks[1].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[1].value }
            try await eventually("it has stopped") { try await other.value(waiting) == 0 }
        }
    }

    @Test(.database(.sql(notes))) func aLostConnectionIsToldToAll() async throws {
        try await withBlockedLookups { busy, tasks, other in
            let endedCount = try await other.value(
                SQL(unsafeRaw: "SELECT count(pg_terminate_backend(pid)) \(blocked)"))
            #expect(endedCount == 1)
            for task in tasks {
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                #expect(error?.code == .connectionLost)
            }
            #expect(busy.lookups.underWayCount == busy.limit - 1)
        }
    }

    @Test(.database(.sql(notes))) func whatFailsForAllIsAskedByEach() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.maximumResultSize = 1 << 20
        configuration.pool.maximumConnections = 2
        let database = try await Database.connect(configuration)
        let busy = try Busy(database, "long")
        let tasks = try busy.wait(for: [1, 2, 3])
        busy.lookups.leave(busy.client)
        for task in tasks { #expect(try await task.value == nil) }
        // These three are counted now, beside the one of before.
        #expect(busy.lookups.underWayCount == 4)
        // A key that its column cannot hold.
        let short = try Busy(database, "short")
        let finds = try short.wait(for: [1, 70_000, 2])
        short.lookups.leave(short.client)
        for task in finds { #expect(try await task.value == nil) }
        // Each result is small enough, two of them are not.
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<60 {
                group.addTask {
                    let object = try await database.makeContext().find("long", 1 + number % 3)
                    #expect(object?["id"] == .integer(Int64(1 + number % 3)))
                }
            }
        }
        await database.close()
    }

    @Test(.database(.sql(notes))) func everyLookupGetsItsObjectAndIsToldOnce() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.maximumConnections = 2
        let database = try await Database.connect(configuration)
        let marks = try await database.makeContext().fetch("mark").all()
        let events = Mutex<[StatementEvent]>([])
        let observation = database.client.addObserver { event in events.withLock { $0.append(event) } }
        try await withThrowingDiscardingTaskGroup { group in
            for task in 0..<32 {
                group.addTask {
                    let context = database.makeContext()
                    for step in 0..<25 {
                        let id = Int64(1 + (task * 7 + step * 13) % 125)
                        let note = try await context.find("note", id)
                        #expect(note?["text"] == (id <= 100 ? .string("note \(id)") : nil))
                        #expect((note == nil) == (id > 100))
                        let mark = marks[(task * 11 + step) % 100]
                        let found = try await context.object(with: try #require(mark.objectID))
                        #expect(found["note_id"] == mark["note_id"])
                    }
                }
            }
        }
        observation.cancel()
        let told = events.withLock { $0 }
        #expect(told.count <= 32 * 25 * 2)
        let shared = told.filter { $0.sql.contains("= ANY($1)") }
        #expect(!shared.isEmpty && shared.count < told.count)
        #expect(shared.allSatisfy { $0.place?.fileID.hasSuffix("SharedLookupTests.swift") == true })
        #expect(shared.allSatisfy { $0.rows == 1 || $0.rows == 0 && $0.sql.contains("\"note\"") })
        await database.close()
    }

    @Test(.database(.sql(notes))) func statementsThatAreCountedOrBoundAreTheirOwn() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.maximumConnections = 2
        let database = try await Database.connect(configuration)
        func findAll() async throws {
            try await withThrowingDiscardingTaskGroup { group in
                for id in 1...50 {
                    group.addTask {
                        let note = try await database.makeContext().find("note", id)
                        #expect(note != nil)
                    }
                }
            }
        }
        let (_, recorder) = try await recordingStatements { try await findAll() }
        #expect(recorder.statements.count == 50)
        #expect(recorder.statements.allSatisfy { $0.hasSuffix(#"WHERE "id" = $1"#) })
        try await withStatementLimit(50) { try await findAll() }
        try await database.client.withTransaction { _ in
            try await database.query("INSERT INTO note VALUES (200, 'new')")
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        let note = try await database.makeContext().find("note", 200)
                        #expect(note != nil)
                    }
                }
            }
        }
        await database.close()
    }
}
