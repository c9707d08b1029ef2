import KindredAssistant
import TestSupport
import Testing

/// Pairs of schemas whose differences are looked at one by one.
@Suite struct SchemaDifferenceTests {
    private func between(
        _ from: String, _ to: String, allowsDropping: Bool = true, isConcurrent: Bool = true, renames: [String] = []
    ) async throws -> SchemaDifferences {
        var options = SchemaDifferences.Options()
        options.allowsDropping = allowsDropping
        options.isConcurrent = isConcurrent
        options.renames = renames
        return try await SchemaDifferences.between(.sql(from, name: "from"), .sql(to, name: "to"), options: options)
    }

    private func statements(_ differences: SchemaDifferences) -> [String] {
        differences.steps.flatMap { $0.statements.map(\.sql) }
    }

    @Test func theSameSchemaDiffersInNothing() async throws {
        let script = """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE person (id serial PRIMARY KEY, name varchar(20) CHECK (name IN ('a', 'b')), mood mood DEFAULT 'ok');
            CREATE VIEW happy AS SELECT * FROM person WHERE mood = 'ok';
            """
        let differences = try await between(script, script)
        #expect(differences.isEmpty, "\(differences.sql)")
    }

    @Test func columnsConstraintsAndViewsFollow() async throws {
        let differences = try await between(
            """
            CREATE TABLE person (id integer PRIMARY KEY, name text, age integer);
            CREATE VIEW names AS SELECT id, name FROM person;
            CREATE VIEW long_names AS SELECT name FROM names WHERE length(name) > 3;
            """,
            """
            CREATE TABLE person (id bigint PRIMARY KEY, name text NOT NULL, age integer CHECK (age > 0), boss bigint
                REFERENCES person);
            CREATE INDEX ON person (boss);
            CREATE VIEW names AS SELECT id, name FROM person;
            CREATE VIEW long_names AS SELECT name FROM names WHERE length(name) > 3;
            COMMENT ON TABLE person IS 'people''s \\ names';
            """)
        #expect(differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
        let all = statements(differences)
        #expect(all.contains(#"DROP VIEW "public"."long_names""#))
        #expect(all.contains { $0.hasPrefix("CREATE INDEX CONCURRENTLY") })
        #expect(all.contains { $0.hasSuffix("VALIDATE CONSTRAINT \"person_boss_fkey\"") })
        #expect(differences.steps.map(\.isTransaction) == [true, false, true, false])
    }
}
