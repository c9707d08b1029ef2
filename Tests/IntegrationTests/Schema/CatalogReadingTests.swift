import KindredPostgres
import KindredSchema
import KindredTesting
import Testing

/// The catalog is read as psql shows it.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE mood AS ENUM ('low', 'high');
            CREATE DOMAIN code AS varchar(8) NOT NULL DEFAULT 'x';
            CREATE TYPE place AS (x integer, y text);
            CREATE SCHEMA other;
            CREATE TABLE maker (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name varchar(40) UNIQUE, mood mood, codes code[],
                at place, long name DEFAULT 'n', twice integer GENERATED ALWAYS AS (1 + 1) STORED, CHECK (id > 0));
            CREATE TABLE other.thing (
                id integer, part integer, maker bigint NOT NULL REFERENCES maker ON DELETE CASCADE ON UPDATE SET NULL,
                above integer, above_part integer, PRIMARY KEY (id, part),
                FOREIGN KEY (above, above_part) REFERENCES other.thing MATCH FULL DEFERRABLE INITIALLY DEFERRED);
            CREATE UNIQUE INDEX ON other.thing (maker) INCLUDE (part) WHERE id > 7;
            CREATE TABLE log (day date NOT NULL, text text) PARTITION BY RANGE (day);
            CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
            CREATE TABLE parent (id integer PRIMARY KEY);
            CREATE TABLE child (more text) INHERITS (parent);
            CREATE TABLE grandchild () INHERITS (child);
            CREATE VIEW named AS SELECT id, name FROM maker;
            CREATE MATERIALIZED VIEW kept AS SELECT id FROM maker;
            ALTER TABLE log ENABLE ROW LEVEL SECURITY;
            COMMENT ON TABLE maker IS 'makes';
            COMMENT ON COLUMN maker.name IS 'of it';
            """)))
struct CatalogReadingTests {
    /// A part of the catalog, by SQL that is not the library's own, and as it was read.
    struct Part: Sendable, CustomTestStringConvertible {
        let name: String
        let sql: String
        let read: @Sendable (Catalog) -> [String]

        var testDescription: String { name }
    }

    private static func list(_ numbers: [Int16]) -> String {
        "{\(numbers.map(String.init).joined(separator: ","))}"
    }

    private static func letter(_ byte: UInt8) -> String { byte == 0 ? "" : String(UnicodeScalar(byte)) }

    private static let own = "relnamespace IN ('public'::regnamespace, 'other'::regnamespace)"

    static let parts = [
        Part(
            name: "relations",
            sql: """
                SELECT c.oid, relnamespace::regnamespace, relname, relkind, relispartition::text, relrowsecurity::text,
                    CASE relname WHEN 'parent' THEN ARRAY['child'::regclass, 'grandchild'::regclass]::oid[]
                        WHEN 'child' THEN ARRAY['grandchild'::regclass]::oid[] ELSE '{}' END
                FROM pg_class AS c WHERE \(own) AND relkind IN ('r', 'p', 'v', 'm')
                """,
            read: { catalog in
                catalog.relations.map { row in
                    let children = row.children.sorted().map(String.init).joined(separator: ",")
                    return "\(row.oid) \(row.schema) \(row.name) \(letter(row.kind)) \(row.isPartition) "
                        + "\(row.obstacles.contains(.policies)) {\(children)}"
                }
            }),
        Part(
            name: "columns",
            sql: """
                SELECT attrelid, attnum, attname, format_type(atttypid, atttypmod), attnotnull::text, atthasdef::text,
                    attidentity, (attgenerated <> '')::text
                FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
                WHERE \(own) AND relkind IN ('r', 'p', 'v', 'm', 'c') AND NOT relispartition AND attnum > 0
                """,
            read: { catalog in
                catalog.columns.map { row in
                    "\(row.relation) \(row.number) \(row.name) \(row.typeName) \(row.isNotNull) \(row.hasDefault) "
                        + "\(letter(row.identity)) \(row.isGenerated)"
                }
            }),
        Part(
            name: "constraints",
            sql: """
                SELECT oid, conrelid, conname, contype, conkey, convalidated::text, condeferrable::text,
                    (contype = 'f' AND confmatchtype = 'f')::text, CASE contype WHEN 'f' THEN confrelid ELSE 0 END,
                    COALESCE(confkey, '{}'), CASE contype WHEN 'f' THEN concat(confdeltype, confupdtype) ELSE 'aa' END
                FROM pg_constraint WHERE connamespace IN ('public'::regnamespace, 'other'::regnamespace)
                    AND contype IN ('p', 'u', 'f', 'c') AND conparentid = 0 AND conrelid <> 0
                """,
            read: { catalog in
                catalog.constraints.map { row in
                    "\(row.oid) \(row.relation) \(row.name) \(letter(row.kind.rawValue)) \(list(row.columns)) "
                        + "\(row.isValidated) \(row.isDeferrable) \(row.isMatchFull) \(row.target) "
                        + "\(list(row.targetColumns)) \(letter(row.deleteAction))\(letter(row.updateAction))"
                }
            }),
        Part(
            name: "indexes",
            sql: """
                SELECT indrelid, indnkeyatts, '{' || replace(indkey::text, ' ', ',') || '}',
                    COALESCE(pg_get_expr(indpred, indrelid), '-')
                FROM pg_index JOIN pg_class AS c ON c.oid = indrelid WHERE \(own) AND indisunique AND NOT indisprimary
                """,
            read: { catalog in
                catalog.indexes.map { "\($0.relation) \($0.keyCount) \(list($0.columns)) \($0.predicate ?? "-")" }
            }),
        Part(
            name: "types",
            sql: """
                SELECT oid, typname, typtype, typcategory, typbasetype, typtypmod, typelem, typarray, typrelid,
                    typnotnull::text, (typdefault IS NOT NULL)::text
                FROM pg_type WHERE typname IN ('mood', '_mood', 'code', '_code', 'place', '_place')
                """,
            read: { catalog in
                catalog.types.map { row in
                    "\(row.oid) \(row.name) \(letter(row.kind)) \(letter(row.category)) \(row.base) \(row.baseModifier) "
                        + "\(row.element) \(row.array) \(row.relation) \(row.isNotNull) \(row.hasDefault)"
                }
            }),
        Part(
            name: "labels of enums", sql: "SELECT enumtypid, enumsortorder, enumlabel FROM pg_enum",
            read: { catalog in catalog.enumLabels.map { "\($0.type) \(Int($0.position)) \($0.label)" } }),
        Part(
            name: "comments",
            sql: "SELECT objoid, objsubid, description FROM pg_description WHERE objoid = 'maker'::regclass",
            read: { catalog in
                catalog.comments.map { comment in
                    switch comment.object {
                    case .relation(let relation): "\(relation) 0 \(comment.text)"
                    case .column(let relation, let number): "\(relation) \(number) \(comment.text)"
                    case .constraint(let constraint, _, _): "\(constraint) 0 \(comment.text)"
                    }
                }
            }),
    ]

    @Test(.enabled { await Psql.isInstalled }) func itIsWhatPsqlShows() async throws {
        let psql = try await Psql()
        try await withClient { client in
            let catalog = try await SchemaReader.readCatalog(from: client)
            for part in Self.parts {
                let expected = try await psql.run(part.sql).sorted()
                #expect(!expected.isEmpty && part.read(catalog).sorted() == expected, "\(part.name)")
            }
        }
    }

    // MARK: Names

    /// Another order, and columns that a newer server may have, change nothing.
    @Test func cellsAreReadByName() async throws {
        try await withClient { client in
            for columns in [
                "7::oid AS oid, 'a'::name AS name, true AS flag, '{1,2}'::int2[] AS numbers",
                "'{1,2}'::int2[] AS numbers, 'what'::text AS later, true AS flag, 7::oid AS oid, 'a'::text AS name",
            ] {
                let rows = try await rows("SELECT \(columns) FROM generate_series(1, 2)", of: client)
                let found: [String] = try rows.map { row in
                    let later: String? = row[ifThere: "later"]
                    let (name, flag): (String, Bool) = (row["name"], row["flag"])
                    return "\(row["oid"] as UInt32) \(name) \(flag) \(row["numbers"] as [Int16]) \(later ?? "-")"
                }
                let end = columns.contains("later") ? "what" : "-"
                #expect(found == ["7 a true [1, 2] \(end)", "7 a true [1, 2] \(end)"])
            }
        }
    }

    @Test func anAnswerOfAnotherShapeIsAnErrorThatNamesItsSubject() async throws {
        try await withClient { client in
            let faults: [(columns: String, read: (inout CatalogRow) -> Void)] = [
                ("1 AS other", { _ = $0["name"] as String? }), ("NULL::text AS name", { _ = $0["name"] as String }),
                ("1::int8 AS name", { _ = $0["name"] as UInt32 }), ("1::int2 AS name", { _ = $0["name"] as Bool }),
                ("'{a,NULL}'::text[] AS name", { _ = $0["name"] as [String] }),
                ("'{{1},{2}}'::int2[] AS name", { _ = $0["name"] as [Int16] }),
                ("'{1}'::int4[] AS name", { _ = $0["name"] as [Int16] }),
            ]
            for (columns, read) in faults {
                let rows = try await rows("SELECT \(columns)", of: client)
                let error = #expect(throws: SchemaError.self, "\(columns)") { try rows.forEach(read) }
                #expect(error?.code == .unreadableCatalog && error?.message.contains("about things ") == true)
            }
            // An expected NULL is no fault.
            let rows = try await rows("SELECT NULL::text AS text, NULL::bool AS flag, NULL::oid[] AS list", of: client)
            try rows.forEach { row in
                let (text, flag, list): (String?, Bool, [UInt32]) = (row["text"], row["flag"], row["list"])
                #expect(text == nil && !flag && list.isEmpty)
            }
        }
    }

    private func rows(_ query: String, of client: PostgresClient) async throws -> CatalogRows {
        let statement = Statement(text: StatementText(query), resultFormat: .binary)
        return CatalogRows(try await client.execute(statement), about: "things")
    }

    // MARK: Compilation

    /// The server compiles none of the catalog's queries; the program's own are compiled as before.
    @Test(arguments: ["on", "off"]) func compilationIsAsBeforeInAProgramsTransaction(_ jit: String) async throws {
        try await withClient { client in
            try await client.withTransaction { _ in
                try await client.query("SELECT set_config('jit', \(jit), true)")
                let during = [
                    "SELECT 1 AS one WHERE \(CatalogQueries.withoutCompiler)",
                    "SELECT pg_catalog.current_setting('jit') AS jit",
                ].map { Statement(text: StatementText(catalog: $0), resultFormat: .binary) }
                var answers = try await client.readCatalog(during)
                let numbers: [Int32] = try answers.rows("numbers").map { $0["one"] }
                let settings: [String] = try answers.rows("settings").map { $0["jit"] }
                #expect(numbers == [1] && settings == ["off"])
                #expect(try await client.query("SHOW jit")[0][0] == .string(jit))
                let (_, recorder) = try await recordingStatements {
                    _ = try await SchemaReader.read(from: client)
                    _ = try await SchemaReader.read(["public"], besides: [], from: client)
                }
                // Thirteen queries and the types; the scope; thirteen queries and three for tenants: each with a statement at its end.
                let (model, scope, part) = (15, 2, 17)
                #expect(recorder.statements.count == model + scope + part)
                #expect(try await client.query("SHOW jit")[0][0] == .string(jit))
            }
        }
    }

    @Test func readingAloneSendsNothingMore() async throws {
        try await withClient { client in
            let (_, whole) = try await recordingStatements { _ = try await SchemaReader.read(from: client) }
            // Thirteen queries and the types, with BEGIN and COMMIT.
            #expect(whole.statements.count == 16)
            let (_, part) = try await recordingStatements {
                _ = try await SchemaReader.read(["public"], besides: [], from: client)
            }
            // The schemas, the queries, and the further needs of tenants.
            #expect(part.statements.count == 17)
        }
    }

    private func withClient(_ body: (PostgresClient) async throws -> Void) async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        try await body(client)
        await client.close()
    }
}
