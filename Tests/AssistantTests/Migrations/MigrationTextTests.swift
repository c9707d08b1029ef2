import Foundation
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

    /// The bytes that are looked at are a number for each piece: they grow with the text, whatever stands in it.
    @Test(arguments: [
        "INSERT INTO product VALUES (1, 'It''s number one', 12.5, NULL);\n",
        ", (1, 'It''s number one', E'\\'', 12.5, NULL)", ", ('one\ntwo\n')", "'open ", "''''\n'' ", "' ' ", "E'",
        "\"name\" ", "$$ a ; b $c$ $$ ", "$body$ never ends here ", "$a $a ", "/* /* */ */ ", "/* ", "-- comment\n",
        "-- comment\r", "(((", ")))", "\n\n", "name", "1.", "CASE ", "BEGIN ATOMIC ", ";", "é$é",
        "CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE a WHEN b THEN 1 END; ",
    ]) func theWorkGrowsWithTheText(_ piece: String) {
        let texts = [1, 2, 4].map { String(repeating: piece, count: 200 * $0) }
        // As a part of one statement too.
        for start in ["", "INSERT INTO t VALUES ", "CREATE FUNCTION f() BEGIN ATOMIC "] {
            let works = texts.map { SQLScanner.split(start + $0).work }
            #expect(works[2] - works[1] <= 2 * (works[1] - works[0]) + 8 * piece.utf8.count, "\(works)")
            #expect(works[2] <= 4 * (start + texts[2]).utf8.count, "\(works)")
        }
    }

    @Test(arguments: [
        ("-- kindred: no transaction", false),
        ("SELECT 1;\r\n \t--  kindred:   no transaction \r\nSELECT 2", false),
        ("-- kindred: no transaction at all", true), ("- kindred: no transaction", true), ("", true),
        ("-- kindred: no\n-- transaction", true), ("-- +goose NO TRANSACTION", false),
        ("-- migrate:up transaction:false", false), ("-- +migrate Up notransaction", false), ("-- +migrate Up", true),
    ]) func marksSayHowAFileRuns(_ text: String, _ isTransaction: Bool) {
        #expect(MigrationText(Data(text.utf8)).isTransaction == isTransaction)
    }

    @Test(arguments: [
        ("a\r\nb\n\r\r\n\rc\r", "a\nb\n\r\n\rc\r"), ("", ""), ("\r\n", "\n"), ("\n", "\n"), ("é\r\nü", "é\nü"),
    ]) func lineEndsAreOneCharacter(_ text: String, _ expected: String) {
        #expect(MigrationText(Data(text.utf8)).bytes == Array(expected.utf8))
    }

    @Test(arguments: [
        ("a;\n-- +goose Down\nb;", "a;\n"), ("a;\n  -- migrate:down\nb;", "a;\n"), ("-- +migrate Down\nb", ""),
        ("a;\n-- migrate:downward\nb;", "a;\n-- migrate:downward\nb;"),
    ]) func whatUndoesAFileIsNoPartOfItsScript(_ text: String, _ expected: String) {
        let read = MigrationText(Data(text.utf8))
        #expect(read.script == expected && read.bytes == Array(text.utf8))
    }

    @Test func aFolderThatWasReadIsNotReadAgain() async throws {
        let (kept, folder) = try await MigrationFolder.with(["1_a.sql": "SELECT 1"]) { folder in
            (try folder.migrations.read(), folder)
        }
        #expect(try kept.files().map(\.name) == ["1_a.sql"])
        #expect(throws: MigrationError.self) { try folder.migrations.files() }
    }
}
