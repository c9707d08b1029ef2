import KindredDoctor
import KindredTesting
import TestSupport
import Testing

/// K101 against a server.
@Suite struct UnindexedForeignKeyTests {
    /// The tables named `good_…` have an index that does, those named `bad_…` have not.
    private static let matrix = """
        CREATE TABLE p (id integer PRIMARY KEY);
        CREATE TABLE p2 (tenant integer, id integer, PRIMARY KEY (tenant, id));
        CREATE TABLE p3 (id integer PRIMARY KEY, tenant integer NOT NULL, UNIQUE (tenant, id));
        CREATE TABLE pt (code text PRIMARY KEY);

        CREATE TABLE bad_none (a integer REFERENCES p);
        CREATE TABLE good_plain (a integer REFERENCES p); CREATE INDEX ON good_plain (a);
        CREATE TABLE good_leading (a integer REFERENCES p, b integer); CREATE INDEX ON good_leading (a, b);
        CREATE TABLE bad_prefix (a integer REFERENCES p, b integer); CREATE INDEX ON bad_prefix (b, a);
        CREATE TABLE good_order (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p2); CREATE INDEX ON good_order (a, t);
        CREATE TABLE bad_part (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p2); CREATE INDEX ON bad_part (t);
        CREATE TABLE bad_between (t integer, x integer, a integer, FOREIGN KEY (t, a) REFERENCES p2);
        CREATE INDEX ON bad_between (t, x, a);
        CREATE TABLE good_tenant (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p3 (tenant, id));
        CREATE INDEX ON good_tenant (a);
        CREATE TABLE bad_tenant (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p3 (tenant, id));
        CREATE INDEX ON bad_tenant (t);
        CREATE TABLE bad_tenant_key (t integer, n integer, a integer, PRIMARY KEY (t, n),
            FOREIGN KEY (t, a) REFERENCES p2);
        CREATE TABLE good_tenant_key (t integer, n integer, a integer, PRIMARY KEY (t, a, n),
            FOREIGN KEY (t, a) REFERENCES p2);
        CREATE TABLE bad_include (a integer REFERENCES p, b integer); CREATE INDEX ON bad_include (b) INCLUDE (a);
        CREATE TABLE bad_include_part (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p2);
        CREATE INDEX ON bad_include_part (t) INCLUDE (a);
        CREATE TABLE good_partial (a integer REFERENCES p); CREATE INDEX ON good_partial (a) WHERE a IS NOT NULL;
        CREATE TABLE good_not_null (a integer REFERENCES p); CREATE INDEX ON good_not_null (a) WHERE NOT (a IS NULL);
        CREATE TABLE good_partial_two (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p2);
        CREATE INDEX ON good_partial_two (a, t) WHERE t IS NOT NULL AND a IS NOT NULL;
        CREATE TABLE bad_partial (a integer REFERENCES p, b integer); CREATE INDEX ON bad_partial (a) WHERE b IS NOT NULL;
        CREATE TABLE bad_partial_value (a integer REFERENCES p); CREATE INDEX ON bad_partial_value (a) WHERE a > 0;
        CREATE TABLE good_hash (a integer REFERENCES p); CREATE INDEX ON good_hash USING hash (a);
        CREATE TABLE bad_hash (t integer, a integer, FOREIGN KEY (t, a) REFERENCES p2);
        CREATE INDEX ON bad_hash USING hash (a);
        CREATE TABLE bad_brin (a integer REFERENCES p); CREATE INDEX ON bad_brin USING brin (a);
        CREATE TABLE bad_expression (a integer REFERENCES p); CREATE INDEX ON bad_expression ((a + 0));
        CREATE TABLE good_expression (a integer REFERENCES p, b text); CREATE INDEX ON good_expression (a, lower(b));
        CREATE TABLE good_unique (a integer UNIQUE REFERENCES p);
        CREATE TABLE good_unique_part (t integer, a integer UNIQUE, FOREIGN KEY (t, a) REFERENCES p2);
        CREATE TABLE good_shared (id integer PRIMARY KEY REFERENCES p);
        CREATE TABLE good_covering (a integer REFERENCES p, n integer, PRIMARY KEY (a, n));
        CREATE TABLE bad_covering (a integer REFERENCES p, n integer, PRIMARY KEY (n, a));
        CREATE TABLE good_exclusion (a int4range, b integer REFERENCES p, EXCLUDE USING btree (b WITH =));
        CREATE TABLE bad_collation (a text REFERENCES pt); CREATE INDEX ON bad_collation (a COLLATE "C");
        CREATE TABLE good_pattern (a text REFERENCES pt); CREATE INDEX ON good_pattern (a text_pattern_ops);
        CREATE TABLE good_descending (a integer REFERENCES p); CREATE INDEX ON good_descending (a DESC NULLS LAST);
        CREATE TABLE good_types (a bigint REFERENCES p); CREATE INDEX ON good_types (a);
        CREATE DOMAIN whole AS integer;
        CREATE TABLE good_domain (a whole REFERENCES p); CREATE INDEX ON good_domain (a);
        CREATE TABLE good_twice (a integer REFERENCES p, FOREIGN KEY (a) REFERENCES p); CREATE INDEX ON good_twice (a);
        CREATE TABLE bad_twice (a integer REFERENCES p, FOREIGN KEY (a) REFERENCES p);
        CREATE TABLE good_dropped (x integer, a integer REFERENCES p); ALTER TABLE good_dropped DROP COLUMN x;
        CREATE INDEX ON good_dropped (a);
        CREATE TABLE bad_invalid (a integer REFERENCES p);

        CREATE TABLE good_whole (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE good_whole_1 PARTITION OF good_whole FOR VALUES IN (1);
        CREATE TABLE good_whole_2 PARTITION OF good_whole FOR VALUES IN (2) PARTITION BY LIST (a);
        CREATE TABLE good_whole_2_1 PARTITION OF good_whole_2 FOR VALUES IN (1);
        CREATE INDEX ON good_whole (a);
        CREATE TABLE good_each (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE good_each_1 PARTITION OF good_each FOR VALUES IN (1); CREATE INDEX ON good_each_1 (a);
        CREATE TABLE good_each_2 (x integer, d integer, a integer); ALTER TABLE good_each_2 DROP COLUMN x;
        ALTER TABLE good_each ATTACH PARTITION good_each_2 FOR VALUES IN (2); CREATE INDEX ON good_each_2 (a, d);
        CREATE TABLE bad_each (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE bad_each_1 PARTITION OF bad_each FOR VALUES IN (1); CREATE INDEX ON bad_each_1 (a);
        CREATE TABLE bad_each_2 PARTITION OF bad_each FOR VALUES IN (2);
        CREATE TABLE bad_only (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE bad_only_1 PARTITION OF bad_only FOR VALUES IN (1);
        CREATE INDEX bad_only_index ON ONLY bad_only (a);
        CREATE TABLE bad_deep (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE bad_deep_1 PARTITION OF bad_deep FOR VALUES IN (1) PARTITION BY LIST (a);
        CREATE TABLE bad_deep_1_1 PARTITION OF bad_deep_1 FOR VALUES IN (1); CREATE INDEX ON bad_deep_1_1 (a);
        CREATE TABLE bad_deep_1_2 PARTITION OF bad_deep_1 FOR VALUES IN (2);
        CREATE TABLE bad_empty (a integer REFERENCES p, d integer) PARTITION BY LIST (d);
        CREATE TABLE good_alone (a integer, d integer) PARTITION BY LIST (d);
        CREATE TABLE good_alone_1 PARTITION OF good_alone FOR VALUES IN (1); CREATE INDEX ON good_alone_1 (a);
        CREATE TABLE bad_alone_2 PARTITION OF good_alone FOR VALUES IN (2);
        ALTER TABLE good_alone_1 ADD FOREIGN KEY (a) REFERENCES p;
        ALTER TABLE bad_alone_2 ADD FOREIGN KEY (a) REFERENCES p;
        CREATE TABLE pp (id integer PRIMARY KEY) PARTITION BY LIST (id);
        CREATE TABLE pp_1 PARTITION OF pp FOR VALUES IN (1); CREATE TABLE pp_2 PARTITION OF pp FOR VALUES IN (2);
        CREATE TABLE bad_to_whole (a integer REFERENCES pp);
        CREATE TABLE good_to_whole (a integer REFERENCES pp); CREATE INDEX ON good_to_whole (a);
        """

