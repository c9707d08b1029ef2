import Kindred
import KindredTesting
import Testing

/// Which views have a key, and which.
@Suite struct ViewKeyTests {
    private static let fixture: DatabaseFixture = """
        CREATE TABLE person (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL DEFAULT '-', "odd {name}" int,
            ":resorigtbl" int, "a[ \\" text);
        CREATE TABLE email (id int PRIMARY KEY, person_id int REFERENCES person, address text);
        CREATE TABLE event (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
        """

    @Test(
        .database(Self.fixture),
        arguments: [
            ("SELECT id, name FROM person", ["id"]),
            (
                #"SELECT name, id AS number, "odd {name}", ":resorigtbl", "a[ \", upper(name) FROM person WHERE id > 3"#,
                ["number"]
            ),
            ("SELECT id FROM person ORDER BY name LIMIT 5", ["id"]),
            ("SELECT DISTINCT id, name FROM person", ["id"]),
            ("WITH x AS (SELECT * FROM person) SELECT id FROM x", ["id"]),
            ("SELECT x.id FROM (SELECT id, name FROM person WHERE name > 'a') AS x", ["id"]),
            ("SELECT id, (SELECT count(*) FROM email WHERE person_id = p.id) FROM person AS p", ["id"]),
            ("SELECT id, row_number() OVER () FROM person", ["id"]),
            ("SELECT day, id FROM event", ["id", "day"]),
            ("SELECT id AS a, id AS b FROM person", ["a"]),
            ("SELECT name FROM person", []),
            ("SELECT id FROM event", []),
            ("SELECT id + 0 AS id FROM person", []),
            ("SELECT p.id, e.address FROM person AS p JOIN email AS e ON e.person_id = p.id", []),
            ("SELECT p.id FROM person AS p LEFT JOIN email AS e ON e.person_id = p.id", []),
            ("SELECT p.id FROM person AS p, generate_series(1, 2)", []),
            ("SELECT a.id FROM person AS a, person AS b", []),
            ("SELECT id, generate_series(1, 2) FROM person", []),
            ("SELECT id FROM person UNION ALL SELECT id FROM email", []),
            ("SELECT id FROM (SELECT id FROM person UNION ALL SELECT id FROM person) AS x", []),
            ("SELECT person_id FROM email GROUP BY person_id", []),
            ("WITH RECURSIVE x AS (SELECT id FROM person UNION ALL SELECT id FROM x) SELECT id FROM x", []),
            ("SELECT 1 AS id", []),
            ("VALUES (1), (2)", []),
            ("SELECT relname, oid FROM pg_class", []),
        ]
    )
    func keysAreInferredWhereRowsAreShownOnce(_ definition: String, _ key: [String]) async throws {
        let prepare: (PostgresClient) async throws -> Void = { client in
            try await client.runScript("CREATE VIEW v AS \(definition); CREATE MATERIALIZED VIEW m AS \(definition)")
            // A view over a view has its key.
            try await client.runScript("CREATE VIEW w AS SELECT * FROM v")
        }
        try await withSchema(prepare: prepare) { schema in
            for name in ["v", "m", "w"] {
                let view = try schema.entity(named: name)
                #expect(view.primaryKey == key, "\(name)")
                if key.isEmpty { #expect(view.isReadOnly) }
            }
            #expect(try schema.entity(named: "m").isReadOnly)
            #expect(try schema.entity(named: "m").kind == .materializedView)
        }
    }

    @Test(
        .database(
            Self.fixture
                + """
                CREATE VIEW plain AS SELECT id, name FROM person;
                CREATE VIEW limited AS SELECT id, name FROM person LIMIT 5;
                CREATE VIEW ruled AS SELECT id, name FROM person LIMIT 5;
                CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER t INSTEAD OF UPDATE ON ruled FOR EACH ROW EXECUTE FUNCTION nothing();
                """
        )
    )
    func viewsThatTakeChangesAreNotReadOnly() async throws {
        try await withSchema { schema in
            #expect(try schema.entity(named: "plain").isReadOnly == false)
            #expect(try schema.entity(named: "limited").isReadOnly)
            #expect(try schema.entity(named: "ruled").isReadOnly == false)
            let attributes = try schema.entity(named: "plain").attributes
            #expect(attributes.map(\.isNotNull) == [true, true])
            #expect(attributes.map(\.hasDefault) == [true, true])
            #expect(attributes.map(\.identity) == [.always, .none])
        }
    }

    @Test(
        .database(
            """
            CREATE TYPE pair AS (number int, word text);
            CREATE TABLE paired (id int PRIMARY KEY, pair pair, pairs pair[]);
            INSERT INTO paired VALUES (1, (1, 'a'), ARRAY[(2, 'b')::pair]);
            CREATE VIEW shown AS SELECT * FROM paired;
            """))
    func aViewShowsValuesAsItsTableDoes() async throws {
        try await withDatabase { database, context, other in
            let row = try await context.fetch("paired").one()
            let shown = try await context.fetch("shown").one()
            #expect(shown["pair"] == row["pair"] && shown["pairs"] == row["pairs"])
        }
    }
}
