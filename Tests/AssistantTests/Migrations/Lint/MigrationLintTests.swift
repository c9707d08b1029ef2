import KindredMigrations
import Testing

@Suite struct MigrationLintTests {
    /// The findings of one file, as `line:rule`; without the note on timeouts, which has tests of its own.
    private func findings(_ text: String, before: [String] = [], keepsTimeouts: Bool = false) async throws -> [String] {
        var files = ["9_last.sql": text]
        for (place, text) in before.enumerated() { files["\(place)_before.sql"] = text }
        let lint = try await MigrationFolder.with(files) { try $0.migrations.lint() }
        return lint.findings.filter { $0.file == "9_last.sql" && (keepsTimeouts || $0.rule.id != "M501") }
            .map { "\($0.line):\($0.rule.id)" }
    }

    private static let own = "-- kindred: no transaction\n"

    // MARK: Indexes

    @Test(arguments: [
        ("CREATE INDEX ON t (a)", ["1:M101"]),
        ("create unique index if not exists \"I\" on only_t using btree (a)", ["1:M101"]),
        ("CREATE INDEX i ON ONLY t (a)", []), ("CREATE INDEX CONCURRENTLY i ON t (a)", ["1:M104"]),
        ("CREATE TABLE t (a int);\nCREATE INDEX ON public.t (a)", []),
        ("CREATE TABLE app.t (a int);\nCREATE INDEX ON other.t (a)", ["2:M101"]),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1 AS a;\nCREATE INDEX ON v (a)", []),
        ("DROP INDEX i", ["1:M102"]), ("DROP INDEX IF EXISTS i, j CASCADE", ["1:M102"]),
        ("DROP INDEX CONCURRENTLY i", ["1:M104"]),
        ("CREATE TABLE t (a int); CREATE INDEX i ON t (a); DROP INDEX i", []),
        ("REINDEX TABLE t", ["1:M103"]), ("REINDEX (VERBOSE) INDEX i", ["1:M103"]),
        ("REINDEX TABLE CONCURRENTLY t", ["1:M104"]), ("REINDEX (CONCURRENTLY) TABLE t", ["1:M104"]),
        ("REINDEX (CONCURRENTLY false) TABLE t", ["1:M103"]), ("REINDEX DATABASE d", ["1:M104"]),
    ]) func indexesAreMadeConcurrently(_ text: String, _ expected: [String]) async throws {
        #expect(try await findings(text) == expected)
    }

    @Test(arguments: [
        "CREATE INDEX CONCURRENTLY ON t (a);\nDROP INDEX CONCURRENTLY i; REINDEX (CONCURRENTLY) TABLE t",
        "ALTER TABLE t DETACH PARTITION p CONCURRENTLY", "VACUUM t; CREATE DATABASE d",
    ]) func filesWithoutATransactionMayHoldMore(_ text: String) async throws {
        #expect(try await findings(Self.own + text) == [])
    }

    @Test(arguments: [
        ("VACUUM t", ["1:M104"]), ("VACUUM (FULL, ANALYZE) t", ["1:M104", "1:M203"]),
        ("CREATE DATABASE d", ["1:M104"]), ("CREATE TABLESPACE s LOCATION '/x'", ["1:M104"]),
        ("ALTER SYSTEM SET work_mem = '1MB'", ["1:M104"]),
        ("ALTER TABLE t\n  DETACH PARTITION p CONCURRENTLY", ["2:M104"]), ("COMMIT", ["1:M001"]),
    ]) func statementsThatAFileCannotHoldAreErrors(_ text: String, _ expected: [String]) async throws {
        #expect(try await findings(text) == expected)
    }

    // MARK: Constraints

    @Test(arguments: [
        ("ADD FOREIGN KEY (a) REFERENCES o", ["1:M105"]),
        ("ADD CONSTRAINT f FOREIGN KEY (a, b) REFERENCES app.o (x, y) ON DELETE SET NULL", ["1:M105"]),
        ("ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES o NOT VALID", []),
        ("ADD CHECK (a > 0)", ["1:M106"]), ("ADD CONSTRAINT c CHECK (not valid)", ["1:M106"]),
        ("ADD CONSTRAINT c CHECK (a > 0) NO INHERIT NOT VALID", []),
        ("ADD UNIQUE (a)", ["1:M107"]), ("ADD CONSTRAINT k PRIMARY KEY (a)", ["1:M107"]),
        ("ADD CONSTRAINT k UNIQUE USING INDEX i", []), ("ADD PRIMARY KEY USING INDEX i DEFERRABLE", []),
        ("ADD EXCLUDE USING gist (a WITH &&)", ["1:M108"]),
        ("ADD CONSTRAINT a CHECK (a > 0) NOT VALID, ADD CONSTRAINT b UNIQUE (b),\nADD COLUMN c int", ["1:M107"]),
        ("VALIDATE CONSTRAINT c", []),
    ]) func constraintsAreValidatedLater(_ action: String, _ expected: [String]) async throws {
        #expect(try await findings("ALTER TABLE t \(action)") == expected)
        #expect(try await findings("ALTER TABLE IF EXISTS ONLY \"x y\".t \(action)") == expected)
        #expect(try await findings("CREATE TABLE t (a int);\nALTER TABLE t \(action)") == [])
    }

