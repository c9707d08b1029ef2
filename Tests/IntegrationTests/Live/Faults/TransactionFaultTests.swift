import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Transactions that stay open, are undone, or consist of many.
@Suite(.database(.sql(FaultWorld.schema)), .timeLimit(.minutes(10))) struct TransactionFaultTests {
    @Test("Long transactions") func long() async throws {
        try await withFollowers { followers, other in
            try await withClient { client in
                try await client.withConnection { long in
                    try await long.query("BEGIN")
                    try await long.query("INSERT INTO item VALUES (100, 1, 1)")
                    try await long.query("UPDATE item SET value = 90 WHERE id = 1")
                    for id in Int32(200)..<220 {
                        try await other.query("INSERT INTO item VALUES (\(id), 2, 2)")
                        try await other.query("UPDATE item SET value = \(id) WHERE id = 2")
                        if id.isMultiple(of: 5) { try await followers.expectAgreement() }
                    }
                    // The later change counts for a row that another client has changed meanwhile.
                    try await long.query("UPDATE item SET value = 91 WHERE id = 2")
                    try await followers.expectAgreement()
                    try await long.query("COMMIT")
                }
            }
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("Aborted transactions") func aborted() async throws {
        try await withFollowers { followers, other in
            let before = try await other.outboxCount()
            try await withClient(maximumConnections: 1) { client in
                for ending in [
                    "ROLLBACK", "SELECT 1 / 0", "INSERT INTO item VALUES (1)", "DO $$ BEGIN RAISE 'no'; END $$",
                    "SELECT pg_terminate_backend(pg_backend_pid())",
                ] {
                    try? await client.withConnection { writer in
                        try await writer.query("BEGIN")
                        try await writer.query("INSERT INTO item VALUES (100, 1, 1)")
                        try await writer.query("UPDATE item SET value = 50 WHERE id < 4")
                        try await writer.query("DELETE FROM parent WHERE id = 2")
                        do {
                            try await writer.query("\(unsafeRaw: ending)")
                        } catch {
                            try await writer.query("ROLLBACK")
                        }
                    }
                }
            }
            // A transaction whose COMMIT is refused.
            try await other.runScript(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
                CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON leaf DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            await #expect(throws: PostgresError.self) { try await other.query("INSERT INTO leaf VALUES (100, 1)") }
            #expect(try await other.outboxCount() == before)
            try await followers.expectAgreement()
            // The same rows once more, and for good.
            try await other.query("INSERT INTO item VALUES (100, 1, 1)")
            try await followers.expectAgreement()
        }
    }

    @Test("1,000 subtransactions") func subtransactions() async throws {
        try await withFollowers { followers, other in
            try await withClient { client in
                try await client.withConnection { writer in
                    try await writer.query("BEGIN")
                    try await writer.query(
                        """
                        DO $$ BEGIN
                            FOR i IN 1..1000 LOOP
                                BEGIN
                                    INSERT INTO item VALUES (1000 + i, i, 1 + i % 2);
                                    UPDATE item SET value = i WHERE id = 1 + i % 6;
                                    IF i % 3 = 0 THEN DELETE FROM item WHERE id = 999 + i; END IF;
                                    IF i % 2 = 0 THEN RAISE 'back' USING ERRCODE = 'KX001'; END IF;
                                EXCEPTION WHEN SQLSTATE 'KX001' THEN
                                END;
                            END LOOP;
                        END $$
                        """)
                    try await other.query("UPDATE parent SET name = 'c' WHERE id = 1")
                    try await followers.expectAgreement()
                    try await writer.query("COMMIT")
                }
            }
            #expect(try await other.value("SELECT count(*) FROM item WHERE id > 1000") != .integer(0))
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }
}
