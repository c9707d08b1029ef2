import KindredSchemaDifferences
import TestSupport
import Testing

/// Tables that become partitioned, partitions, views or foreign tables, or are such no longer: no statement changes them
/// in place, so that they are dropped and made again, and without leave stay as they are.
@Suite struct TableReplacementTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: String
        let to: String
        /// The changes that would lose rows, as the careful comparison lists them.
        let withheld: [String]

        init(_ name: String, _ from: String, _ to: String, withheld: [String]) {
            testDescription = name
            (self.from, self.to, self.withheld) = (from, to, withheld)
        }
    }

    private static let ordinary = """
        CREATE TABLE event (id integer PRIMARY KEY, name text);
        CREATE INDEX event_name ON event (name);
        COMMENT ON TABLE event IS 'what happened';
        COMMENT ON COLUMN event.name IS 'its name';
        CREATE TABLE guest (id integer PRIMARY KEY, event_id integer REFERENCES event);
        CREATE VIEW names AS SELECT id, name FROM event;
        CREATE VIEW long_names AS SELECT name FROM names WHERE length(name) > 3;
        """
    private static let partitioned =
        ordinary.replacing(
            "id integer PRIMARY KEY, name text);",
            with: """
                id integer PRIMARY KEY, name text) PARTITION BY RANGE (id);
                CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
                CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
                CREATE TABLE event_2a PARTITION OF event_2 FOR VALUES FROM (10) TO (15);
                """)
    private static let parent = "CREATE TABLE event (id integer, name text) PARTITION BY RANGE (id);"

    static let cases = [
        Case(
            "a table becomes partitioned", ordinary, partitioned,
            withheld: [
                "DROP TABLE \"public\".\"event\"", "the new table public.event_1", "the new table public.event_2",
                "the new table public.event_2a",
            ]),
        Case(
            "a partitioned table becomes an ordinary one", partitioned, ordinary,
            withheld: ["", "_1", "_2", "_2a"].map { "DROP TABLE \"public\".\"event\($0)\"" }),
        Case(
            "a partition key changes", partitioned,
            partitioned.replacing("RANGE (id)", with: "LIST (id)").replacing("FROM (0) TO (10)", with: "IN (1)")
                .replacing("FROM (10) TO (20)", with: "IN (2)").replacing("FROM (10) TO (15)", with: "IN (2)"),
            withheld: [
                "DROP TABLE \"public\".\"event\"", "DROP TABLE \"public\".\"event_2\"",
                "the new definition of the table public.event_1", "the new definition of the table public.event_2a",
            ]),
        Case(
            "a table becomes a partition", parent + "CREATE TABLE old (id integer, name text CHECK (name <> ''))",
            parent + "CREATE TABLE old PARTITION OF event FOR VALUES FROM (0) TO (10)",
            withheld: ["DROP TABLE \"public\".\"old\""]),
        Case(
            "a partition becomes a table", parent + "CREATE TABLE old PARTITION OF event FOR VALUES FROM (0) TO (10)",
            parent + "CREATE TABLE old (id serial PRIMARY KEY, name text)", withheld: ["DROP TABLE \"public\".\"old\""]),
        Case(
            "a partition gets another parent",
            parent + "CREATE TABLE other (x date) PARTITION BY RANGE (x); CREATE TABLE p PARTITION OF event DEFAULT",
            parent + "CREATE TABLE other (x date) PARTITION BY RANGE (x); CREATE TABLE p PARTITION OF other DEFAULT",
            withheld: ["DROP TABLE \"public\".\"p\""]),
        Case(
            "a partition has the bounds of another one",
            parent + "CREATE TABLE old PARTITION OF event FOR VALUES FROM (0) TO (10)",
            parent + "CREATE TABLE new PARTITION OF event FOR VALUES FROM (0) TO (10); CREATE INDEX ON new (name)",
            withheld: ["DROP TABLE \"public\".\"old\"", "the new table public.new"]),
        Case(
            "a partition goes to which rows may refer", partitioned,
            partitioned.replacing(
                "CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);",
                with: ""
            )
            .replacing("CREATE TABLE event_2a PARTITION OF event_2 FOR VALUES FROM (10) TO (15);", with: ""),
            withheld: ["DROP TABLE \"public\".\"event_2\"", "DROP TABLE \"public\".\"event_2a\""]),
        Case(
            "a table becomes a view", ordinary,
            ordinary.replacing(
                "CREATE TABLE guest (id integer PRIMARY KEY, event_id integer REFERENCES event);",
                with: "CREATE VIEW guest AS SELECT id, id AS event_id FROM event;"),
            withheld: ["DROP TABLE \"public\".\"guest\"", "the new view public.guest"]),
        Case(
            "a view becomes a table", ordinary,
            ordinary.replacing(
                "CREATE VIEW names AS SELECT id, name FROM event", with: "CREATE TABLE names (name text)"),
            withheld: ["DROP VIEW \"public\".\"names\"", "the new table public.names"]),
        Case(
            "a table becomes a materialized view", "CREATE TABLE a (n integer); CREATE INDEX i ON a (n)",
            "CREATE MATERIALIZED VIEW a AS SELECT 1 AS n; CREATE UNIQUE INDEX j ON a (n)",
            withheld: ["DROP TABLE \"public\".\"a\"", "the new view public.a", "the new index public.j"]),
        Case(
            "a foreign table becomes a table", foreign + "CREATE FOREIGN TABLE a (n integer) SERVER elsewhere",
            foreign + "CREATE TABLE a (n integer PRIMARY KEY)",
            withheld: ["DROP FOREIGN TABLE \"public\".\"a\"", "the new table public.a"]),
        Case(
            "a table becomes a foreign table", foreign + "CREATE TABLE a (n integer)",
            foreign + "CREATE FOREIGN TABLE a (n integer) SERVER elsewhere",
            withheld: ["DROP TABLE \"public\".\"a\"", "the new foreign table public.a"]),
        Case(
            "a type becomes a table", "CREATE TYPE a AS (n integer); CREATE TABLE b (id integer, a a)",
            "CREATE TABLE a (n integer); CREATE TABLE b (id integer)",
            withheld: [
                "DROP TYPE \"public\".\"a\"", "the new table public.a",
                "ALTER TABLE \"public\".\"b\" DROP COLUMN \"a\"",
            ]),
        Case(
            "a table whose rows are a column's type becomes partitioned",
            "CREATE TABLE a (n integer); CREATE TABLE b (id integer, a a, list a[])",
            "CREATE TABLE a (n integer) PARTITION BY HASH (n); CREATE TABLE b (id integer, a a, list a[])",
            withheld: ["DROP TABLE \"public\".\"a\""]),
        Case(
            "an index and a type have one name", "CREATE TABLE a (n integer); CREATE INDEX x ON a (n)",
            "CREATE TYPE x AS ENUM ('y'); CREATE TABLE b (x x)", withheld: ["DROP TABLE \"public\".\"a\""]),
        Case(
            "a child no longer inherits",
            "CREATE TABLE a (n integer CHECK (n > 0)); CREATE TABLE b (m integer) INHERITS (a)",
            "CREATE TABLE a (n integer CHECK (n > 0)); CREATE TABLE b (n integer, m integer)",
            withheld: ["DROP TABLE \"public\".\"b\""]),
        Case(
            "a table begins to inherit", "CREATE TABLE a (n integer); CREATE TABLE b (n integer, m integer)",
            "CREATE TABLE a (n integer); CREATE TABLE b (m integer) INHERITS (a)",
            withheld: ["DROP TABLE \"public\".\"b\""]),
    ]

    private static let foreign = "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER elsewhere FOREIGN DATA WRAPPER w;"

    private func between(_ from: String, _ to: String, allowsDropping: Bool) async throws -> SchemaDifferences {
        var options = SchemaDifferences.Options()
        options.allowsDropping = allowsDropping
        return try await CatalogOracle.between(from, to, options)
    }

    private func statements(_ differences: SchemaDifferences) -> [String] {
        differences.steps.flatMap { $0.statements.map(\.sql) }
    }

    @Test(arguments: cases) func withLeaveItIsMadeAgain(_ item: Case) async throws {
        let differences = try await between(item.from, item.to, allowsDropping: true)
        // The copies have no foreign table, whose wrapper a superuser makes.
        let hasForeign = item.from.contains("CREATE FOREIGN TABLE")
        let proof: SchemaDifferences.Proof =
            hasForeign ? .skipped("the statements cannot be tried without what is left out") : .proven
        #expect(differences.proof == proof, "\(differences.proof)\n\(differences.sql)")
        #expect(differences.withheld.isEmpty)
        let drops = item.withheld.filter { $0.hasPrefix("DROP TABLE") || $0.hasPrefix("DROP FOREIGN TABLE") }
        let losing = differences.steps.flatMap(\.statements).filter(\.canLoseData).map(\.sql)
        for drop in drops { #expect(losing.contains(drop), "\(drop)\n\(differences.sql)") }
    }

    @Test(arguments: cases) func withoutLeaveItStays(_ item: Case) async throws {
        let differences = try await between(item.from, item.to, allowsDropping: false)
        #expect(differences.steps.isEmpty || differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
        #expect(Set(differences.withheld) == Set(item.withheld), "\(differences.withheld)")
        #expect(Set(differences.withheld).count == differences.withheld.count, "\(differences.withheld)")
        for statement in differences.steps.flatMap(\.statements) {
            #expect(!statement.canLoseData && !statement.sql.hasPrefix("DROP"), "\(statement.sql)")
        }
    }
}