    @Test(.database(.sql(matrix))) func everyCaseOfTheMatrixIsAnsweredRight() async throws {
        try await withDoctorClient { client in
            // A unique index that could not be finished.
            try await client.query("INSERT INTO p VALUES (1)")
            try await client.query("INSERT INTO bad_invalid VALUES (1), (1)")
            _ = try? await client.query("CREATE UNIQUE INDEX CONCURRENTLY ON bad_invalid (a)")
            let invalid = try await client.query("SELECT indexrelid FROM pg_index WHERE NOT indisvalid")
            // The index that could not be finished, and the index of a table whose partition lacks it.
            #expect(invalid.count == 2)

            let names = try await client.query(
                """
                SELECT 'public.' || c.relname FROM pg_class AS c WHERE c.relname ~ '^bad_' AND EXISTS (
                    SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0)
                ORDER BY 1
                """
            ).map { try $0.decode(0, as: String.self) ?? "" }
            #expect(names.count > 20)
            var report = try await client.allFindings()
            #expect(Set(report.findings(of: "K101").compactMap(\.entity)) == Set(names))
            #expect(report.findings(of: "K101").filter { $0.entity == "public.bad_twice" }.count == 2)

            // Each repair makes its finding go away, and breaks nothing.
            for finding in report.findings(of: "K101") { try await client.repair(finding) }
            report = try await client.allFindings()
            #expect(report.findings(of: "K101").isEmpty)
        }
    }

