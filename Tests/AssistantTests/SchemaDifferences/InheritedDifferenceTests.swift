import KindredSchemaDifferences
import KindredTesting
import Testing

/// Properties of partitions and other heirs alone: defaults, NOT NULL and indexes.
@Suite(.database) struct InheritedDifferenceTests {
    private static let plain = """
        CREATE TABLE t (a integer NOT NULL, b text DEFAULT 'x', c integer) PARTITION BY LIST (a);
        CREATE TABLE p PARTITION OF t FOR VALUES IN (1);
        CREATE TABLE q PARTITION OF t FOR VALUES IN (2) PARTITION BY LIST (c);
        CREATE TABLE r PARTITION OF q FOR VALUES IN (1);
        CREATE INDEX t_c ON t (c);
        """

    private static let own =
        plain + """
            ALTER TABLE p ALTER b SET DEFAULT 'own';
            ALTER TABLE p ALTER c SET NOT NULL;
            ALTER TABLE q ALTER c SET DEFAULT 5;
            ALTER TABLE r ALTER b DROP DEFAULT;
            CREATE INDEX p_c ON p (c);
            CREATE INDEX a_first ON p (c);
            """

    private static let otherParent = own.replacing("b text DEFAULT 'x'", with: "b text NOT NULL DEFAULT 'y'")

    private static let heirs = """
        CREATE TABLE t (a integer, b text DEFAULT 'x');
        CREATE TABLE p () INHERITS (t);
        ALTER TABLE p ALTER b SET DEFAULT 'own';
        ALTER TABLE p ALTER a SET NOT NULL;
        """

    private static let mood = """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TABLE t (a integer, m mood) PARTITION BY LIST (a);
        CREATE TABLE p PARTITION OF t FOR VALUES IN (1);
        ALTER TABLE p ALTER m SET DEFAULT 'ok';
        """

    private static let numbered =
        plain + "CREATE SEQUENCE numbers;"
        + "ALTER TABLE p ALTER c SET DEFAULT nextval('numbers'), ALTER b SET DEFAULT 'own';"

    @Test(
        arguments: [
            (numbered, plain), (numbered, own), (plain, numbered),
            (plain, own), (own, plain), (own, otherParent), (otherParent, plain), ("", own), (own, ""),
            (heirs, "" as String),
            ("", heirs), (heirs, heirs.replacing("'own'", with: "'mine'")), (mood, mood.replacing("'sad', ", with: "")),
            (
                plain.replacing("CREATE INDEX t_c ON t (c);", with: ""),
                plain.replacing(
                    "CREATE INDEX t_c ON t (c);", with: "CREATE INDEX t_c ON t (c); CREATE INDEX a_c ON p (c);")
            ),
        ], [true, false])
    func theyAreChangedAndTheProofIsRight(_ sides: (from: String, to: String), _ isConcurrent: Bool) async throws {
        var options = SchemaDifferences.Options()
        options.allowsDropping = true
        options.isConcurrent = isConcurrent
        let differences = try await SchemaDifferences.between(
            .sql(sides.from, name: "from"), .sql(sides.to, name: "to"), options: options)
        #expect(differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
        let wanted = try await state(after: [sides.to])
        let found = try await state(
            after: [sides.from] + differences.steps.flatMap(\.statements).map(\.sql))
        #expect(found == wanted, "\(differences.sql)")
        #expect(!wanted.isEmpty || sides.to.isEmpty)
    }

    /// Every column's default and NOT NULL and every index, after statements in an empty schema.
    private func state(after statements: [String]) async throws -> [String] {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await client.runScript("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        for statement in statements where !statement.isEmpty {
            if statement.contains("CONCURRENTLY") {
                try await client.query(SQL(unsafeRaw: statement))
            } else {
                try await client.runScript(statement)
            }
        }
        let rows = try await client.query(
            """
            SELECT a.attrelid::regclass || '.' || a.attname || ' ' || a.attnotnull || ' '
                || COALESCE(pg_get_expr(d.adbin, d.adrelid), '')
            FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT pg_get_indexdef(i.indexrelid) || ' ' || c.relispartition
            FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
            WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1
            """)
        let lines = try rows.map { try $0.decode(0, as: String.self) ?? "" }
        await client.close()
        return lines
    }
}
