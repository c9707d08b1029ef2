import KindredPostgres
import KindredTesting
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL DEFAULT '')"))
struct RowStreamTests {
    @Test(arguments: [0, 1, 63, 64, 65, 5_000]) func everyRowComesOnceInOrder(count: Int) async throws {
        try await withClient(maximumConnections: 1) { client in
            var next = 1
            for try await row in try client.stream("SELECT i, 'x' || i AS text FROM generate_series(1, \(count)) AS i")
            {
                #expect(try row.decode(0, as: Int.self) == next)
                #expect(try row.decode("text", as: String.self) == "x\(next)")
                next += 1
            }
            #expect(next == count + 1)
            #expect(try await client.query("SELECT count(*) FROM pg_cursors WHERE name <> ''")[0][0] == 0)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func theStatementsAreCounted() async throws {
        try await withClient(maximumConnections: 1) { client in
            let (count, recorder) = try await recordingStatements {
                var count = 0
                for try await _ in try client.stream("SELECT 1 FROM generate_series(1, 100)") { count += 1 }
                return count
            }
            #expect(count == 100)
            #expect(
                recorder.all.map { $0.sql.split(separator: " ")[0] } == [
                    "BEGIN", "DECLARE", "FETCH", "FETCH", "COMMIT",
                ])
            #expect(recorder.all.compactMap(\.rows) == [0, 0, 64, 36, 0])
        }
    }

    @Test func portionsFollowTheSizeOfRows() async throws {
        try await withClient(maximumConnections: 1) { client in
            func portions(_ width: Int, _ count: Int) async throws -> [Int] {
                let sql: SQL = "SELECT repeat('x', \(width)::int) FROM generate_series(1, \(count)::int)"
                let (_, recorder) = try await recordingStatements {
                    for try await _ in try client.stream(sql) {}
                }
                return recorder.all.filter { $0.sql.hasPrefix("FETCH") }.compactMap(\.rows)
            }
            #expect(try await portions(1_000_000, 70) == [64] + Array(repeating: 1, count: 6) + [0])
            let narrow = try await portions(1, 100_000)
            #expect(narrow.prefix(4) == [64, 256, 1_024, 4_096])
            #expect(narrow.reduce(0, +) == 100_000 && narrow.allSatisfy { $0 <= 16_384 })
        }
    }

