import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Each way to write that triggers may see differently.
@Suite(.database(.sql(FaultWorld.schema)), .timeLimit(.minutes(10))) struct WriterFaultTests {
    private typealias Gap = Followers.Gap

    @Test("ON CONFLICT with 0 rows") func conflict() async throws {
        try await withFollowers { followers, other in
            let before = try await other.outboxCount()
            for statement in [
                "INSERT INTO item VALUES (1, 9, 1) ON CONFLICT DO NOTHING",
                "INSERT INTO item VALUES (1, 9, 1) ON CONFLICT (id) DO UPDATE SET value = 9 WHERE false",
                "INSERT INTO item VALUES (1, 9, 1) ON CONFLICT (id) DO UPDATE SET value = item.value",
                "INSERT INTO item SELECT 200, 1, 1 WHERE false", "UPDATE item SET value = 9 WHERE id = 200",
                "UPDATE item SET value = value", "DELETE FROM item WHERE id = 200",
            ] {
                try await other.query("\(unsafeRaw: statement)")
            }
            #expect(try await other.outboxCount() == before)
            try await followers.expectAgreement()
            try await other.query(
                "INSERT INTO item VALUES (1, 9, 1), (100, 8, 1) ON CONFLICT (id) DO UPDATE SET value = excluded.value")
            #expect(try await other.outboxCount() > before)
            try await followers.expectAgreement()
        }
    }

    @Test("MERGE") func merge() async throws {
        try await withFollowers { followers, other in
            // PostgreSQL 15 brought it.
            guard try await other.value("SELECT current_setting('server_version_num')::int4 >= 150000") == true else {
                return
            }
            try await other.query("DELETE FROM leaf WHERE id = 4")
            try await other.query(
                """
                MERGE INTO item AS i USING generate_series(1, 8) AS s ON i.id = s
                WHEN MATCHED AND s < 3 THEN DELETE
                WHEN MATCHED AND s = 3 THEN DO NOTHING
                WHEN MATCHED AND s = 4 THEN UPDATE SET id = 40, value = 44
                WHEN MATCHED THEN UPDATE SET value = -i.value
                WHEN NOT MATCHED THEN INSERT VALUES (s, s, 1 + s % 2)
                """)
            try await followers.expectAgreement()
            // The key of a row that the same statement deletes.
            try await other.query(
                """
                MERGE INTO item AS i USING (VALUES (5, 0), (0, 5)) AS s (old, new) ON i.id = s.old
                WHEN MATCHED THEN DELETE
                WHEN NOT MATCHED THEN INSERT VALUES (s.new, 55, 2)
                """)
            let before = try await other.outboxCount()
            try await other.query(
                "MERGE INTO item AS i USING generate_series(1, 8) AS s ON i.id = -s WHEN MATCHED THEN DELETE")
            #expect(try await other.outboxCount() == before)
            try await followers.expectAgreement()
        }
    }

    @Test("Data-modifying WITH") func with() async throws {
        try await withFollowers { followers, other in
            try await other.query(
                """
                WITH gone AS (DELETE FROM item WHERE id = 1 RETURNING *),
                    moved AS (INSERT INTO item SELECT id + 100, value, parent_id FROM gone RETURNING id),
                    parts AS (INSERT INTO leaf SELECT id, NULL FROM moved)
                UPDATE item SET value = 20 WHERE id = 2
                """)
            try await followers.expectAgreement()
            // Rows that take the place of other rows in the same statement. The record of a WITH comes last if the
            // statement does not read all of it.
            for number in ["5", "1"] {
                try await other.query(
                    """
                    WITH gone AS (DELETE FROM leaf WHERE id IN (3, 4, 5) RETURNING *)
                    INSERT INTO leaf SELECT id, 6 FROM gone LIMIT \(unsafeRaw: number)
                    """)
                try await followers.expectAgreement()
            }
            try await other.query(
                """
                WITH gone AS (DELETE FROM item WHERE id IN (3, 4) RETURNING *)
                INSERT INTO item SELECT id, 30, parent_id FROM gone LIMIT 1
                """)
            try await other.query(
                """
                WITH moved AS (UPDATE item SET id = id + 200 WHERE id IN (5, 101) RETURNING id - 200 AS old)
                INSERT INTO item SELECT old, 60, 1 FROM moved LIMIT 1
                """)
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("COPY") func copy() async throws {
        try await withFollowers { followers, other in
            let pieces = AsyncStream<[UInt8]> { continuation in
                for id in 100..<200 { continuation.yield(Array("\(id)\t\(id % 7)\t1\n".utf8)) }
                continuation.finish()
            }
            _ = try await other.copyIn("COPY item (id, value, parent_id) FROM STDIN", from: pieces)
            try await followers.expectAgreement()
            // A COPY that fails at its last row.
            let broken = AsyncStream<[UInt8]> { continuation in
                for id in [300, 301, 100] { continuation.yield(Array("\(id)\t1\t1\n".utf8)) }
                continuation.finish()
            }
            await #expect(throws: PostgresError.self) {
                _ = try await other.copyIn("COPY item (id, value, parent_id) FROM STDIN", from: broken)
            }
            try await followers.expectAgreement()
        }
    }

    @Test("Cascades of three levels") func cascades() async throws {
        try await withFollowers { followers, other in
            try await other.query("DELETE FROM parent WHERE id = 2")
            try await followers.expectAgreement()
            #expect(try await other.value("SELECT count(*) FROM leaf") == .integer(3))
            // Undone and done again, with rows that come meanwhile.
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await other.query("INSERT INTO leaf VALUES (100, 100), (101, 2)")
                try await other.undone { try await other.query("DELETE FROM parent WHERE id = 1") }
                try await other.query("DELETE FROM item WHERE id IN (2, 100)")
            }
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("10^6-row statement (a tenth of that without long tests)") func manyRows() async throws {
        let count: Int32 = LongTests.areOn ? 1_000_000 : 100_000
        try await withFollowers { followers, other in
            let before = try await other.outboxCount()
            // Not in the live list, and of no set: that is not what this is about.
            try await other.query("INSERT INTO item SELECT i, -1 FROM generate_series(1001, 1000 + \(count)) AS i")
            #expect(try await other.outboxCount() == before + 1)
            try await followers.expectAgreement(after: Gap(.bulk, "item"))
            try await other.withTransaction { _ in
                try await other.query("UPDATE leaf SET item_id = 2 WHERE id = 1")
                try await other.query("DELETE FROM item WHERE id > 1000")
                try await other.query("UPDATE item SET value = 70 WHERE id = 1")
            }
            try await followers.expectAgreement(after: Gap(.bulk, "item"))
            try await other.query("UPDATE item SET value = 71 WHERE id = 1")
            try await followers.expectAgreement()
        }
    }
}
