import KindredPostgres
import TestSupport
import Testing

@testable import KindredMigrations

@Suite struct MigrationTextTests {
    @Test(arguments: [
        ("", []), (" ;; \n; -- a\n", []), ("SELECT 1", ["1:SELECT 1"]),
        ("a;\n\nb ;c", ["1:a", "3:b", "3:c"]),
        (
            "/* ; */ a /* ; */; -- b;\n'c;' \"d;\" $$;$$ $x$;$$;$x$ E'\\';' ;e",
            ["1:a /* ; */", "2:'c;' \"d;\" $$;$$ $x$;$$;$x$ E'\\';'", "2:e"]
        ),
        ("CREATE RULE r DO (a; b); c", ["1:CREATE RULE r DO (a; b)", "1:c"]),
        (
            "create or replace function f() begin atomic select case when a then b end; c; end; d",
            ["1:create or replace function f() begin atomic select case when a then b end; c; end", "1:d"]
        ),
        ("CREATE TABLE begin (a); b", ["1:CREATE TABLE begin (a)", "1:b"]),
        (
            "CREATE FUNCTION days(begin date, finish date) RETURNS integer LANGUAGE sql AS 'SELECT $2 - $1'; b",
            ["1:CREATE FUNCTION days(begin date, finish date) RETURNS integer LANGUAGE sql AS 'SELECT $2 - $1'", "1:b"]
        ),
        (
            "CREATE FUNCTION f() RETURNS TABLE (begin date) AS 'SELECT 1'; b",
            ["1:CREATE FUNCTION f() RETURNS TABLE (begin date) AS 'SELECT 1'", "1:b"]
        ),
        ("CREATE FUNCTION begin() RETURNS begin AS ''; b", ["1:CREATE FUNCTION begin() RETURNS begin AS ''", "1:b"]),
        ("CREATE TABLE function (begin date); b", ["1:CREATE TABLE function (begin date)", "1:b"]),
        (
            "CREATE PROCEDURE p() BEGIN /* a */ ATOMIC SELECT (CASE a WHEN b THEN c END); SELECT x AS end, t.end FROM t; END; b",
            [
                "1:CREATE PROCEDURE p() BEGIN /* a */ ATOMIC SELECT (CASE a WHEN b THEN c END); SELECT x AS end, t.end FROM t; "
                    + "END", "1:b",
            ]
        ),
        (
            "CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE a WHEN 1. THEN 0.5 ELSE .5 END; SELECT CASE a WHEN b THEN 1. END; END; b",
            [
                "1:CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE a WHEN 1. THEN 0.5 ELSE .5 END; "
                    + "SELECT CASE a WHEN b THEN 1. END; END", "1:b",
            ]
        ),
        ("SELECT E'it''s \\'; 1', E'a'\n  'b\\'; c'; b", ["1:SELECT E'it''s \\'; 1', E'a'\n  'b\\'; c'", "2:b"]),
        ("\u{FEFF}SELECT 1; b", ["1:SELECT 1", "1:b"]), ("'never ended; a", ["1:'never ended; a"]),
    ]) func scriptsAreSplitAsByTheServersScanner(_ script: String, _ expected: [String]) {
        #expect(SQLScanner.statements(in: script).map { "\($0.line):\($0.text)" } == expected)
    }

    @Test func anyTextIsSplitWithoutEnding() {
        var random = SeededGenerator(seed: 3)
        let pieces = [
            "'", "\"", "$$", "$a$", "--", "/*", "*/", "\n", ";", "(", ")", "E'", "\\", "begin", "end",
            "create function", "é", " ", "$1",
        ]
        for _ in 0..<2000 {
            let script = (0..<Int.random(in: 0...30, using: &random)).map { _ in random.pick(pieces) }.joined()
            let statements = SQLScanner.statements(in: script)
            // Nothing is lost but semicolons, blanks and comments.
            #expect(statements.allSatisfy { script.contains($0.text) && !$0.text.isEmpty })
        }
    }
}
