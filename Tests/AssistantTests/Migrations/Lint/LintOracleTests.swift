import Foundation
import KindredMigrations
import KindredPostgres
import KindredTesting
import TestSupport
import Testing

/// The server says what a statement does to a table of rows; the rules say it before.
@Suite(.database) struct LintOracleTests {
    private struct RolledBack: Error {}

    private struct Effect: Equatable {
        var isRewritten = false
        /// Whether writers have to wait.
        var isLocked = false
        var sqlState: String?
    }

    private func makeTables(_ client: PostgresClient) async throws {
        for statement in [
            "CREATE TABLE o (id int PRIMARY KEY)", "INSERT INTO o VALUES (1)",
            "CREATE TABLE t (x int, v varchar(10), w int)", "CREATE INDEX tx ON t (x)",
            "INSERT INTO t SELECT n, 'a', 1 FROM generate_series(1, 10) AS n",
            "CREATE TABLE part (x int) PARTITION BY LIST (x)", "CREATE TABLE one PARTITION OF part FOR VALUES IN (1)",
            "CREATE TABLE two (x int)", "CREATE SEQUENCE numbers",
            "CREATE FUNCTION steady() RETURNS float LANGUAGE plpgsql STABLE AS 'BEGIN RETURN 1; END'",
            "CREATE FUNCTION changing() RETURNS float LANGUAGE plpgsql AS 'BEGIN RETURN random(); END'",
        ] { try await client.query(SQL(unsafeRaw: statement)) }
    }

    private func fileNode(_ client: PostgresClient) async throws -> Int64? {
        try await client.query("SELECT pg_catalog.pg_relation_filenode('t')::int8").first?.decode(0, as: Int64.self)
    }

    private func effect(of statement: String, _ client: PostgresClient) async throws -> Effect {
        var effect = Effect()
        do {
            try await client.withTransaction { _ in
                let before = try await fileNode(client)
                try await client.query(SQL(unsafeRaw: statement))
                effect.isRewritten = try await fileNode(client) != before
                effect.isLocked =
                    try await client.query(
                        """
                        SELECT FROM pg_catalog.pg_locks WHERE pid = pg_catalog.pg_backend_pid() AND granted
                        AND relation IN ('t'::regclass, 'o'::regclass, 'part'::regclass, 'one'::regclass, 'two'::regclass)
                        AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
                        """
                    ).isEmpty == false
                throw RolledBack()
            }
        } catch is RolledBack {
        } catch let error as PostgresError {
            effect.sqlState = error.sqlState?.rawValue
        }
        return effect
    }

    private func predicted(_ statement: String) async throws -> (effect: Effect, rules: Set<String>) {
        let lint = try await MigrationFolder.with(["1_a.sql": statement]) { try $0.migrations.lint() }
        let rules = Set(lint.findings.map(\.rule.id))
        var effect = Effect()
        effect.sqlState = rules.contains("M104") ? "25001" : rules.contains("M301") ? "23502" : nil
        if effect.sqlState == nil {
            effect.isRewritten = !rules.isDisjoint(with: ["M201", "M202", "M203"])
            effect.isLocked = rules.contains("M501")
        }
        return (effect, rules)
    }

    private static let statements = [
        "ALTER TABLE t ADD a int", "ALTER TABLE t ADD a int DEFAULT 1 NOT NULL", "ALTER TABLE t ADD a int NOT NULL",
        "ALTER TABLE t ADD a int PRIMARY KEY", "ALTER TABLE t ADD a timestamptz DEFAULT now()",
        "ALTER TABLE t ADD a timestamptz DEFAULT clock_timestamp()", "ALTER TABLE t ADD a float DEFAULT random()",
        "ALTER TABLE t ADD a float DEFAULT changing()", "ALTER TABLE t ADD a uuid NOT NULL DEFAULT gen_random_uuid()",
        "ALTER TABLE t ADD a int DEFAULT nextval('numbers')", "ALTER TABLE t ADD a serial",
        "ALTER TABLE t ADD a bigint GENERATED ALWAYS AS IDENTITY",
        "ALTER TABLE t ADD a int GENERATED ALWAYS AS (x + 1) STORED", "ALTER TABLE t ADD a int REFERENCES o",
        "ALTER TABLE t ADD a numeric(9, 2) DEFAULT '1'::numeric(9, 2)",
        "ALTER TABLE t ADD a jsonb DEFAULT jsonb_build_object()",
        "ALTER TABLE t ADD a text DEFAULT upper('a') || current_user", "ALTER TABLE t ADD a int DEFAULT NULL",
        "ALTER TABLE t ALTER x TYPE bigint", "ALTER TABLE t SET UNLOGGED", "ALTER TABLE t SET (fillfactor = 50)",
        "ALTER TABLE t ALTER x SET STATISTICS 5", "ALTER TABLE t ALTER x SET DEFAULT 5", "ALTER TABLE t RENAME x TO y",
        "ALTER TABLE t DROP COLUMN w",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (x > 0) NOT VALID", "ALTER TABLE t ADD UNIQUE (x)",
        "ALTER TABLE t ADD FOREIGN KEY (w) REFERENCES o NOT VALID", "ALTER TABLE t DISABLE TRIGGER USER",
        "ALTER TABLE t CLUSTER ON tx", "ALTER TABLE part DETACH PARTITION one",
        "ALTER TABLE part DETACH PARTITION one CONCURRENTLY", "ALTER TABLE part ATTACH PARTITION two FOR VALUES IN (2)",
        "CREATE INDEX ON t (w)", "CREATE INDEX CONCURRENTLY ON t (w)", "REINDEX TABLE t",
        "REINDEX TABLE CONCURRENTLY t",
        "DROP INDEX CONCURRENTLY tx", "CLUSTER t USING tx", "VACUUM t", "VACUUM FULL t",
        "LOCK TABLE t IN ACCESS SHARE MODE", "LOCK TABLE t", "CREATE POLICY p ON t USING (true)",
        "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING", "UPDATE t SET w = 2", "CREATE DATABASE kindred_lint",
        "CREATE TABLE three PARTITION OF part FOR VALUES IN (3)", "COMMENT ON COLUMN t.x IS 'y'",
    ]