extension TableReplacementTests {
    @Test func otherBoundsMoveAPartitionInPlace() async throws {
        let from = Self.parent + "CREATE TABLE a PARTITION OF event FOR VALUES FROM (0) TO (10)"
        let differences = try await between(from, from.replacing("TO (10)", with: "TO (20)"), allowsDropping: false)
        #expect(differences.proof == .proven && differences.withheld.isEmpty, "\(differences.proof)")
        #expect(
            statements(differences) == [
                #"ALTER TABLE "public"."event" DETACH PARTITION "public"."a""#,
                #"ALTER TABLE "public"."event" ATTACH PARTITION "public"."a" FOR VALUES FROM (0) TO (20)"#,
            ])
    }

    @Test func aChildWithColumnsOfItsOwnKeepsItsRows() async throws {
        let (from, to) = (
            "CREATE TABLE a (n integer); CREATE TABLE b (n integer, m integer)",
            "CREATE TABLE a (n integer); CREATE TABLE b (n integer, m integer) INHERITS (a)"
        )
        let there = try await between(from, to, allowsDropping: false)
        #expect(there.proof == .proven && there.withheld.isEmpty, "\(there.proof) \(there.withheld)")
        #expect(statements(there) == [#"ALTER TABLE "public"."b" INHERIT "public"."a""#])
        let back = try await between(to, from, allowsDropping: false)
        #expect(back.proof == .proven && back.withheld.isEmpty, "\(back.proof) \(back.withheld)")
        #expect(statements(back) == [#"ALTER TABLE "public"."b" NO INHERIT "public"."a""#])
    }

    @Test func whatWasGrantedAndSecuredStaysSo() async throws {
        let from = """
            CREATE TABLE event (id serial PRIMARY KEY, name text);
            CREATE TABLE guest (id integer PRIMARY KEY, event_id integer REFERENCES event);
            CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
            CREATE TRIGGER t BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION f();
            ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY p ON event TO kindred_diff_role USING (id > 0);
            GRANT SELECT, INSERT ON event TO kindred_diff_role;
            """
        let to = from.replacing("name text);", with: "name text) PARTITION BY HASH (id);")
        let differences = try await between(from, to, allowsDropping: true)
        #expect(differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
        #expect(differences.unmanaged.isEmpty, "\(differences.unmanaged)")
        let all = statements(differences)
        let expected = [
            #"ALTER SEQUENCE "public"."event_id_seq" OWNED BY NONE"#,
            #"ALTER TABLE "public"."guest" DROP CONSTRAINT "guest_event_id_fkey""#,
            #"DROP TABLE "public"."event""#,
            #"ALTER SEQUENCE "public"."event_id_seq" OWNED BY "public"."event"."id""#,
            #"GRANT INSERT ON "public"."event" TO "kindred_diff_role""#,
            #"GRANT SELECT ON "public"."event" TO "kindred_diff_role""#,
            #"ALTER TABLE "public"."event" ENABLE ROW LEVEL SECURITY"#,
            #"ALTER TABLE "public"."event" FORCE ROW LEVEL SECURITY"#,
        ]
        #expect(all.filter(expected.contains) == expected, "\(differences.sql)")
        #expect(all.contains { $0.hasPrefix("CREATE POLICY") } && all.contains { $0.hasPrefix("CREATE TRIGGER") })
        #expect(all.contains { $0.contains("ADD CONSTRAINT \"guest_event_id_fkey\"") })
    }
}
