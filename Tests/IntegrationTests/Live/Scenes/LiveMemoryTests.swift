#if os(Linux)
    import KindredTesting
    import Synchronization
    import Testing

    @testable import Kindred
    @testable import KindredLive

    private let schema = """
        CREATE TABLE owner (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE part (
            id integer PRIMARY KEY, owner_id integer NOT NULL REFERENCES owner, note integer NOT NULL);
        CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE part_tag (
            part_id integer REFERENCES part ON DELETE CASCADE, tag_id integer REFERENCES tag ON DELETE CASCADE,
            PRIMARY KEY (part_id, tag_id));
        INSERT INTO owner SELECT i, 'owner ' || i FROM generate_series(1, 20) AS i;
        INSERT INTO part SELECT i, 1 + i % 20, 0 FROM generate_series(1, 200) AS i;
        INSERT INTO tag SELECT i, 'tag ' || i FROM generate_series(1, 10) AS i;
        INSERT INTO part_tag SELECT i, 1 + i % 10 FROM generate_series(1, 200) AS i;
        """

    /// Following changes for a long time needs no more memory than after the first changes.
    ///
    /// In a process of its own, whose heap nothing else uses.
    @Suite(.database(.sql(schema), timeLimit: .seconds(7_200))) struct LiveMemoryTests {
        @Test("A process that follows 6,000 changes grows by less than 640 KiB of heap, by 2 MiB with a million")
        func growth() async throws {
            guard HeapMemory.bytesInUse != nil else { return }
            try await ChildProcess.run("LiveMemoryChildTests/follow", argument: TestDatabase.current.uri)
        }
    }

    /// The work of the process of `LiveMemoryTests`.
    @Suite(.enabled(if: ChildProcess.argument != nil, "Part of LiveMemoryTests"), .timeLimit(.minutes(120)))
    struct LiveMemoryChildTests {
        private static let tables = ["owner", "part", "tag", "part_tag"]
        /// The changes of a round.
        private static let changesPerRound = 120
        private static let warmUp = 4_800 / changesPerRound
        private static let rounds = (LongTests.areOn ? 1_000_000 : 6_000) / changesPerRound
        /// As much for each change as 2 MiB in 20,000 of them.
        private static let limit = LongTests.areOn ? 2 << 20 : 640 << 10

        /// The changes that the consumers have seen so far.
        private final class Seen: Sendable {
            let changes = Mutex(0)
            let list = Mutex<[Int64?]>([])
        }

        @Test func follow() async throws {
            var configuration = try PostgresConfiguration(uri: try #require(ChildProcess.argument))
            configuration.pool.acquireTimeout = .seconds(120)
            let database = try await Database.connect(configuration)
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
            try await lend(configuration) { try await follow(database, writer: $0) }
            await database.close()
        }

        private func follow(_ database: Database, writer: PostgresClient) async throws {
            let seen = Seen()
            let changes = try await database.makeContext().changes(of: Self.tables)
            let list = try await database.makeContext().fetch("part").where("owner.name != %@", "").sorted("note")
                .prefetch("tagSet").live()
            let consumers = [
                Task {
                    for try await element in changes {
                        guard case .changes(let changes) = element else {
                            Issue.record("\(element)")
                            continue
                        }
                        seen.changes.withLock {
                            $0 += changes.inserted.count + changes.updated.count + changes.deleted.count
                        }
                    }
                },
                Task {
                    for try await update in list { seen.list.withLock { $0 = update.integers() } }
                },
            ]
            let context = database.makeContext(tracking: .automatic)
            // Reached in the first rounds, instead of after some hundred thousand changes.
            context.core.withMap { $0.log.maximumEntries = 200 }
            // Held, as a screen holds them.
            let owners = try await context.fetch("owner").sorted("id").all()
            let tags = try await context.fetch("tag").sorted("id").all()
            try await write(0..<Self.warmUp, writer, database, owners, tags)
            let (before, told) = (try await heap(database), seen.changes.withLock { $0 })
            try await write(Self.warmUp..<Self.warmUp + Self.rounds, writer, database, owners, tags)
            let growth = try await heap(database) - before
            print("\(Self.rounds * Self.changesPerRound) changes: the heap has grown by \(growth >> 10) KiB")
            #expect(growth < Self.limit)
            // They were there to the end.
            try await writer.query("UPDATE part SET note = -1 WHERE id = 77")
            try await database.tracking.catchUp()
            let rows = try await writer.query("SELECT id::bigint FROM part ORDER BY note, id")
            let expected = try rows.map { try $0.decode(0, as: Int64.self) }
            try await eventually("the list stays behind") { seen.list.withLock { $0 } == expected }
            #expect(seen.changes.withLock { $0 } > told)
            for owner in owners {
                let id = try #require(owner.number)
                let keys = try await FollowedWorld.keys(
                    writer, "SELECT id FROM part WHERE owner_id = \(id) ORDER BY id")
                #expect(try await owner.membersInMemory("partSet") == keys)
            }
            for consumer in consumers { consumer.cancel() }
            for consumer in consumers {
                do { try await consumer.value } catch is CancellationError {}
            }
        }

        /// Changes rows, moves them, deletes them and makes them anew; the tables end as large as they were.
        private func write(
            _ rounds: Range<Int>, _ writer: PostgresClient, _ database: Database, _ owners: [DatabaseObject],
            _ tags: [DatabaseObject]
        ) async throws {
            for round in rounds {
                let (first, second, third) = (round % 10, (round + 3) % 10, (round + 5) % 10)
                try await writer.query("UPDATE part SET note = \(round) WHERE id % 10 = \(first)")
                try await writer.query(
                    "UPDATE part SET owner_id = 1 + (owner_id + \(round)) % 20 WHERE id % 10 = \(second)")
                try await writer.query("DELETE FROM part WHERE id % 10 = \(third)")
                try await writer.withTransaction { _ in
                    try await writer.query(
                        """
                        INSERT INTO part
                        SELECT i, 1 + i % 20, \(round) FROM generate_series(1, 200) AS i WHERE i % 10 = \(third)
                        """)
                    try await writer.query(
                        """
                        INSERT INTO part_tag
                        SELECT i, 1 + i % 10 FROM generate_series(1, 200) AS i WHERE i % 10 = \(third)
                        """)
                }
                if round % 10 == 0 { try await database.tracking.catchUp() }
                if round % 50 == 0 { try await look(at: owners, tags) }
            }
            try await look(at: owners, tags)
        }

        /// Reads sets and counts; the objects of parts are not kept.
        private func look(at owners: [DatabaseObject], _ tags: [DatabaseObject]) async throws {
            for owner in owners { _ = try await owner.set(forKey: "partSet").objects.map { $0["note"] } }
            for tag in tags { _ = try await tag.set(forKey: "partSet").count }
        }

        /// The heap at rest: the least of some measurements.
        private func heap(_ database: Database) async throws -> Int {
            var least = Int.max
            for _ in 0..<20 {
                try await database.tracking.catchUp()
                try await Task.sleep(for: .milliseconds(50))
                least = min(least, HeapMemory.bytesInUse ?? .max)
            }
            return least
        }
    }
#endif