    @Test(arguments: [1, 64, 100]) func aLoopThatIsLeftGivesTheConnectionBackClean(after rows: Int) async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<5 {
                var seen = 0
                for try await _ in try client.stream("SELECT generate_series(1, 1000000)") {
                    seen += 1
                    if seen == rows { break }
                }
                #expect(try await client.query("SELECT count(*) FROM pg_cursors WHERE name <> ''")[0][0] == 0)
            }
            #expect(client.metrics.opened == 1)
            #expect(client.metrics.lost == 0)
        }
    }

    @Test func inATransactionTheLoopRunsOtherStatements() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { _ in
                for try await row in try client.stream("SELECT i FROM generate_series(1, 300) AS i") {
                    let id = try row.decode(0, as: Int.self) ?? 0
                    if id == 150 {
                        // A savepoint inside of the loop, undone, leaves the cursor where it is.
                        _ = try? await client.withTransaction { _ in
                            try await client.query("INSERT INTO note VALUES (-1)")
                            try await client.query("SELECT 1 / 0")
                        }
                    }
                    try await client.query("INSERT INTO note VALUES (\(id))")
                }
                for try await _ in try client.stream("SELECT * FROM generate_series(1, 100000)") { break }
                #expect(try await client.query("SELECT count(*) FROM pg_cursors WHERE name <> ''")[0][0] == 0)
            }
            #expect(try await client.query("SELECT count(*), min(id) FROM note")[0].decode(0, as: Int.self) == 300)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test(.timeLimit(.minutes(15))) func aSavepointReadsOnFromAStreamThatWasOpenedBefore() async throws {
        try await withClient(maximumConnections: 1) { client in
            let count = try await client.withTransaction { _ in
                let rows = try client.stream("SELECT generate_series(1, 1000)")
                var (iterator, count) = (rows.makeAsyncIterator(), 0)
                while count < 10, try await iterator.next() != nil { count += 1 }
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note (id) VALUES (1)")
                    while try await iterator.next() != nil { count += 1 }
                }
                return count
            }
            #expect(count == 1_000)
        }
    }

    @Test func aStreamFollowsACancellationThatIsStillUnderWay() async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<100 {
                _ = try? await client.query("SELECT 1", timeout: .nanoseconds(1))
                var count = 0
                for try await _ in try client.stream("SELECT 1") { count += 1 }
                #expect(count == 1)
            }
        }
    }

    @Test func aStreamEndsWithItsTransaction() async throws {
        try await withClient { client in
            var rows = try await client.withTransaction { _ in
                var rows = try client.stream("SELECT generate_series(1, 1000)").makeAsyncIterator()
                _ = try await rows.next()
                return rows
            }
            // The first portion is here already.
            for _ in 1..<64 { _ = try await rows.next() }
            await expectPostgresError(.transactionEnded) { _ = try await rows.next() }
            #expect(try await rows.next() == nil)
        }
    }

    @Test func onALentConnectionTheResultIsKeptAside() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                try await connection.query("CREATE TEMP TABLE own AS SELECT generate_series(1, 1000) AS i")
                var sum = 0
                for try await row in try client.stream("SELECT i FROM own") {
                    sum += try row.decode(0, as: Int.self) ?? 0
                    if sum == 1 { try await connection.query("DELETE FROM own") }
                }
                #expect(sum == 500_500)
                #expect(try await client.query("SELECT count(*) FROM pg_cursors WHERE name <> ''")[0][0] == 0)
            }
            #expect(try await client.query("SELECT count(*) FROM pg_cursors WHERE name <> ''")[0][0] == 0)
        }
    }

    @Test func writesOfFunctionsAreCommittedAfterTheLastRowOnly() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.runScript(
                """
                CREATE FUNCTION add(id bigint) RETURNS bigint LANGUAGE sql VOLATILE
                    AS 'INSERT INTO note VALUES (id) RETURNING id';
                """)
            for try await _ in try client.stream("SELECT add(i) FROM generate_series(1, 200) AS i") { break }
            #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 0)
            for try await _ in try client.stream("SELECT add(i) FROM generate_series(1, 200) AS i") {}
            #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 200)
        }
    }

    @Test func anErrorInTheMiddleComesAfterTheRowsBefore() async throws {
        try await withClient(maximumConnections: 1) { client in
            var rows = try client.stream("SELECT 1 / (100 - i) FROM generate_series(1, 200) AS i").makeAsyncIterator()
            for _ in 0..<64 { #expect(try await rows.next() != nil) }
            let error = await expectPostgresError(.server) { _ = try await rows.next() }
            #expect(error?.sqlState == .divisionByZero)
            #expect(try await rows.next() == nil)
            try await expectUsable(client)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aCancelledLoopStopsTheServer() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                let task = Task {
                    for try await _ in try client.stream("SELECT pg_sleep(600)") {}
                }
                try await eventually("the query runs") { try await runningCount(other, "FETCH") == 1 }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                try await expectUsable(client)
                #expect(client.metrics.opened == 1)
            }
        }
    }

    @Test func aPortionThatTakesTooLongIsATimeout() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.timeout) {
                for try await _ in try client.stream("SELECT pg_sleep(600)", timeout: .milliseconds(50)) {}
            }
            try await expectUsable(client)
        }
    }

    @Test(arguments: ["INSERT INTO note VALUES (1) RETURNING id", "SHOW search_path", "COMMIT", ""] as [SQL])
    func onlyQueriesCanBeStreamed(sql: SQL) async throws {
        try await withClient { client in
            let (_, recorder) = await recordingStatements {
                await expectPostgresError(.invalidParameter) { () async throws in _ = try client.stream(sql) }
            }
            #expect(recorder.all.isEmpty)
        }
    }

    @Test func parametersAreBoundAndTypesOfTheServersAreRead() async throws {
        try await withClient { client in
            try await client.runScript("CREATE TYPE mood AS ENUM ('sad', 'happy')")
            let text = "x'); DROP TABLE note; --"
            for try await row in try client.stream("SELECT \(text) AS text, 'sad'::mood AS mood, NULL AS nothing;") {
                #expect(try row["text"] == .string(text))
                #expect(try row["mood"]?.description == "sad")
                #expect(try row["nothing"] == nil)
            }
        }
    }
}
