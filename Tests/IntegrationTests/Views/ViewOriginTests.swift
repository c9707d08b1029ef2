import Kindred
import KindredTesting
import Testing

/// Which views take part in relationships, as the server's own definitions tell.
@Suite struct ViewOriginTests {
    private static let fixture: DatabaseFixture = """
        CREATE TABLE person (id int PRIMARY KEY, name text);
        CREATE TABLE email (id int PRIMARY KEY, address text, person_id int REFERENCES person);
        CREATE TABLE place (x int, y int, PRIMARY KEY (x, y));
        CREATE TABLE pin (id int PRIMARY KEY, x int, y int, FOREIGN KEY (x, y) REFERENCES place);
        CREATE VIEW below AS SELECT person_id AS p, id FROM email;
        """

    @Test(
        .database(Self.fixture),
        arguments: [
            ("SELECT id, person_id FROM email", ["person_id"]),
            ("SELECT person_id AS \"owner }\", address FROM email WHERE id > 3 ORDER BY id LIMIT 5", ["owner }"]),
            ("SELECT e.*, p.name FROM email AS e JOIN person AS p ON p.id = e.person_id", ["person_id"]),
            ("SELECT p.name, e.person_id FROM person AS p LEFT JOIN email AS e ON e.person_id = p.id", ["person_id"]),
            ("SELECT e.person_id FROM email AS e JOIN person AS p USING (id)", ["person_id"]),
            ("WITH x AS (SELECT person_id AS o FROM email) SELECT o FROM x", ["o"]),
            ("SELECT x.o FROM (SELECT person_id AS o FROM email LIMIT 3) AS x, person", ["o"]),
            ("SELECT person_id, count(*) FROM email GROUP BY person_id", ["person_id"]),
            ("SELECT DISTINCT person_id FROM email", ["person_id"]),
            ("SELECT person_id, row_number() OVER () FROM email", ["person_id"]),
            ("SELECT p AS q FROM below", ["q"]),
            ("SELECT a.p, b.id FROM below AS a, below AS b", ["p"]),
            ("SELECT a.person_id AS first, b.person_id AS second FROM email AS a, email AS b", ["first"]),
            (
                "SELECT x.person_id FROM person, LATERAL (SELECT * FROM email WHERE person_id = person.id) AS x",
                ["person_id"]
            ),
            ("SELECT x, y FROM pin", ["x", "y"]),
            ("SELECT y AS a, x AS b FROM (SELECT * FROM pin) AS p", ["b", "a"]),
            ("SELECT p.x, p.y FROM pin AS p JOIN place AS l ON l.x = p.x", ["x", "y"]),
            ("SELECT a.x, b.y FROM pin AS a, pin AS b", []),
            ("WITH c AS (SELECT * FROM pin) SELECT a.x, b.y FROM c AS a, c AS b", []),
            ("SELECT x FROM pin", []),
            ("SELECT person_id + 0 AS person_id FROM email", []),
            ("SELECT COALESCE(person_id, 1) AS person_id FROM email", []),
            ("SELECT person_id FROM email UNION ALL SELECT id FROM person", []),
            ("SELECT u.person_id FROM (SELECT person_id FROM email UNION SELECT 1) AS u", []),
            ("SELECT (SELECT person_id FROM email LIMIT 1) AS person_id", []),
            ("SELECT max(person_id) AS person_id FROM email", []),
            ("SELECT 1 AS person_id", []),
        ]
    )
    func columnsAreFollowed(_ definition: String, _ columns: [String]) async throws {
        let prepare: (PostgresClient) async throws -> Void = { client in
            try await client.runScript("CREATE VIEW v AS \(definition); CREATE MATERIALIZED VIEW m AS \(definition)")
            try await client.runScript("CREATE VIEW w AS SELECT * FROM v")
        }
        try await withSchema(prepare: prepare) { schema in
            for name in ["v", "m", "w"] {
                let found = try schema.entity(named: name).relationships.filter(\.holdsForeignKey)
                #expect(found.first { !schema.isView($0.destination) }?.columns ?? [] == columns, "\(name)")
            }
        }
    }

    @Test(.database(.sql(viewsSchema))) func viewsAndTablesOfASchemaLeadToEachOther() async throws {
        try await withSchema { schema in
            func ends(_ entity: String) throws -> [String] {
                try schema.entity(named: entity).relationships
                    .map { "\($0.name) \($0.kind) \($0.destination.name) \($0.inverse)" }
            }
            #expect(
                try ends("letterbox") == [
                    "active_person manyToOne active_person letterboxSet", "person manyToOne person letterboxSet",
                    "person_v manyToOne person_v letterboxSet",
                ])
            let ofCounts = try schema.entity(named: "email_count").relationships.map(\.name)
            #expect(ofCounts == ["active_person", "person", "person_v"])
            #expect(
                try ends("active_person") == [
                    "emailSet oneToMany email active_person", "email_countSet oneToMany email_count active_person",
                    "email_joinedSet oneToMany email_joined active_person",
                    "email_vSet oneToMany email_v active_person",
                    "letterboxSet oneToMany letterbox active_person",
                    "person_titleSet oneToMany person_title active_person",
                    "profile oneToOne profile active_person", "profile_v oneToOne profile_v active_person",
                    "titleSet manyToMany title active_personSet", "title_vSet manyToMany title_v active_personSet",
                ])
            #expect(try schema.entity(named: "letterbox").relationship(named: "person")?.columns == ["owner_id"])
            let codes = schema.diagnostics.map(\.code)
            #expect(codes == [.missingKey])
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE person (id int PRIMARY KEY);
            CREATE TABLE email (id int PRIMARY KEY, person_id int REFERENCES person);
            DO $$ BEGIN
                FOR i IN 1..101 LOOP
                    EXECUTE format('CREATE VIEW v%s AS SELECT id, person_id FROM email', i);
                END LOOP;
            END $$;
            COMMENT ON VIEW v7 IS '@kindred {"relationships": true} The one that counts';
            """))
    func moreThanAHundredViewsHaveToBeNamed() async throws {
        try await withSchema { schema in
            let names = try schema.entity(named: "person").relationships.map(\.name)
            #expect(names == ["emailSet", "v7Set"])
            let codes = schema.diagnostics.map(\.code)
            #expect(codes == [.manyViews])
            #expect(try schema.entity(named: "v7").comment == "The one that counts")
        }
    }

    @Test(.database(.sql(viewsSchema))) func aViewCostsNoRoundTrip() async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        let (_, recorder) = try await recordingStatements { _ = try await SchemaReader.read(from: client) }
        #expect(recorder.all.count { $0.sql.hasPrefix("BEGIN") } == 1)
        #expect(recorder.all.last?.sql == "COMMIT")
        await client.close()
    }
}

extension DatabaseSchema {
    fileprivate func isView(_ name: QualifiedName) -> Bool { self[name]?.kind != .table }
}