    /// PostgreSQL itself says whether an index finds the rows.
    ///
    /// It does so by the condition that it gives the index in a plan without
    /// sequential scans. That the condition is a whole one, and not the ends of an index with a gap between, its first
    /// columns say.
    @Test(.database, arguments: 0..<4) func randomIndexesAreAnsweredAsThePlannerDoes(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var script = ""
        var tables: [(name: String, columns: [String], isText: Bool)] = []
        for type in ["integer", "text"] {
            for count in 1...3 {
                let columns = ["x", "y", "z"].prefix(count)
                let list = columns.map { "\($0) \(type)" }.joined(separator: ", ")
                script +=
                    "CREATE TABLE p_\(type)_\(count) (\(list), PRIMARY KEY (\(columns.joined(separator: ", "))));\n"
            }
        }
        for number in 0..<120 {
            let type = random.chance(60) ? "integer" : "text"
            let columns = Array(["a", "b", "c"].shuffled(using: &random).prefix(random.pick([1, 2, 2, 3])))
            let name = "t\(number)"
            script += """
                CREATE TABLE \(name) (a \(type), b \(type), c \(type), d \(type),
                    FOREIGN KEY (\(columns.joined(separator: ", "))) REFERENCES p_\(type)_\(columns.count));
                \(index(of: name, type, columns, &random))

                """
            tables.append((name, columns, type == "text"))
        }
        try await withDoctorClient { client in
            try await client.runScript(script)
            let unindexed = Set(try await client.allFindings().findings(of: "K101").compactMap(\.entity))
            var counts = [true: 0, false: 0]
            try await client.withTransaction { _ in
                try await client.query("SET LOCAL enable_seqscan = off")
                for (name, columns, isText) in tables {
                    let isCovered = try await isCovered(name, columns, isText: isText, client)
                    counts[isCovered, default: 0] += 1
                    #expect(!unindexed.contains("public.\(name)") == isCovered, "\(name) \(columns) of\n\(script)")
                }
            }
            #expect((counts[true] ?? 0) > 10 && (counts[false] ?? 0) > 10)
        }
    }

