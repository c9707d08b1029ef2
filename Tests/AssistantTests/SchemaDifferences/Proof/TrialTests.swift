import KindredSchemaDifferences
import KindredTesting
import Testing

/// A trial begins with exactly the old side, and `pg_dump` says how it ends.
@Suite(.database) struct TrialTests {
    private func between(
        _ from: String, _ to: String, _ options: SchemaDifferences.Options = .init()
    ) async throws -> SchemaDifferences {
        try await SchemaDifferences.between(.sql(from, name: "from"), .sql(to, name: "to"), options: options)
    }

    private var dropping: SchemaDifferences.Options {
        var options = SchemaDifferences.Options()
        options.allowsDropping = true
        return options
    }

    private static let odd = """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TABLE t (m mood);
        CREATE AGGREGATE best(mood) (sfunc = enum_larger, stype = mood);
        CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING;
        CREATE TYPE span AS RANGE (subtype = float8);
        CREATE TABLE s (s span);
        """

    @Test func aScriptIsRunAsItIs() async throws {
        let more = try await between(
            Self.odd, Self.odd.replacing("(m mood);\nCREATE A", with: "(m mood, n integer);\nCREATE A"))
        #expect(more.proof == .proven && more.steps.flatMap(\.statements).count == 1, "\(more.proof)")
        let same = try await between(Self.odd, Self.odd)
        #expect(same.isEmpty && same.proof == .proven, "\(same.proof) \(same.unmanaged)")
    }

    @Test func whatACopyLacksIsNamed() async throws {
        let database = try TestDatabase.current
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: database.uri))
        let script = "CREATE TABLE t (id integer); CREATE PUBLICATION p;"
        try await client.runScript(script)
        await client.close()
        let differences = try await SchemaDifferences.between(
            try SchemaSource(argument: database.uri),
            .sql(script.replacing("(id integer)", with: "(id integer, n integer)")))
        #expect(differences.proof == .proven && differences.leftOut == ["The publication p: no copy has it."])
    }

    @Test func whatOnlyADumpSeesIsNamed() async throws {
        let table = "CREATE TABLE t (n integer);"
        let more =
            "CREATE OPERATOR CLASS c FOR TYPE integer USING btree AS OPERATOR 1 <, FUNCTION 1 btint4cmp(integer, integer);"
        let same = try await between(table, table + more)
        #expect(!same.isEmpty && same.steps.isEmpty)
        #expect(same.unmanaged.contains { $0.lowercased().contains("operator class") }, "\(same.unmanaged)")
        let changed = try await between(table, "CREATE TABLE t (n integer, m integer);" + more)
        #expect(changed.proof == .proven && !changed.steps.isEmpty, "\(changed.proof)")
        #expect(changed.unmanaged.contains { $0.lowercased().contains("operator class") }, "\(changed.unmanaged)")
    }

    @Test func namesAndOrdersThatNobodyGaveAreNoDifference() async throws {
        let from = """
            CREATE TABLE person (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text, b text NOT NULL);
            CREATE TABLE t (id integer, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
            CREATE TABLE p_n_idx (x integer);
            CREATE TABLE p PARTITION OF t DEFAULT;
            """
        let to = """
            CREATE TABLE people (b text NOT NULL, id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text);
            CREATE TABLE t (id integer, n text, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
            CREATE TABLE p PARTITION OF t DEFAULT;
            CREATE INDEX ON t (n);
            CREATE TABLE p_n_idx (x integer);
            """.replacing(
                "CREATE INDEX ON t (n);\nCREATE TABLE p_n_idx (x integer);",
                with: "CREATE TABLE p_n_idx (x integer);\nCREATE INDEX ON t (n);")
        var options = dropping
        options.renames = ["person=people"]
        let differences = try await between(from, to, options)
        #expect(differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
    }

    @Test func whatIsWithheldMayBeLeft() async throws {
        let from = """
            CREATE TABLE gone (id integer PRIMARY KEY, x text CHECK (x <> ''));
            CREATE INDEX ON gone (x);
            CREATE TABLE t (id integer, old text, n varchar(10));
            """
        let to = "CREATE TABLE t (id integer, n varchar(10) CHECK (n IN ('a', 'b')), k text);"
        let careful = try await between(from, to)
        #expect(careful.proof == .proven && careful.withheld.count == 2, "\(careful.proof)")
        let all = try await between(from, to, dropping)
        #expect(all.proof == .proven && all.withheld.isEmpty, "\(all.proof)")
    }

    /// A script of today and the dump of the database that another server made of it differ in how checks are written.
    @Test func howTheServerWritesExpressionsIsNoDifference() async throws {
        let from = "CREATE TABLE t (n varchar(10) CHECK (n IN ('a', 'b')));"
        let to = """
            CREATE TABLE t (n varchar(10), m integer,
                CONSTRAINT t_n_check CHECK (((n)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))));
            """
        let differences = try await between(from, to)
        #expect(
            differences.proof == .proven && differences.steps.flatMap(\.statements).count == 1, "\(differences.proof)")
    }
}