    @Test func aConstraintIsNotValidatedUnderItsOwnLock() async throws {
        let add = "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID"
        #expect(try await findings("\(add);\nALTER TABLE public.t VALIDATE CONSTRAINT c") == ["2:M110"])
        #expect(try await findings("\(add), VALIDATE CONSTRAINT c") == ["1:M110"])
        #expect(try await findings("\(Self.own)\(add);\nALTER TABLE t VALIDATE CONSTRAINT c") == [])
        #expect(try await findings("ALTER TABLE t VALIDATE CONSTRAINT c", before: [add]) == [])
    }

    @Test(arguments: [
        ("CHECK (a IS NOT NULL)", true), ("CHECK (((a) IS NOT NULL))", true), ("CHECK ((a IS NOT NULL))", true),
        ("CHECK (b > 0 AND (\"a\" IS NOT NULL))", true), ("CHECK (a IS NOT NULL OR b IS NULL)", false),
        ("CHECK (a IS NULL)", false), ("CHECK (b IS NOT NULL)", false), ("NOT NULL a", true),
    ]) func aValidatedCheckMakesNotNullQuick(_ condition: String, _ isQuick: Bool) async throws {
        let add = "ALTER TABLE app.t ADD CONSTRAINT c \(condition) NOT VALID"
        let validate = "ALTER TABLE app.t VALIDATE CONSTRAINT c"
        let set = "ALTER TABLE t\n ALTER COLUMN a SET NOT NULL"
        #expect(try await findings(set, before: [add, validate]) == (isQuick ? [] : ["2:M109"]))
        #expect(try await findings(set, before: [add]) == ["2:M109"])
        #expect(try await findings(set, before: [add, validate, "ALTER TABLE t DROP CONSTRAINT c"]) == ["2:M109"])
        #expect(try await findings(set, before: [add, validate, "DROP TABLE app.t"]) == ["2:M109"])
        #expect(try await findings("\(Self.own)\(add);\(validate);\n\(set)") == (isQuick ? [] : ["4:M109"]))
    }

    // MARK: Columns

    @Test(arguments: [
        ("a int", []), ("COLUMN IF NOT EXISTS a int DEFAULT 1 NOT NULL", []), ("a int NOT NULL", ["M301"]),
        ("a int DEFAULT NULL NOT NULL", ["M301"]), ("a timestamptz NOT NULL DEFAULT now()", []),
        ("a text DEFAULT lower('A') || current_user", []), ("a uuid DEFAULT gen_random_uuid() NOT NULL", ["M202"]),
        ("a int DEFAULT app.next()", ["M202"]), ("a numeric(10, 2) DEFAULT '1'::pg_catalog.numeric(10, 2)", []),
        ("a app.money DEFAULT '1'::app.money(3)", ["M202"]), ("a bigserial", ["M202"]),
        ("a int GENERATED ALWAYS AS IDENTITY", ["M202"]),
        ("a int GENERATED ALWAYS AS (b * 2) STORED NOT NULL", ["M202"]),
        ("a int GENERATED ALWAYS AS (b * 2) VIRTUAL", []), ("a int CHECK (a > 0)", ["M106"]),
        ("a int CONSTRAINT k UNIQUE", ["M107"]), ("a int PRIMARY KEY", ["M301", "M107"]), ("a int REFERENCES o", []),
        ("a int DEFAULT 1 REFERENCES app.o (b) ON DELETE CASCADE", ["M105"]), ("\"default\" int", []),
        ("a text[] DEFAULT ARRAY['x', 'y']::text[] NOT NULL", []),
    ]) func newColumnsNeitherFailNorRewrite(_ column: String, _ expected: [String]) async throws {
        #expect(try await findings("ALTER TABLE t ADD \(column)") == expected.map { "1:\($0)" })
        #expect(try await findings("CREATE TABLE t ();\nALTER TABLE t ADD \(column)") == [])
    }

