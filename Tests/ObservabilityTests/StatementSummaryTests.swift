import Synchronization
import Testing

@testable import KindredObservability

@Suite struct StatementSummaryTests {
    @Test func eachTextIsSummarisedOnceAsLongAsItIsInUse() {
        let calls = Counts()
        let summaries = StatementSummaries { sql in
            calls.made.withLock { $0[sql, default: 0] += 1 }
            return StatementSummary(sql)
        }
        for number in 0..<5_000 {
            #expect(summaries.summary(of: "SELECT * FROM used").text == "SELECT used")
            #expect(summaries.summary(of: "SELECT * FROM t\(number)").text == "SELECT t\(number)")
        }
        let counts = calls.made.withLock { $0 }
        #expect(counts["SELECT * FROM used"] == 1 && counts.count == 5_001 && counts.values.allSatisfy { $0 == 1 })
        #expect(summaries.count <= StatementSummaries.capacity)
        // A summary that takes much memory is made each time.
        let long = "SELECT '" + String(repeating: "x", count: 20_000) + "' FROM long"
        for _ in 0..<2 { #expect(summaries.summary(of: long).text == "SELECT long") }
        #expect(calls.made.withLock { $0[long] } == 2)
    }

    private final class Counts: Sendable {
        let made = Mutex<[String: Int]>([:])
    }

    @Test(arguments: [
        (#"SELECT t0."id" FROM "public"."book" AS t0 WHERE t0."title" = $1"#, "SELECT", "SELECT public.book"),
        (#"UPDATE "public"."book" AS t0 SET "pages" = $1"#, "UPDATE", "UPDATE public.book"),
        (#"INSERT INTO book (a) VALUES ('FROM secret') ON CONFLICT (a) DO UPDATE SET a = 1"#, "INSERT", "INSERT book"),
        ("DELETE FROM ONLY book USING author", "DELETE", "DELETE book"),
        ("select * from a join b on a.id = b.id for update of a", "SELECT", "SELECT a b"),
        ("SELECT extract(year FROM born) FROM person", "SELECT", "SELECT person"),
        ("SELECT 1 WHERE 1 IS DISTINCT FROM secret", "SELECT", "SELECT"),
        ("SELECT x FROM unnest($1) AS x", "SELECT", "SELECT"),
        ("WITH a AS (SELECT id FROM b) DELETE FROM c", "WITH", "WITH SELECT b DELETE c"),
        (
            "/* from me */ -- from you\nSELECT $$ FROM secret $$, $a$ FROM $$ secret $a$, 'it''s FROM secret'",
            "SELECT", "SELECT"
        ),
        (
            #"SELECT E'it\'s FROM secret', $a1$ FROM secret $a1$ /* a /* b */ FROM secret */ FROM a"#, "SELECT",
            "SELECT a"
        ),
        (#"SELECT 1 FROM "a ""quoted"" one""#, "SELECT", #"SELECT a "quoted" one"#),
        ("SELECT EXISTS (SELECT 1 FROM a WHERE (SELECT count(*) FROM b) > 1)", "SELECT", "SELECT SELECT a SELECT b"),
        ("BEGIN", "BEGIN", "BEGIN"), ("", "", ""), ("'", "", ""), ("SELECT \"", "SELECT", "SELECT"),
    ])
    func operationsAndTables(_ sql: String, _ operation: String, _ text: String) {
        let summary = StatementSummary(sql)
        #expect(summary.operation == operation)
        #expect(summary.text == text)
    }

    @Test func aLongOneIsCut() {
        let tables = (0..<100).map { "JOIN table\($0) ON true" }.joined(separator: " ")
        #expect(StatementSummary("SELECT 1 FROM a \(tables)").text.utf8.count == 255)
    }
}
