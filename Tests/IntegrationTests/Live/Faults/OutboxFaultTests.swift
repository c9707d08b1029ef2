import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Faults of the outbox: it cannot be written, cannot be emptied, and its times are wrong.
@Suite(.database(.sql(FaultWorld.schema)), .timeLimit(.minutes(10))) struct OutboxFaultTests {
    /// Expects that an error says why the outbox could not be written, and names the outbox.
    private func expectClear(_ error: PostgresError?, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(error?.sqlState?.rawValue == "53100", "\(String(describing: error))", sourceLocation: sourceLocation)
        #expect(
            error?.server?.context?.contains("kindred.tracking_outbox_") == true, "\(String(describing: error))",
            sourceLocation: sourceLocation)
    }

    @Test("Outbox unwritable: the writer's error is clear, and the owner can disable tracking at once")
    func unwritable() async throws {
        try await withFollowers { followers, other in
            let owner = "kindred_owner_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: owner)")
            try await other.query("ALTER TABLE item OWNER TO \(identifier: owner)")
            try await followers.expectAgreement(after: Followers.Gap(.schemaChanged, "item"))
            try await other.runScript(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'could not extend the file' USING ERRCODE = '53100'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON kindred.tracking_outbox_0 EXECUTE FUNCTION refuse();
                CREATE TRIGGER refuse BEFORE INSERT ON kindred.tracking_outbox_1 EXECUTE FUNCTION refuse();
                """)
            expectClear(await expectPostgresError(.server) { try await other.query("DELETE FROM item WHERE id = 1") })
            try await other.withTransaction { _ in
                try await other.query("SET LOCAL ROLE \(identifier: owner)")
                try await other.query("ALTER TABLE item DISABLE TRIGGER USER")
            }
            try await other.query("UPDATE item SET value = 50 WHERE id = 1")
            try await other.query("INSERT INTO item VALUES (100, 1, 1)")
            try await other.runScript(
                """
                DROP TRIGGER refuse ON kindred.tracking_outbox_0;
                DROP TRIGGER refuse ON kindred.tracking_outbox_1;
                """)
            try await followers.database.tracking.enable("item")
            try await followers.expectAgreement(after: Followers.Gap(.unrecorded, "item"))
            try await other.query("UPDATE item SET value = 9 WHERE id = 2")
            try await followers.expectAgreement()
            try await other.query("REASSIGN OWNED BY \(identifier: owner) TO CURRENT_USER")
            try await other.query("DROP ROLE \(identifier: owner)")
        }
    }

    @Test(
        "Outbox's disk full: the writer's error is clear, and the owner can disable tracking at once",
        .enabled("Only root can make a small disk") { await MountNamespace.isAllowed })
    func fullDisk() async throws {
        try await RestartableServer.with(hasSmallDisk: true) { server in
            try await server.withFollowers { followers, other in
                try await other.query("CREATE TABLESPACE small LOCATION '\(unsafeRaw: server.smallDisk)'")
                try await other.query("ALTER TABLE kindred.tracking_outbox_0 SET TABLESPACE small")
                try await other.query("CREATE TABLE filler (text text) TABLESPACE small")
                for count in [100, 1] {
                    // The file's extension for a failed statement stays.
                    await expectPostgresError(.server) {
                        while true {
                            try await other.query(
                                "INSERT INTO filler SELECT repeat('x', 1500) FROM generate_series(1, \(Int32(count)))")
                        }
                    }
                }
                let error = await expectPostgresError(.server) {
                    for id in Int32(100)..<10_000 { try await other.query("INSERT INTO item VALUES (\(id), 1, 1)") }
                }
                expectClear(error)
                try await other.query("ALTER TABLE item DISABLE TRIGGER USER")
                try await other.query("INSERT INTO item VALUES (50000, 1, 1)")
                try await other.query("UPDATE item SET value = 50 WHERE id = 1")
                try await other.query("DROP TABLE filler")
                try await followers.database.tracking.enable("item")
                // The DDL may have found a little room, and then that is the reason.
                let said = try await followers.expectAgreement(allowing: [.unrecorded, .schemaChanged])
                #expect(said.map(\.entities) == [["item"]])
                try await other.query("UPDATE item SET value = 9 WHERE id = 2")
                try await followers.expectAgreement()
            }
        }
    }

    @Test("pg_dump's lock during rotation") func dumpDuringRotation() async throws {
        try await withFollowers { followers, other in
            func rotate() async throws -> PostgresValue? { try await other.value("SELECT kindred.tracking_rotate()") }
            func turn() async throws -> PostgresValue? {
                try await other.value("SELECT turn FROM kindred.tracking_state")
            }
            for number in Int64(1)...2 {
                try await eventually("the outbox is not settled") {
                    _ = try await rotate()
                    return try await other.value("SELECT settled_at IS NOT NULL FROM kindred.tracking_state") == true
                }
                try await withClient { dump in
                    try await dump.withConnection { session in
                        try await session.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
                        try await session.query(
                            "LOCK TABLE kindred.tracking_outbox_0, kindred.tracking_outbox_1 IN ACCESS SHARE MODE")
                        try await other.query(
                            """
                            UPDATE kindred.tracking_state SET turned_at = turned_at - interval '2 hours',
                                settled_at = settled_at - interval '2 hours'
                            """)
                        #expect(try await rotate() == .string("turned"))
                        try await other.query("UPDATE item SET value = \(Int32(number) * 10) WHERE id = 1")
                        try await other.query("INSERT INTO item VALUES (\(Int32(number) + 100), 1, 1)")
                        // Neither writers nor readers wait for it.
                        try await followers.expectAgreement()
                        try await session.query("COMMIT")
                    }
                }
                #expect(try await turn() == .integer(number))
                try await other.query("DELETE FROM item WHERE id = \(Int32(number) + 100)")
                try await followers.expectAgreement()
            }
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("Clock jumps") func clockJumps() async throws {
        try await RestartableServer.with { server in
            try await server.withFollowers { followers, other in
                // Back by a day: all that was written is of the future.
                try await other.query(
                    """
                    UPDATE kindred.tracking_state SET turned_at = turned_at + interval '1 day',
                        settled_at = settled_at + interval '1 day'
                    """)
                try await other.query(
                    """
                    SELECT setval('kindred.tracking_watch', extract(epoch FROM now() + interval '1 day')::bigint),
                        setval('kindred.tracking_sleeper', extract(epoch FROM now() + interval '1 day')::bigint * 1000)
                    """)
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await followers.expectAgreement()
                try await other.query("SELECT kindred.tracking_attend(), kindred.tracking_rotate()")
                try await other.query("UPDATE item SET value = 5 WHERE id = 1")
                try await followers.expectAgreement()
                #expect(followers.database.tracking.metrics.gaps.isEmpty)
                // On by more than the retention: for writers there is no reader, until the reader's next sign of life.
                try await other.query(
                    "SELECT setval('kindred.tracking_watch', 1), setval('kindred.tracking_sleeper', 1)")
                try await other.query("DELETE FROM item WHERE id = 100")
                try await other.query("SELECT kindred.tracking_attend()")
                let said = try await followers.expectAgreement(allowing: [.unrecorded])
                #expect(said.first?.entities.contains("item") == true)
                try await other.query("UPDATE item SET value = 6 WHERE id = 1")
                // Again at most for transactions that ran at the jump.
                try await followers.expectAgreement(allowing: [.unrecorded])
            }
        }
    }
}
