import Testing

@testable import KindredPostgres

/// Which texts show that they need a session of their own.
@Suite struct SessionNeedTests {
    @Test(arguments: [
        ("SET search_path = a", "SET"), ("/* a */ set session statement_timeout to 5", "SET"), ("RESET ALL", "RESET"),
        ("SET ROLE a", "SET"), ("DISCARD ALL", "DISCARD"), ("LOAD 'auto_explain'", "LOAD"), ("listen a", "LISTEN"),
        ("UNLISTEN *", "UNLISTEN"), ("PREPARE a AS SELECT 1", "PREPARE"), ("execute a(1)", "EXECUTE"),
        ("DEALLOCATE a", "DEALLOCATE"), ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", "WITH HOLD"),
        ("CREATE TEMP TABLE a (b int)", "A temporary object"),
        ("create local temporary view a as select 1", "A temporary object"),
        ("CREATE OR REPLACE TEMP VIEW a AS SELECT 1", "A temporary object"),
        ("SELECT 1 AS a INTO TEMP b", "A temporary object"),
        ("SELECT set_config('a.b', $1, false)", "set_config(…, false)"),
        ("SELECT pg_catalog.set_config('a.b', 'true', false), 1", "set_config(…, false)"),
        ("SELECT pg_advisory_lock(1)", "pg_advisory_lock"),
        ("WITH a AS (SELECT pg_try_advisory_lock(1, 2)) TABLE a", "pg_try_advisory_lock"),
        ("SELECT pg_advisory_unlock_all()", "pg_advisory_unlock_all"),
    ])
    func isSaid(text: String, found: String) {
        #expect(StatementText(text, mayChangeSession: true).sessionNeed?.found == found)
    }

    @Test(arguments: [
        "SELECT 1", "", "  ", "--", "SET LOCAL a.b = 1", "SET TRANSACTION READ ONLY", "SET CONSTRAINTS ALL DEFERRED",
        "SELECT 'SET a = 1'", "SELECT 1 /* pg_advisory_lock(1) */", "PREPARE TRANSACTION 'a'", "NOTIFY a",
        "CREATE TEMP TABLE a (b int) ON COMMIT DROP", "CREATE TABLE temp (a int)", "INSERT INTO temp VALUES (1)",
        "SELECT set_config('a.b', $1, true)", "SELECT pg_advisory_xact_lock(1)", "SELECT set_config",
        "DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1", "SELECT \"execute\" FROM a", "UPDATE a SET b = 1",
        "SELECT $$RESET ALL$$",
    ])
    func isNotSaid(text: String) {
        #expect(StatementText(text, mayChangeSession: true).sessionNeed == nil)
    }

    @Test func noTextEndsTheProcess() {
        var random = SystemRandomNumberGenerator()
        let words = [
            "set", "set_config", "(", ")", ",", "false", "create", "temp", "'", "\"", "$$", "--", "\n", "/*", "into",
            "é", "select",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0..<9, using: &random)).compactMap { _ in words.randomElement(using: &random)
            }
            _ = StatementText(text.joined(separator: Bool.random() ? " " : "")).sessionNeed
        }
    }
}