    @Test(arguments: [
        ("ALTER a TYPE bigint", ["1:M201"]), ("ALTER COLUMN a SET DATA TYPE text USING a::text", ["1:M201"]),
        ("ALTER a SET NOT NULL", ["1:M109"]), ("ALTER a DROP NOT NULL", ["1:M405"]),
        ("ALTER a SET DEFAULT random()", []),
        ("ALTER a SET STATISTICS 9", []), ("ALTER a SET EXPRESSION AS (b)", ["1:M203"]), ("SET UNLOGGED", ["1:M203"]),
        ("SET ACCESS METHOD heap", ["1:M203"]), ("SET TABLESPACE s", ["1:M203"]), ("SET (fillfactor = 50)", []),
        ("DROP COLUMN a, DROP IF EXISTS b CASCADE", ["1:M401", "1:M401"]), ("DROP CONSTRAINT c", []),
        ("RENAME TO u", ["1:M403"]), ("RENAME a TO b", ["1:M403"]), ("RENAME COLUMN a TO b", ["1:M403"]),
        ("RENAME CONSTRAINT a TO b", []), ("SET SCHEMA s", ["1:M403"]), ("OWNER TO r", []), ("ENABLE TRIGGER ALL", []),
        ("ATTACH PARTITION p DEFAULT", ["1:M112"]), ("DETACH PARTITION p", ["1:M113"]),
        ("DETACH PARTITION p FINALIZE", []),
    ]) func changesOfTablesAreNamed(_ action: String, _ expected: [String]) async throws {
        #expect(try await findings("ALTER TABLE t \(action)") == expected)
        #expect(try await findings("CREATE TABLE t (a int);\nALTER TABLE t \(action)") == [])
    }

    @Test(arguments: [
        ("DROP TABLE a, app.b", ["1:M402", "1:M402"]), ("CREATE TABLE a (); DROP TABLE a", []),
        ("DROP SCHEMA s CASCADE", ["1:M402"]), ("DROP VIEW v; DROP FUNCTION f()", []),
        ("TRUNCATE TABLE ONLY a, b", ["1:M404", "1:M404"]), ("REFRESH MATERIALIZED VIEW v", ["1:M114"]),
        ("REFRESH MATERIALIZED VIEW CONCURRENTLY v", []), ("REFRESH MATERIALIZED VIEW v WITH NO DATA", []),
        ("CLUSTER t USING i", ["1:M203"]), ("ALTER TYPE m RENAME VALUE 'a' TO 'b'", ["1:M403"]),
        ("ALTER TYPE m ADD VALUE 'a'", []), ("ALTER VIEW v RENAME TO w", ["1:M403"]), ("ALTER INDEX i RENAME TO j", []),
        ("ALTER DOMAIN d ADD CHECK (value > 0)", ["1:M106"]), ("ALTER DOMAIN d ADD CHECK (value > 0) NOT VALID", []),
        ("ALTER DOMAIN d SET NOT NULL", ["1:M109"]), ("CREATE DOMAIN d AS int; ALTER DOMAIN d SET NOT NULL", []),
        ("CREATE TABLE a (); ALTER TABLE a RENAME TO b; DROP TABLE b", []),
        ("SELECT 1 AS x INTO n; ALTER TABLE n ADD UNIQUE (x)", []), ("COMMENT ON TABLE t IS 'DROP TABLE t'", []),
    ]) func otherStatementsAreNamed(_ text: String, _ expected: [String]) async throws {
        #expect(try await findings(text) == expected)
    }

    // MARK: Waiting

    @Test func rowsAreChangedWithoutALockOnTheTable() async throws {
        let alter = "ALTER TABLE t ADD COLUMN a int"
        for text in [
            "UPDATE t SET a = 1", "DELETE FROM u", "INSERT INTO n SELECT a FROM t",
            "WITH x AS (SELECT 1) SELECT * FROM x",
        ] {
            #expect(try await findings("\(alter);\n\(text)") == ["2:M111"], "\(text)")
            #expect(try await findings("\(Self.own)\(alter);\n\(text)") == [], "\(text)")
            #expect(try await findings("\(text);\nSELECT 1") == [], "\(text)")
        }
        for text in ["INSERT INTO t VALUES (1), (2)", "SELECT set_config('a.b', 'c', true)"] {
            #expect(try await findings("\(alter);\n\(text)") == [], "\(text)")
        }
        #expect(try await findings("CREATE TABLE n ();\n\(alter);\nUPDATE n SET a = 1") == [])
        // Once in a file.
        #expect(try await findings("\(alter);\nUPDATE t SET a = 1;\nUPDATE t SET a = 2") == ["2:M111"])
    }

