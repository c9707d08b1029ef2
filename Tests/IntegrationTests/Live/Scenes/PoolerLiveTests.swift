import Kindred
import KindredLive
import KindredTesting
import Logging
import Testing

private let schema = """
    CREATE TABLE region (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person (id integer PRIMARY KEY, nick text NOT NULL, region_id integer REFERENCES region);
    INSERT INTO region VALUES (1, 'north'), (2, 'south');
    INSERT INTO person VALUES (1, 'ann', 1), (2, 'bob', 2);
    """

/// Live changes behind PgBouncer, which lends its sessions by transaction: no notification arrives there, so readers poll.
@Suite(
    .database(.sql(schema), timeLimit: .seconds(900)),
    .enabled(if: TestPooler.isInstalled, "PgBouncer is not installed: apt-get install pgbouncer"))
struct PoolerLiveTests {
    /// Lends a database over the pooler, and a connection past it.
    private func withPooler(
        prepares: Bool,
        _ body: (_ database: Database, _ other: PostgresClient, _ lines: LogLines) async throws -> Void
    ) async throws {
        try await withDatabase { direct, _, other in
            try await direct.tracking.install()
            try await direct.tracking.enable("region", "person")
            let pooler = try await TestPooler(sessions: 2)
            defer { withExtendedLifetime(pooler) {} }
            try await pooler.connect().close()
            var configuration = pooler.configuration
            configuration.statementCacheCapacity = prepares ? 256 : 0
            let lines = LogLines()
            let database = try await Database.connect(configuration, logger: lines.logger)
            do {
                try await body(database, other, lines)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
        }
    }

    /// Statements of other tasks, so that the reader gets now one session and now the other.
    private func load(_ database: Database) -> [Task<Void, any Error>] {
        (0..<3).map { task in
            Task {
                while !Task.isCancelled {
                    let row = try await database.query("SELECT \(task) + 0").first
                    #expect(try row?.decode(0, as: Int.self) == task)
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
    }

    @Test(arguments: [false, true]) func changesListsAndContextsAreRight(prepares: Bool) async throws {
        try await withPooler(prepares: prepares) { database, other, lines in
            let context = database.makeContext()
            let tracking = database.makeContext(tracking: .automatic)
            let ann = try #require(try await tracking.find("person", 1))
            let north = try #require(try await tracking.find("region", 1))
            _ = try await north.set(forKey: "personSet").objects
            var changes = try await context.changes(of: "person", "region").makeAsyncIterator()
            var list = try await context.fetch("person").where("region.name = %@", "north").sorted("id").live()
                .makeAsyncIterator()
            #expect(try await list.update().integers() == [1])
            try await database.tracking.catchUp()
            let tasks = load(database)
            let (rounds, before) = (40, database.tracking.metrics)
            var members: [Int64] = [1]
            for round in 1...rounds {
                let id = Int64(100 + round)
                try await other.withTransaction { _ in
                    try await other.query("UPDATE person SET nick = \("ann \(round)") WHERE id = 1")
                    try await other.query("INSERT INTO person VALUES (\(id), 'new', 1)")
                }
                members.append(id)
                #expect(
                    try await changes.seen(database)
                        == .changes(inserted: ["person \(id)"], updated: ["person 1": ["nick"]], deleted: []))
                #expect(ann["nick"] == .string("ann \(round)"))
                #expect(try await north.membersInMemory("personSet") == members)
                let update = try await list.update()
                #expect(update.integers() == members && update.updates == [0] && update.insertions == [round])
            }
            for task in tasks { task.cancel() }
            for task in tasks {
                do { try await task.value } catch is CancellationError {}
            }
            let after = database.tracking.metrics
            #expect(after.gaps.isEmpty && after.wakeUps == 0)
            // One statement for the rows of a transaction, for all contexts; one more at most where a step was run
            // again or an object has just come.
            let asked = after.statements - before.statements
            #expect(asked >= rounds && asked <= 2 * rounds + after.retries, "\(asked), \(after.retries)")
            if !prepares { #expect(after.retries == 0) }
            var expected = [
                "the listener has no connection", "sessions change between statements", "connected as a superuser",
                "Changes are found by polling",
            ]
            // A session that knows the prepared BEGIN, and not the COMMIT, is left in a transaction: the step is tried again.
            if prepares { expected.append("Changes could not be read for some time") }
            let others = lines.take(.warning).map(\.message).filter { [expected] line in
                !expected.contains { line.hasPrefix($0) }
            }
            #expect(others == [])
        }
    }

    @Test func readersPollAndDoNotTryToListenAgainAndAgain() async throws {
        try await withPooler(prepares: false) { database, other, lines in
            let start = ContinuousClock.now
            var changes = try await database.makeContext().changes(of: "person").makeAsyncIterator()
            var refusals = 0
            func count() {
                refusals += lines.take(.warning).count { $0.message.hasPrefix("Changes are found by polling") }
            }
            if try await database.tracking.status()?.notifiesReaders == true {
                try await eventually("nothing tries to listen") {
                    count()
                    return refusals > 0
                }
            }
            // No notification asks for a step: the changes are found by polling.
            for id in 100..<110 {
                try await other.query("INSERT INTO person VALUES (\(Int32(id)), 'new')")
                #expect(try await changes.next().map(Seen.init) == .inserted("person \(id)"))
            }
            let (quiet, readings) = (ContinuousClock.now, database.tracking.metrics.readings)
            try await Task.sleep(for: .seconds(3))
            let polls = database.tracking.metrics.readings - readings
            // Four times a second in the end.
            #expect(polls > 0 && polls <= 20 + Int((ContinuousClock.now - quiet) / .milliseconds(200)), "\(polls)")
            #expect(database.tracking.metrics.wakeUps == 0 && database.tracking.metrics.retries == 0)
            count()
            #expect(refusals <= 1 + Int((ContinuousClock.now - start) / .seconds(60)), "\(refusals)")
        }
    }

    @Test func aConsumerKeepsItsPlaceOverIt() async throws {
        try await withPooler(prepares: false) { database, other, _ in
            let context = database.makeContext()
            for id in 100..<103 {
                // Begun anew each time, as by another process.
                let sequence = try await context.changes(of: ["person"], consumer: "index")
                try await other.query("INSERT INTO person VALUES (\(Int32(id)), 'new')")
                var batches = sequence.makeAsyncIterator()
                let batch = try #require(try await batches.next())
                #expect(batch.changes.inserted.map(\.values) == [[.integer(Int64(id))]])
                try await context.transaction { try await batch.acknowledge() }
            }
            #expect(try await database.tracking.dropConsumer("index"))
        }
    }
}
