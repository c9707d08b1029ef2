import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = "CREATE TABLE counter (id integer PRIMARY KEY, value integer NOT NULL DEFAULT 0);"

/// The reading statement, and how long records stay.
@Suite(.database(.sql(schema))) struct TrackingReadingTests {
    private func rotate(_ client: PostgresClient) async throws -> String? {
        try await client.query("SELECT kindred.tracking_rotate()").first?.decode(0, as: String.self)
    }

    /// Lets the outbox that is not in turn grow old.
    private func age(_ client: PostgresClient) async throws {
        try await client.query(
            """
            UPDATE kindred.tracking_state SET turned_at = turned_at - interval '2 hours',
                settled_at = settled_at - interval '2 hours'
            """)
    }

    @Test func aTransactionIsReadWholeWhenItEnds() async throws {
        try await withTracking("counter") { _, other, reader in
            try await other.withConnection { writer in
                _ = try await writer.query("BEGIN")
                _ = try await writer.query("INSERT INTO counter VALUES (1)")
                _ = try await writer.query("SAVEPOINT s")
                _ = try await writer.query("INSERT INTO counter VALUES (2)")
                _ = try await writer.query("ROLLBACK TO s")
                _ = try await writer.query("INSERT INTO counter VALUES (3)")
                for id in 10..<20 {
                    try await reader.client.query("INSERT INTO counter VALUES (\(Int32(id)))")
                    #expect(try await reader.read() == [ChangeRecord("I", "counter", ["\(id)"])])
                }
                _ = try await writer.query("COMMIT")
            }
            #expect(
                try await reader.read() == [ChangeRecord("I", "counter", ["1"]), ChangeRecord("I", "counter", ["3"])])
            #expect(try await reader.read() == [])
        }
    }

    @Test func eachFlushWaitsForTheDisk() async throws {
        try await withTracking("counter") { _, other, _ in
            for id in Int32(0)..<8 {
                let end = try await other.withConnection { writer in
                    _ = try await writer.query("SET synchronous_commit = off")
                    _ = try await writer.query("INSERT INTO counter VALUES (\(id))")
                    return try await writer.query("SELECT pg_current_wal_insert_lsn()::text")[0].decode(
                        0, as: String.self)
                }
                try await other.query("SELECT kindred.tracking_flush()")
                let isOnDisk = try await other.query(
                    "SELECT pg_current_wal_flush_lsn() >= \(try #require(end))::pg_lsn")
                #expect(try isOnDisk[0].decode(0, as: Bool.self) == true)
            }
        }
    }

    @Test func manyRecordsComeInPieces() async throws {
        try await withTracking("counter") { _, other, reader in
            for id in 1...10 { try await other.query("INSERT INTO counter VALUES (\(Int32(id)))") }
            var seen: [String] = []
            for _ in 0..<4 {
                let piece = try await reader.read(limit: 3)
                #expect(piece.count <= 3)
                seen += piece.flatMap { $0.keys ?? [] }
            }
            #expect(seen == (1...10).map(String.init))
        }
    }

    @Test func anOutboxIsEmptiedWhenItsRecordsAreOld() async throws {
        try await withTracking("counter") { _, other, reader in
            let old = reader.cursor
            try await other.query("INSERT INTO counter VALUES (1)")
            for expected in ["settled", "early"] { #expect(try await rotate(other) == expected) }
            try await age(other)
            #expect(try await rotate(other) == "turned")
            #expect(try await reader.read() == [ChangeRecord("I", "counter", ["1"])])
            #expect(try await rotate(other) == "settled")
            // Transactions of other databases may have ended since the last reading; its cursor has not seen them.
            #expect(try await reader.read() == [])
            try await age(other)
            // A dump is not waited for, and still sees its rows.
            try await other.withConnection { dump in
                _ = try await dump.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await dump.query("LOCK TABLE kindred.tracking_outbox_0 IN ACCESS SHARE MODE")
                let count: SQL = "SELECT count(*) FROM kindred.tracking_outbox_0"
                let before = try await dump.query(count)[0].decode(0, as: Int.self)
                // Over the other client: the task's statements over this one go to the dump's connection.
                #expect(try await rotate(reader.client) == "turned")
                #expect(try await dump.query(count)[0].decode(0, as: Int.self) == before)
                _ = try await dump.query("ROLLBACK")
            }
            #expect(try await reader.read() == [] && reader.refusal == nil)
            reader.cursor = old
            #expect(try await reader.read() == [] && reader.refusal == "expired")
        }
    }

    @Test func aWriterWithAnOldSnapshotWritesWhereReadersRead() async throws {
        try await withTracking("counter") { _, other, reader in
            try await other.withConnection { writer in
                _ = try await writer.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
                _ = try await writer.query("SELECT count(*) FROM counter")
                for _ in 0..<2 {
                    #expect(try await rotate(reader.client) == "settled")
                    // Transactions of other databases may have ended; the last cursor has not seen them.
                    #expect(try await reader.read() == [])
                    try await age(reader.client)
                    #expect(try await rotate(reader.client) == "turned")
                }
                _ = try await writer.query("INSERT INTO counter VALUES (1)")
                _ = try await writer.query("COMMIT")
            }
            #expect(try await reader.read() == [ChangeRecord("I", "counter", ["1"])])
        }
    }

    @Test func withoutReadersTheOutboxDoesNotGrow() async throws {
        try await withTracking("counter") { database, other, reader in
            try await other.query("SELECT setval('kindred.tracking_watch', 1)")
            #expect(try await database.tracking.status()?.isRecording == false)
            for id in 1...20 { try await other.query("INSERT INTO counter VALUES (\(Int32(id)))") }
            let count = try await other.value(
                "SELECT count(*) FROM kindred.tracking_outbox_0 WHERE relation = 'counter'::regclass AND op <> 'G'")
            #expect(count == .integer(1))
            let gap = ChangeRecord("G", "counter", reason: "unread")
            try await other.withConnection { writer in
                _ = try await writer.query("BEGIN")
                _ = try await writer.query("INSERT INTO counter VALUES (100)")
                try await reader.client.query("SELECT kindred.tracking_attend()")
                // Transactions of other databases that ran then and end now are gaps, too: a snapshot does not tell.
                let unread = try await reader.read().filter { $0 != gap }
                #expect(unread == [ChangeRecord("A", "counter", reason: "unread")])
                try await reader.client.query("INSERT INTO counter VALUES (101)")
                let recorded = try await reader.read().filter { $0 != gap }
                #expect(recorded == [ChangeRecord("I", "counter", ["101"])])
                // The writer looked while no reader was there.
                _ = try await writer.query("COMMIT")
            }
            #expect(try await reader.read() == [gap])
            try await eventually("the gap comes again and again") { try await reader.read() == [] }
        }
    }

    @Test func aConsumerIsWaitedForUpToItsLimit() async throws {
        try await withTracking("counter") { _, other, reader in
            let begun = try await other.query(
                "SELECT cursor::text FROM kindred.tracking_consumer_begin('index', '1 day')")
            let cursor = try begun.first?.decode(0, as: String.self) ?? ""
            try await other.query("INSERT INTO counter VALUES (1)")
            #expect(try await rotate(other) == "settled")
            try await age(other)
            #expect(try await rotate(other) == "turned")
            #expect(try await rotate(other) == "settled")
            try await age(other)
            #expect(try await rotate(other) == "held")
            _ = try await reader.read()
            let moved: SQL = """
                SELECT kindred.tracking_acknowledge('index', \(cursor)::text::pg_snapshot, \(reader.cursor)::text::pg_snapshot,
                    (SELECT epoch FROM kindred.tracking_state))
                """
            #expect(try await other.value(moved) == .bool(true))
            // Another worker of the same consumer is late.
            #expect(try await other.value(moved) == .bool(false))
            #expect(try await rotate(other) == "turned")
        }
    }

    @Test func numbersThatACrashGivesAgainAreReadAgain() async throws {
        try await RestartableServer.with(settings: ["fsync = on"]) { server in
            let client = try await PostgresClient.connect(server.configuration)
            try await client.runScript(schema)
            try await Tracking(client).install()
            try await Tracking(client).enable("counter")
            var reader = try await ChangeReader(client)
            try await client.query("INSERT INTO counter VALUES (1)")
            for _ in 0..<5 {
                await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { _ in
                        try await client.query("INSERT INTO counter VALUES (99)")
                        try await client.query("SELECT 1 / 0")
                    }
                }
            }
            #expect(try await reader.read() == [ChangeRecord("I", "counter", ["1"])])
            try await server.stop(.immediate)
            await client.close()
            try await server.start()
            try await lend(server.configuration) { client in
                for id in 2...9 { try await client.query("INSERT INTO counter VALUES (\(Int32(id)))") }
                var again = try await ChangeReader(client)
                again.cursor = reader.cursor
                #expect(try await again.read().flatMap { $0.keys ?? [] } == (2...9).map(String.init))
            }
        }
    }
}
