import Foundation
import Kindred
import KindredTesting
import Testing

/// Raw SQL whose rows become values of the program's own types, or objects.
@Suite struct QueryDecodingTests {
    private enum Mood: String, Decodable { case happy, sad }

    private struct Details: Decodable, Equatable { let a: [Int] }

    private struct Summary: Decodable {
        let customerId: Int
        let customerURL: String
        let total: PostgresNumeric
        let mean: Double?
        let lastSeen: Date?
        let tags: [String]
        let mood: Mood
        let details: Details
        let token: UUID?
        let missing: String?
    }

    @Test(.database) func rowsBecomeValues() async throws {
        try await withDatabase { (database, context, other) async throws in
            let id = 7
            let rows = try await context.query(
                """
                SELECT \(id)::integer AS customer_id, 'x' AS customer_url, 12.50 AS total, NULL::float8 AS mean,
                    '2024-01-01Z'::timestamptz AS last_seen, ARRAY['a', 'b'] AS tags, 'sad' AS mood, '{"a": [1, 2]}'::jsonb AS details,
                    NULL::uuid AS token
                """, as: Summary.self)
            let row = try #require(rows.first)
            #expect(
                rows.count == 1 && row.customerId == 7 && row.customerURL == "x" && row.total == 12.5 && row.mean == nil
            )
            #expect(
                row.lastSeen == Date(timeIntervalSince1970: 1_704_067_200) && row.tags == ["a", "b"] && row.mood == .sad
            )
            #expect(row.details == Details(a: [1, 2]) && row.token == nil && row.missing == nil)
            #expect(try await context.query("SELECT generate_series(1, 3)", as: Int.self) == [1, 2, 3])
            #expect(try await context.query("SELECT 'sad'", as: Mood.self) == [.sad])
        }
    }

    private struct Pair: Decodable { let first: Int, second: String }

    @Test(.database) func rowsThatDoNotFitSayWhichColumn() async throws {
        try await withDatabase { (database, context, other) async throws in
            func expect(_ sql: SQL, _ part: String) async {
                do {
                    _ = try await context.query(sql, as: Pair.self)
                    Issue.record("no error for \(sql)")
                } catch let error as PostgresError {
                    #expect(error.code == .decodingFailed && error.message.contains(part), "\(error)")
                } catch { Issue.record(error) }
            }
            await expect("SELECT 1 AS first", "no column for the property \"second\"")
            await expect("SELECT 1 AS first, NULL::text AS second", "\"second\" is NULL")
            await expect("SELECT 'a' AS first, 'b' AS second", "Column \"first\"")
            await #expect(throws: PostgresError.self) { try await context.query("SELECT 1, 2", as: Int.self) }
            await #expect(throws: PostgresError.self) { try await context.query("SELECT 'angry'", as: Mood.self) }
        }
    }

    @Test(.database(.sql(librarySchema))) func rawSQLGivesObjects() async throws {
        try await withDatabase { (database, context, other) async throws in
            let known = try #require(try await context.find("book", 9))
            let (books, recorder) = try await recordingStatements {
                try await context.query(
                    "SELECT 1 AS more, b.* FROM book b WHERE id < \(12) ORDER BY price DESC NULLS LAST, id -- the best",
                    as: "book")
            }
            #expect(recorder.statements.count == 1)
            #expect(
                books.first === known
                    && books.map { $0["id"] } == [9, 8, 6, 5, 4, 3, 2, 1, 11, 10, 7].map { .integer($0) })
            // Objects that were read together stay together.
            let (_, walk) = try await recordingStatements {
                for book in books { _ = try await book.value(forKey: "author") }
            }
            #expect(walk.statements.count == 1)
            let changed = try await context.query(
                "UPDATE book SET title = 'New' WHERE id = \(9) RETURNING *", as: "book")
            #expect(changed.first === known && known["title"] == "New")
            let error = await expectError(.invalidRequest) {
                _ = try await context.query("SELECT id FROM book", as: "book")
            }
            #expect(error?.message.contains("as b.* gives them") == true)
            await expectError(.unknownEntity) { _ = try await context.query("SELECT 1", as: "buch") }
        }
    }
}
