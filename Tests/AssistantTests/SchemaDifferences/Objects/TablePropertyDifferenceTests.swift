import KindredSchemaDifferences
import Testing

/// Properties of tables, columns and indexes beside their definitions.
@Suite struct TablePropertyDifferenceTests {
    private static let table = """
        CREATE TABLE t (id integer PRIMARY KEY, a text NOT NULL, b text, n integer);
        CREATE UNIQUE INDEX t_a ON t (a);
        CREATE INDEX t_b ON t (lower(b));
        CREATE MATERIALIZED VIEW m AS SELECT id, a FROM t;
        CREATE VIEW v AS SELECT id, a FROM t;
        """

    /// Each with what takes it back.
    static let properties = [
        "ALTER TABLE t REPLICA IDENTITY FULL;", "ALTER TABLE t REPLICA IDENTITY NOTHING;",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_a;", "CLUSTER t USING t_a;", "ALTER TABLE t CLUSTER ON t_pkey;",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY;", "ALTER TABLE t FORCE ROW LEVEL SECURITY;",
        "ALTER TABLE t ALTER a SET STATISTICS 500;", "ALTER TABLE t ALTER b SET STORAGE EXTERNAL;",
        "ALTER TABLE t ALTER b SET COMPRESSION pglz;", "ALTER TABLE t ALTER n SET (n_distinct = -0.5);",
        "ALTER TABLE t ALTER n SET (n_distinct = 7, n_distinct_inherited = 9);",
        "ALTER TABLE t SET (toast.autovacuum_enabled = false, fillfactor = 70);",
        "ALTER INDEX t_b ALTER COLUMN 1 SET STATISTICS 300;", "ALTER MATERIALIZED VIEW m ALTER a SET STATISTICS 40;",
        "ALTER VIEW v ALTER COLUMN a SET DEFAULT 'q';", "CREATE UNIQUE INDEX m_id ON m (id); CLUSTER m USING m_id;",
    ]

    @Test(arguments: properties) func theyAreSetAndTakenBack(_ property: String) async throws {
        for (from, to) in [
            (Self.table, Self.table + property), (Self.table + property, Self.table), ("", Self.table + property),
        ] {
            let differences = try await CatalogOracle.expectChange(from, to)
            #expect(!differences.steps.isEmpty && differences.unmanaged.isEmpty && differences.withheld.isEmpty)
        }
    }

    /// A new type has its own storage, and an index that is made again is named again.
    @Test(arguments: [true, false]) func theyStayWhereColumnsAndIndexesAreMadeAgain(_ isConcurrent: Bool) async throws {
        let all =
            Self.table + Self.properties.filter { !$0.contains("REPLICA") && !$0.contains("t_pkey") }.joined()
            + "ALTER TABLE t REPLICA IDENTITY USING INDEX t_a;"
        for to in [
            all.replacing("b text", with: "b varchar(9)"), all.replacing("t (a)", with: "t (a, id)"),
            all.replacing("SET STORAGE EXTERNAL", with: "SET STORAGE MAIN").replacing("b text", with: "b varchar(9)"),
        ] {
            _ = try await CatalogOracle.expectChange(all, to, isConcurrent: isConcurrent)
        }
    }

    @Test func indexesAreDroppedConcurrentlyWhereNothingElseGoes() async throws {
        let from = Self.table + "CREATE INDEX t_n ON t (n); CREATE INDEX t_nb ON t (n, b);"
        let differences = try await CatalogOracle.expectChange(
            from,
            Self.table.replacing("lower(b)", with: "upper(b)").replacing(", b text", with: ", b text COLLATE \"C\""))
        let outside = differences.steps.filter { !$0.isTransaction }.flatMap { $0.statements.map(\.sql) }
        #expect(outside.contains(#"DROP INDEX CONCURRENTLY "public"."t_n""#), "\(differences.sql)")
        // An index of a column that changes would be built anew before it goes.
        let inside = differences.steps.filter(\.isTransaction).flatMap { $0.statements.map(\.sql) }
        #expect(inside.contains(#"DROP INDEX "public"."t_nb""#), "\(differences.sql)")
        #expect(outside.allSatisfy { !$0.contains("\"t_pkey\"") })
    }

    @Test func anIndexThatChangesIsDroppedBeforeTheNewOneIsBuilt() async throws {
        let differences = try await CatalogOracle.expectChange(
            Self.table, Self.table.replacing("lower(b)", with: "upper(b)"))
        let all = CatalogOracle.statements(differences)
        #expect(
            all.count == 2 && all[0] == #"DROP INDEX CONCURRENTLY "public"."t_b""#
                && all[1].hasPrefix("CREATE INDEX CONCURRENTLY t_b "), "\(all)")
    }

    @Test func indexesOfPartitionedTablesAndThoseWhoseNameIsNeededGoInTheTransaction() async throws {
        let partitioned = """
            CREATE TABLE p (id integer, n integer) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p DEFAULT;
            """
        let plain = try await CatalogOracle.expectChange(
            partitioned + "CREATE INDEX p_n ON p (n); CREATE TABLE t (x integer); CREATE INDEX other ON t (x);",
            partitioned + "CREATE TABLE t (x integer); CREATE TABLE other (x integer);")
        let all = CatalogOracle.statements(plain)
        #expect(all.contains(#"DROP INDEX "public"."p_n""#) && all.contains(#"DROP INDEX "public"."other""#), "\(all)")
        let one = try await CatalogOracle.expectChange(
            Self.table, Self.table.replacing("lower(b)", with: "b"), isConcurrent: false)
        #expect(!one.sql.contains("CONCURRENTLY"))
    }
}