    @Test func theServerDoesWhatIsSaid() async throws {
        try await withClient { client in
            try await makeTables(client)
            for statement in Self.statements {
                let (expected, rules) = try await predicted(statement)
                let found = try await effect(of: statement, client)
                #expect(found == expected, "\(statement): \(rules.sorted())")
            }
        }
    }

    /// A function of the program's may be STABLE, which its call does not tell; the finding says so.
    @Test func anUnknownFunctionMayBeSteady() async throws {
        try await withClient { client in
            try await makeTables(client)
            let statement = "ALTER TABLE t ADD a float DEFAULT steady()"
            #expect(try await effect(of: statement, client).isRewritten == false)
            let lint = try await MigrationFolder.with(["1_a.sql": statement]) { try $0.migrations.lint() }
            #expect(
                lint.findings.contains { $0.rule.id == "M202" && $0.message.contains("unless it is declared STABLE") })
        }
    }

    @Test func theUsualWayToARequiredColumnHasNoFindings() async throws {
        let files = [
            "1_a.sql":
                "CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); INSERT INTO t DEFAULT VALUES",
            "2_b.sql": "SET lock_timeout = '5s'; ALTER TABLE t ADD COLUMN a int",
            "3_c.sql": "UPDATE t SET a = 1",
            "4_d.sql": "SET lock_timeout = '5s'; ALTER TABLE t ADD CONSTRAINT a_set CHECK (a IS NOT NULL) NOT VALID",
            "5_e.sql": "ALTER TABLE t VALIDATE CONSTRAINT a_set",
            "6_f.sql": """
            SET lock_timeout = '5s';
            ALTER TABLE t ALTER COLUMN a SET NOT NULL, DROP CONSTRAINT a_set;
            """,
            "7_g.sql": "-- kindred: no transaction\nCREATE UNIQUE INDEX CONCURRENTLY t_a ON t (a)",
            "8_h.sql": "SET lock_timeout = '5s'; ALTER TABLE t ADD CONSTRAINT t_a UNIQUE USING INDEX t_a",
        ]
        try await MigrationFolder.with(files) { folder in
            let lint = try folder.migrations.lint()
            #expect(lint.findings.isEmpty && lint.files.count == 8, "\(lint.findings)")
            try await withClient { client in
                let applied = try await folder.migrations.apply(to: client)
                let rest = try await folder.migrations.lint(pendingFor: client)
                #expect(applied.count == 8 && rest.files.isEmpty)
            }
        }
    }

    /// Whatever the pieces make, the reading ends, and says each place within its file.
    @Test func anyTextIsReadToItsEnd() async throws {
        var random = SeededGenerator(seed: 45)
        let pieces = [
            "ALTER TABLE", "t", "ADD", "COLUMN", "CONSTRAINT", "c", "CHECK", "(", ")", "NOT", "NULL", "VALID", ",", ";",
            "\n",
            "'", "\"", "$$", "--", "/*", "*/", "CREATE", "INDEX", "ON", "DROP", "TABLE", "DEFAULT", "REFERENCES", ".",
            "*", "é",
            "REINDEX", "SET", "lock_timeout", "=", "UPDATE", "SELECT", "INTO", "AND", "OR", "IS", "RENAME", "TO", "E'",
            "\\",
        ]
        var files: [String: String] = [:]
        for number in 1...TestAmount.of(400, full: 4_000, long: 40_000) {
            files["\(number)_a.sql"] = (0..<Int.random(in: 1...25, using: &random)).map { _ in random.pick(pieces) }
                .joined(separator: " ")
        }
        let lint = try await MigrationFolder.with(files) { try $0.migrations.lint() }
        #expect(lint.files.count == files.count && lint.findings.count > 100)
        for finding in lint.findings {
            let lines = files[finding.file]?.split(separator: "\n", omittingEmptySubsequences: false).count ?? 0
            #expect((1...lines).contains(finding.line), "\(finding)")
        }
        let deep = "ALTER TABLE t ADD CHECK (" + String(repeating: "(", count: 100_000) + "a"
        let nested =
            "ALTER TABLE t ADD CHECK (" + String(repeating: "(a AND ", count: 20_000) + "b"
            + String(repeating: ")", count: 20_001)
        for text in [deep, nested] {
            let lint = try await MigrationFolder.with(["1_a.sql": text]) { try $0.migrations.lint() }
            #expect(lint.findings.contains { $0.rule.id == "M106" })
        }
    }
}
