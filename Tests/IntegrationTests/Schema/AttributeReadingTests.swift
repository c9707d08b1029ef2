import Kindred
import KindredTesting
import Testing

/// The catalog's facts about columns and types.
@Suite struct AttributeReadingTests {
    @Test(
        .database(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
            ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy';
            CREATE DOMAIN short AS varchar(30) NOT NULL DEFAULT 'x';
            CREATE DOMAIN shorter AS short CHECK (length(VALUE) < 10);
            CREATE DOMAIN feeling AS mood;
            CREATE TYPE point3 AS (x real, "y z" double precision);
            """
        )
    )
    func columnsTellAllThatIsKnown() async throws {
        try await withSchema(prepare: { client in
            // An enum's new label cannot be used in the transaction that adds it.
            try await client.runScript(
                """
                CREATE TABLE kinds (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    m mood DEFAULT 'fine', ms mood[] NOT NULL, f feeling,
                    s short, t shorter,
                    g int GENERATED ALWAYS AS (1) STORED,
                    n numeric(8, 3), v varchar(5)[], c char, b bit(3),
                    day date DEFAULT now(), at timestamp(3) with time zone, p point3, ps point3[], gone int, "Last" int2);
                ALTER TABLE kinds DROP COLUMN gone;
                """
            )
        }) { schema in
            let kinds = try schema.entity(named: "kinds")
            #expect(
                kinds.attributes.map(\.description) == [
                    "id bigint", "m mood", "ms mood[]", "f feeling", "s short", "t shorter", "g integer",
                    "n numeric(8,3)",
                    "v character varying(5)[]", "c character(1)", "b bit(3)", "day date",
                    "at timestamp(3) with time zone", "p point3", "ps point3[]", "Last smallint",
                ]
            )
            func attribute(_ name: String) throws -> Attribute { try #require(kinds.attribute(named: name)) }
            #expect(try attribute("id").identity == .always && attribute("id").hasDefault && attribute("id").isNotNull)
            let labels = ["sad", "ok", "fine", "happy"]
            #expect(try attribute("m").enumLabels == labels && attribute("m").hasDefault)
            #expect(try attribute("ms").enumLabels == labels && attribute("ms").isNotNull)
            #expect(try attribute("ms").elementType == attribute("m").type)
            #expect(try attribute("f").enumLabels == labels && attribute("f").baseType == attribute("m").type)
            #expect(try attribute("f").domain == QualifiedName(schema: "public", name: "feeling"))
            for name in ["s", "t"] {
                let short = try attribute(name)
                #expect(short.baseType == .varchar && short.maximumLength == 30)
                // A default in a domain below another is that of the one above too.
                #expect(short.isNotNull && short.hasDefault)
            }
            #expect(try attribute("g").isGenerated && !attribute("g").hasDefault)
            #expect(try attribute("n").numericPrecision == 8 && attribute("n").numericScale == 3)
            #expect(try attribute("v").elementType == .varchar && attribute("v").maximumLength == 5)
            #expect(try attribute("c").maximumLength == 1 && attribute("b").maximumLength == 3)
            #expect(try attribute("day").hasDefault && !attribute("day").isNotNull)
            #expect(try attribute("ps").elementType == attribute("p").type)
            #expect(try attribute("Last").number == 17)
            #expect(schema.types.map(\.name.name) == ["feeling", "mood", "point3", "short", "shorter"])
            guard case .composite(let fields) = schema.types[2].definition else {
                Issue.record("point3 is no composite type")
                return
            }
            #expect(fields.map(\.description) == ["x real", "y z double precision"])
        }
    }

    @Test(
        .database(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE DOMAIN short AS text;
            CREATE DOMAIN shorter AS short;
            CREATE TABLE t (m mood, ms mood[], s short, t shorter, ss short[]);
            INSERT INTO t VALUES ('ok', '{sad,NULL}', 'a', 'b', '{c}');
            """
        )
    )
    func clientLearnsTheDatabasesTypes() async throws {
        let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
        _ = try await SchemaReader.read(from: client)
        let row = try await client.query("SELECT m, ms, s, t FROM t")[0]
        #expect(try row[0] == .string("ok"))
        #expect(try row["s"] == .string("a") && row["t"] == .string("b"))
        guard case .array(let moods)? = try row[1] else {
            Issue.record("no array")
            return
        }
        #expect(moods.elements == [.string("sad"), nil])
        await client.close()
    }