    private func index(
        of table: String, _ type: String, _ key: [String], _ random: inout SeededGenerator
    ) -> String {
        var columns =
            (random.chance(70) ? key.shuffled(using: &random) : []) + random.some(["a", "b", "c", "d"], atMost: 3)
        columns = columns.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        if random.chance(20) { columns.shuffle(using: &random) }
        if random.chance(20) { columns = Array(columns.prefix(key.count)) }
        if random.chance(15) { return "CREATE INDEX ON \(table) USING hash (\(columns[0]));" }
        let isUnique = random.chance(20)
        if isUnique { columns = Array(columns.prefix(random.pick([1, 2]))) }
        let terms = columns.map { column in
            if random.chance(6) { return type == "text" ? "lower(\(column))" : "(\(column) + 0)" }
            let collation = type == "text" && random.chance(10) ? " COLLATE \"C\"" : ""
            let ops = type == "text" && random.chance(15) ? " text_pattern_ops" : ""
            return column + collation + ops + random.pick(["", "", " DESC", " NULLS FIRST"])
        }
        let others = ["a", "b", "c", "d"].filter { !columns.contains($0) }
        let include = !others.isEmpty && random.chance(20) ? " INCLUDE (\(random.pick(others)))" : ""
        let value = type == "text" ? "'m'" : "0"
        let condition = random.pick([
            "", "", "", "", "\(key[0]) IS NOT NULL", "NOT (\(key[0]) IS NULL)", "d IS NOT NULL", "\(key[0]) > \(value)",
            key.map { "\($0) IS NOT NULL" }.joined(separator: " AND "), "d > \(value) OR \(key[0]) IS NOT NULL",
            "d > \(value) AND \(key[0]) IS NOT NULL", "\(key[0]) IS NULL", "d > \(value) OR d IS NULL",
            "NOT (d IS NULL AND \(key[0]) IS NULL)",
            "NOT (\(key[0]) IS NULL OR \(key[key.count - 1]) IS NULL)", "(\(key[0]) IS NOT NULL) IS TRUE",
            "(d > \(value) OR \(key[0]) IS NOT NULL) AND \(key[key.count - 1]) IS NOT NULL",
            "ROW(\(key.joined(separator: ", "))) IS NOT NULL",
        ])
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX ON \(table) (\(terms.joined(separator: ", ")))\(include)"
            + (condition.isEmpty ? ";" : " WHERE \(condition);")
    }

    private func isCovered(_ table: String, _ columns: [String], isText: Bool, _ client: PostgresClient) async throws
        -> Bool
    {
        // A subquery's value is not known to the planner, as a parameter's is not.
        let wanted = columns.map {
            "\($0) = (SELECT o.\(isText ? "relname::text COLLATE \"default\"" : "oid::integer") FROM pg_class AS o LIMIT 1)"
        }
        let explained =
            "EXPLAIN (COSTS OFF) SELECT 1 FROM ONLY \(table) AS t WHERE \(wanted.joined(separator: " AND "))"
        let plan = try await client.query(SQL(unsafeRaw: explained)).map { try $0.decode(0, as: String.self) ?? "" }
        let conditions = plan.filter { $0.contains("Index Cond:") }.joined()
        let searched = Set(columns.filter { conditions.contains("(\($0) = ") })
        let keys = try await client.query(
            """
            SELECT pg_get_indexdef(i.indexrelid, n, true), i.indisunique FROM pg_index AS i
            CROSS JOIN generate_series(1, i.indnkeyatts) AS n
            WHERE i.indrelid = \(table)::text::regclass ORDER BY n
            """
        ).map { (try $0.decode(0, as: String.self) ?? "", try $0.decode(1, as: Bool.self) ?? false) }
        let names = keys.map(\.0)
        if searched == Set(columns), Set(names.prefix(columns.count)) == searched { return true }
        return keys.first?.1 == true && !names.isEmpty && Set(names).isSubset(of: searched)
    }
}