    @Test(arguments: [
        ("SET lock_timeout = '5s'", false), ("SET LOCAL lock_timeout TO 5000", false), ("SET lock_timeout = 0", true),
        ("SET LOCK_TIMEOUT TO DEFAULT", true), ("SET statement_timeout = '5s'", true), ("RESET ALL", true),
        ("SELECT pg_catalog.set_config('lock_timeout', '5s', true)", false), ("SELECT 'lock_timeout'", true),
    ]) func aLockIsWaitedForWithALimit(_ setting: String, _ isFound: Bool) async throws {
        let text = "\(setting);\nALTER TABLE t ADD a int;\nALTER TABLE t ADD b int"
        // Once in a file.
        #expect(try await findings(text, keepsTimeouts: true) == (isFound ? ["2:M501"] : []))
        let isLocal = setting.contains("LOCAL")
        #expect(
            try await findings(Self.own + text, keepsTimeouts: true) == (isFound || isLocal ? ["3:M501"] : []))
        #expect(try await findings("CREATE TABLE t ();\n\(text)", keepsTimeouts: true) == [])
    }

    @Test func onlyOneTableIsLockedAtATime() async throws {
        let text =
            "ALTER TABLE a ADD x int;\nALTER TABLE a ADD y int;\nALTER TABLE b ADD x int;\nALTER TABLE c ADD x int"
        #expect(try await findings(text) == ["3:M502"])
        #expect(try await findings(Self.own + text) == [])
        #expect(try await findings("ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES b NOT VALID") == [])
    }

    // MARK: Texts

    @Test func namesAndLinesAreThoseOfTheFile() async throws {
        let text = """
            -- ALTER TABLE no DROP COLUMN no;
            /* DROP TABLE no; */
            ALTER TABLE "My ""Shop"" x".t -- DROP COLUMN no
                ADD COLUMN a text DEFAULT E'it\\'s, DROP', ADD b text DEFAULT $x$, DROP COLUMN no$x$,
                DROP COLUMN "a, b";
            """
        let lint = try await MigrationFolder.with(["1_a.sql": text]) { try $0.migrations.lint(ignoring: ["M501"]) }
        let finding = try #require(lint.findings.first)
        #expect(lint.findings.count == 1 && lint.ignoredCount == 1)
        #expect(finding.rule.id == "M401" && finding.line == 5 && finding.file == "1_a.sql")
        #expect(finding.entity == "My \"Shop\" x.t" && finding.object == "a, b")
        #expect(finding.ignoreKey == "M401:1_a.sql")
    }

    @Test func bodiesAreNotLookedAtAndThatIsSaid() async throws {
        let text = """
            DO $$ BEGIN DROP TABLE t; END $$;
            CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; END;

            CREATE PROCEDURE p() LANGUAGE sql AS 'DROP TABLE t'; CALL p();
            """
        let lint = try await MigrationFolder.with(["1_a.sql": text]) { try $0.migrations.lint() }
        #expect(lint.findings.isEmpty)
        #expect(lint.skipped.map(\.line) == [1, 2, 4, 4])
        #expect(lint.skipped.first?.reason == "The statements inside of a DO block are not looked at.")
    }

    @Test func aLineLeavesRulesOutOfItsFile() async throws {
        let files = [
            "1_a.sql": "-- kindred: ignore M401, m501 no program names it\nALTER TABLE t DROP COLUMN a",
            "2_b.sql": "  --kindred: ignore M999\nALTER TABLE t DROP COLUMN b",
        ]
        let lint = try await MigrationFolder.with(files) { try $0.migrations.lint(ignoring: ["M501:2_b.sql"]) }
        #expect(lint.findings.map(\.ignoreKey) == ["M401:2_b.sql"] && lint.ignoredCount == 3)
        #expect(
            lint.skipped.map { "\($0.file):\($0.line): \($0.reason)" } == [
                "2_b.sql:1: There is no rule \"M999\" to ignore."
            ])
    }

    @Test func rulesHaveNumbersNamesAndSentences() {
        let rules = MigrationRule.all
        #expect(Set(rules.map(\.id)).count == rules.count && Set(rules.map(\.name)).count == rules.count)
        for rule in rules {
            #expect(rule.id.hasPrefix("M") && rule.id.count == 4 && Int(rule.id.dropFirst()) != nil, "\(rule.id)")
            #expect(rule.name.allSatisfy { $0.isLowercase || $0 == "-" }, "\(rule.name)")
            #expect(rule.summary.hasSuffix("."), "\(rule.id)")
            #expect(MigrationRule.named(rule.id) == rule && MigrationRule.named(rule.name) == rule)
        }
        #expect(MigrationRule.Level.note < .warning && MigrationRule.Level.warning < .error)
    }
}