    @Test(.database("CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE r (id int PRIMARY KEY, p int, q int[])"))
    func newerServersTellMore() async throws {
        try await withSchema(prepare: { client in
            let version = try await client.query("SELECT current_setting('server_version_num')::int")[0][0]
            guard case .integer(let number)? = version else { return }
            if number >= 150_000 {
                try await client.runScript(
                    "ALTER TABLE r ADD FOREIGN KEY (p) REFERENCES parent ON DELETE SET NULL (p)"
                )
            } else {
                try await client.runScript("ALTER TABLE r ADD FOREIGN KEY (p) REFERENCES parent ON DELETE SET NULL")
            }
            if number >= 180_000 {
                try await client.runScript(
                    """
                    ALTER TABLE r ADD o int REFERENCES parent NOT ENFORCED, ADD v int GENERATED ALWAYS AS (id + 1) VIRTUAL;
                    CREATE TABLE room (id int4range, at tstzrange, PRIMARY KEY (id, at WITHOUT OVERLAPS));
                    CREATE TABLE lease (
                        id int PRIMARY KEY, room int4range, at tstzrange,
                        FOREIGN KEY (room, PERIOD at) REFERENCES room (id, PERIOD at));
                    """
                )
            }
        }) { schema in
            let r = try schema.entity(named: "r")
            // A closure inside the macro and one behind it would be taken for the same by the compiler (6.3.1).
            func held(by column: String) -> Relationship? { r.relationships.first { $0.columns == [column] } }
            let byP = try #require(held(by: "p"))
            #expect(byP.isEnforced && byP.clearedColumns == ["p"])
            guard let unenforced = held(by: "o") else { return }
            #expect(!unenforced.isEnforced)
            #expect(r.attribute(named: "v")?.isGenerated == true)
            #expect(try schema.entity(named: "room").primaryKey == ["id", "at"])
            #expect(try schema.entity(named: "lease").relationships.isEmpty)
            #expect(schema.diagnostics.map(\.code) == [.periodForeignKey])
        }
    }

    @Test(
        .database(
            """
            CREATE DOMAIN short AS text NOT NULL;
            CREATE TABLE person (id int PRIMARY KEY, name short);
            CREATE TABLE email (id int PRIMARY KEY, person_id int REFERENCES person);
            CREATE VIEW shown AS SELECT * FROM person;
            CREATE VIEW joined AS SELECT e.id, p.name FROM email AS e LEFT JOIN person AS p ON p.id = e.person_id;
            CREATE MATERIALIZED VIEW stored AS SELECT * FROM joined;
            """))
    func whatMayBeNullIsNotCalledNotNull() async throws {
        try await withSchema(prepare: { client in
            let version = try await client.query("SELECT current_setting('server_version_num')::int")[0][0]
            guard case .integer(let number)? = version, number >= 180_000 else { return }
            try await client.runScript("ALTER TABLE email ADD CONSTRAINT late NOT NULL person_id NOT VALID")
        }) { (schema: DatabaseSchema) async throws in
            func isNotNull(_ entity: String, _ attribute: String) throws -> Bool? {
                try schema.entity(named: entity).attribute(named: attribute)?.isNotNull
            }
            #expect(try isNotNull("person", "name") == true)
            #expect(try isNotNull("shown", "name") == true)
            #expect(try isNotNull("joined", "name") == false)
            #expect(try isNotNull("stored", "name") == false)
            #expect(try isNotNull("email", "person_id") == false)
            #expect(try isNotNull("email", "id") == true)
        }
    }
}
