import Kindred
import KindredTesting
import Synchronization
import Testing

/// A program's mistake ends soon, with an error that says so, and harms no other task.
@Suite(.database("CREATE TABLE note (id integer PRIMARY KEY, text text)")) struct MisuseTests {
    @Test func everythingSaysThatTheDatabaseIsClosed() async throws {
        let database = try await Database.connect(try TestDatabase.current.uri)
        let context = database.makeContext()
        let stored = try await context.create("note", ["id": 1])
        let staged = try context.add("note", ["id": 2])
        await database.close()
        let uses: [() async throws -> Void] = [
            { _ = try await context.fetch("note").all() }, { _ = try await context.fetch("note").count() },
            { for try await _ in try context.fetch("note").stream() { Issue.record("an object") } },
            { try await stored.setValue("x", forKey: "text") }, { try await stored.refresh() },
            { try await context.save() }, { _ = try await context.create("note", ["id": 3]) },
            { try await context.delete(stored) }, { try await database.refreshSchema() },
            { try await context.transaction { try await stored.setValue("x", forKey: "text") } },
            { try await database.query("SELECT 1") }, { try await database.client.withConnection { _ in } },
            { for try await _ in try database.client.stream("SELECT 1") { Issue.record("a row") } },
            { for try await _ in try database.client.copyOut("COPY note TO STDOUT") { Issue.record("data") } },
        ]
        for (number, use) in uses.enumerated() {
            do {
                try await use()
                Issue.record("use \(number) did not fail")
            } catch let error as PostgresError {
                #expect(error.code == .closed, "use \(number)")
            }
        }
        #expect(staged.isInserted && staged.hasStagedChanges && stored["text"] == nil)
    }

    @Test func closingTogetherAndFromInsideEnds() async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: try TestDatabase.current.uri))
        await expectPostgresError(.closed) {
            _ = try await client.withTransaction { _ in
                try await client.query("INSERT INTO note VALUES (1)")
                // The transaction itself is in the way, for as long as it may be.
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { await client.close(timeout: .milliseconds(50)) } }
                }
                _ = try await client.query("INSERT INTO note VALUES (2)")
            }
        }
        await client.close()
        #expect(client.metrics.opened == client.metrics.closed + client.metrics.lost)
        try await withClient { other in
            let count = try await other.query("SELECT count(*) FROM note")
            #expect(try count[0][0] == 0)
        }
    }

    @Test func aConnectionIsOfNoUseOutsideOfItsScope() async throws {
        try await withClient(maximumConnections: 2) { client in
            let lent = try await client.withConnection { $0 }
            await expectPostgresError(.transactionEnded) { try await lent.query("SELECT 1") }
            let ended = Mutex<PostgresTransaction?>(nil)
            try await client.withTransaction { transaction in
                try await transaction.query("SELECT 1")
                ended.withLock { $0 = transaction }
            }
            let transaction = try #require(ended.withLock { $0 })
            await expectPostgresError(.transactionEnded) { try await transaction.query("SELECT 1") }
            try await expectUsable(client)
        }
    }

    @Test func aStreamRunsAnewForEachLoopAndSeveralAtOnce() async throws {
        try await withClient(maximumConnections: 2) { client in
            let rows = try client.stream("SELECT i FROM generate_series(1, 1000) AS i")
            for try await _ in rows { break }
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await rows.reduce(0) { count, _ in count + 1 } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == [1_000, 1_000, 1_000, 1_000])
        }
    }

    @Test func observersMayUseTheClient() async throws {
        try await withClient { client in
            let seen = Atomic(0)
            let tasks = Mutex<[Task<Void, any Error>]>([])
            let observation = client.addObserver { event in
                guard event.sql == "SELECT 1", seen.add(1, ordering: .relaxed).newValue < 3 else { return }
                _ = client.metrics
                let again = client.addObserver { _ in }
                again.cancel()
                tasks.withLock { $0.append(Task { _ = try await client.query("SELECT 1") }) }
            }
            try await client.query("SELECT 1")
            try await eventually("it came round") { seen.load(ordering: .relaxed) >= 3 }
            observation.cancel()
            for task in tasks.withLock({ $0 }) { try await task.value }
        }
    }

    @Test func settingsAndLocksOfASessionAreNotLeftToOthers() async throws {
        try await withClient(maximumConnections: 1) { client in
            for text in ["SELECT pg_advisory_lock(7)", "SELECT pg_try_advisory_lock_shared(8)"] {
                try await client.query(SQL(unsafeRaw: text))
                try await client.withConnection { try await $0.query(SQL(unsafeRaw: text)) }
            }
            let locks = try await client.query(
                """
                SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
                WHERE datname = current_database() AND locktype = 'advisory'
                """)
            #expect(try locks[0][0] == 0 && client.metrics.opened == 1)
            // The locks of a transaction end by themselves, and cost nothing.
            let (_, recorder) = try await recordingStatements {
                try await client.query("SELECT pg_advisory_xact_lock(7)")
            }
            #expect(recorder.all.count == 1)
        }
    }

    @Test func connectionsCanBeReplaced() async throws {
        try await withClient(maximumConnections: 2) { client in
            let old = try await client.query("SELECT pg_backend_pid()")[0][0]
            try await client.withConnection { connection in
                let own = try await connection.query("SELECT pg_backend_pid()")
                client.renewConnections()
                // A task that has a connection keeps it.
                let still = try await connection.query("SELECT pg_backend_pid()")
                #expect(try own[0][0] == still[0][0])
            }
            let new = try await client.query("SELECT pg_backend_pid()")[0][0]
            #expect(new != old && client.metrics.lost == 0 && client.metrics.closed >= 1)
            client.renewConnections()
            try await eventually("nobody is idle") { client.metrics.idle == 0 }
            try await expectUsable(client)
        }
    }
}
