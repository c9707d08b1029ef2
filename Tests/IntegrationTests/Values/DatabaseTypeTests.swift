import Kindred
import KindredTesting
import TestSupport
import Testing

/// The types that a database makes for itself, and types of extensions.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok', 'very "happy", {so}');
            CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
            CREATE TYPE address AS (street text, "Number" percent, feeling mood, tags text[]);
            CREATE TYPE person AS (name text, home address, others address[], during tstzrange);
            CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
            """)))
struct DatabaseTypeTests {
    private func run(
        _ client: PostgresClient, _ name: String, hasSameText: Bool = true, isComposite: Bool = false,
        _ make: @escaping (inout SeededGenerator) throws -> PostgresValue
    ) async throws {
        let type = try await type(name, client)
        let trip = RoundTrip(
            client: client, name: name, type: type, hasSameText: hasSameText, isComposite: isComposite, make: make)
        try await trip.run(seed: 1)
        try await trip.runArrays(seed: 2)
    }

    private func type(_ name: String, _ client: PostgresClient) async throws -> PostgresDataType {
        let oid = try await client.query("SELECT \(name)::regtype::oid")[0].decode(0, as: UInt32.self)
        return PostgresDataType(rawValue: try #require(oid))
    }

    /// Of a base type the category says nothing about its binary form, or whether it has one.
    @Test func typesOfTheTextCategoryAreReadAsTextUnlessTheyAreSentAsText() async throws {
        try await withDatabase { database, _, other in
            for (name, binary) in [("silent", ""), ("plain", ", SEND = plain_send, RECEIVE = plain_recv")] {
                let binaryFunctions = """
                    CREATE FUNCTION plain_recv(internal) RETURNS plain AS 'textrecv' LANGUAGE internal IMMUTABLE STRICT;
                    CREATE FUNCTION plain_send(plain) RETURNS bytea AS 'textsend' LANGUAGE internal IMMUTABLE STRICT;
                    """
                try await other.runScript(
                    """
                    CREATE TYPE \(name);
                    CREATE FUNCTION \(name)_in(cstring) RETURNS \(name) AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
                    CREATE FUNCTION \(name)_out(\(name)) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
                    \(binary.isEmpty ? "" : binaryFunctions)
                    CREATE TYPE \(name) (INPUT = \(name)_in, OUTPUT = \(name)_out, CATEGORY = 'S'\(binary));
                    """)
            }
            try await other.runScript(
                """
                CREATE TABLE package (id int PRIMARY KEY, version silent, versions silent[], name plain);
                INSERT INTO package VALUES (1, '1.2', '{1.2,NULL}', 'a');
                """)
            try await database.refreshSchema()
            let context = database.makeContext()
            let package = try await context.fetch("package").one()
            #expect(package["version"] == "1.2" && package["versions"] == "{1.2,NULL}" && package["name"] == "a")
            package["version"] = "1.3"
            package["versions"] = "{1.3}"
            package["name"] = "b"
            try await context.save()
            try await context.create("package", ["id": 2, "version": "2", "versions": "{2}", "name": "c"])
            let stored = try await other.query("SELECT (p.*)::text FROM package AS p ORDER BY id")
            #expect(try stored.map { try $0.decode(0, as: String.self) } == ["(1,1.3,{1.3},b)", "(2,2,{2},c)"])
        }
    }

    private static func mood(_ generator: inout SeededGenerator) -> PostgresValue {
        .string(generator.pick(["sad", "ok", "very \"happy\", {so}"]))
    }

    private static func address(_ generator: inout SeededGenerator, _ type: PostgresDataType) -> PostgresValue {
        func field(_ name: String, _ value: PostgresValue) -> PostgresComposite.Field {
            PostgresComposite.Field(name: name, value: generator.once(in: 4) ? nil : value)
        }
        let number = PostgresValue.integer(Int64.random(in: 0...100, using: &generator))
        let street = RandomValue.value(of: .text, &generator)
        let tags = PostgresValue.array(RandomValue.array(of: .text, &generator))
        let feeling = mood(&generator)
        return .composite(
            PostgresComposite(
                fields: [
                    field("street", street), field("Number", number), field("feeling", feeling), field("tags", tags),
                ], dataType: type))
    }

    @Test func enumsAndDomains() async throws {
        try await withRoundTripClient { client in
            try await client.loadTypes()
            try await run(client, "mood") { Self.mood(&$0) }
            try await run(client, "percent") { .integer(Int64.random(in: 0...100, using: &$0)) }
        }
    }

    @Test func compositesInComposites() async throws {
        try await withRoundTripClient { client in
            try await client.loadTypes()
            let (address, person) = (try await type("address", client), try await type("person", client))
            try await run(client, "address", isComposite: true) { Self.address(&$0, address) }
            try await run(client, "person", isComposite: true) { generator in
                let home = Self.address(&generator, address)
                let others = RandomValue.array(of: address, &generator) { Self.address(&$0, address) }
                let during = RandomValue.value(of: .tstzrange, &generator)
                return .composite(
                    PostgresComposite(
                        fields: [
                            .init(name: "name", value: RandomValue.value(of: .text, &generator)),
                            .init(name: "home", value: home), .init(name: "others", value: .array(others)),
                            .init(name: "during", value: during),
                        ], dataType: person))
            }
        }
    }

    @Test func rangesOfTheDatabasesOwn() async throws {
        try await withRoundTripClient { client in
            try await client.loadTypes()
            try await run(client, "textrange") { generator in
                while true {
                    let bounds = (RandomValue.text(&generator), RandomValue.text(&generator))
                    if bounds.0.utf8.lexicographicallyPrecedes(bounds.1.utf8) {
                        return .range(
                            RandomValue.range(.string(bounds.0), .string(bounds.1), isDiscrete: false, &generator))
                    }
                }
            }
        }
    }

    @Test(arguments: ["hstore", "ltree", "citext", "vector"])
    func typesOfExtensions(name: String) async throws {
        try await withRoundTripClient { client in
            let available = try await client.query("SELECT 1 FROM pg_available_extensions WHERE name = \(name)")
            if available.isEmpty { return }
            switch name {
            case "hstore": try await client.query("CREATE EXTENSION hstore")
            case "ltree": try await client.query("CREATE EXTENSION ltree")
            case "citext": try await client.query("CREATE EXTENSION citext")
            default: try await client.query("CREATE EXTENSION vector")
            }
            try await client.loadTypes()
            try await run(client, name, hasSameText: name != "vector") { generator in
                switch name {
                case "hstore": return .hstore(RandomValue.hstore(&generator))
                case "ltree":
                    let labels = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                        generator.pick(["Top", "a_1", "B"])
                    }
                    return .string(labels.joined(separator: "."))
                case "vector":
                    let numbers = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                        RandomValue.float(&generator)
                    }
                    return .vector(try #require(PostgresVector(numbers.map { $0.isFinite ? $0 : 1 })))
                default: return RandomValue.value(of: .text, &generator)
                }
            }
        }
    }

    @Test func rowsThatAStatementMakesAreRead() async throws {
        try await withRoundTripClient { client in
            let row = try await client.query(
                "SELECT ROW(1, 'a', NULL, ARRAY[1, 2], '10.0.0.1'::inet, ROW(2.5))")[0]
            let composite = try #require(try row.decode(0, as: PostgresComposite.self))
            let inner = PostgresComposite(fields: [.init(value: .numeric(try #require(PostgresNumeric("2.5"))))])
            let inet = try #require(PostgresInet("10.0.0.1"))
            let array = PostgresArray(elementType: .int4, elements: [1, 2])
            #expect(
                composite.fields.map(\.value) == [1, "a", nil, .array(array), .inet(inet), .composite(inner)])
        }
    }

    @Test func swiftValuesGoBothWays() async throws {
        try await withRoundTripClient { client in
            try await client.loadTypes()
            let home: PostgresComposite = ["street": "Main \"St\", 5", "Number": 5, "feeling": "ok", "tags": nil]
            let row = try await client.query(
                """
                SELECT \(home)::address AS home, \(PostgresRange(1..<5))::int4range AS numbers,
                    \([PostgresRange(1..<5)])::int8range[] AS list,
                    \(PostgresMultirange([PostgresRange(1...2), PostgresRange(7...)]))::int4multirange AS several
                """)[0]
            #expect(try row.decode("home", as: PostgresComposite.self) == home)
            #expect(try row.decode("numbers", as: PostgresRange<Int>.self) == PostgresRange(1..<5))
            #expect(try row.decode("list", as: [PostgresRange<Int>].self) == [PostgresRange(1..<5)])
            let several = try row.decode("several", as: PostgresMultirange<Int>.self)
            #expect(several?.ranges == [PostgresRange(1..<3), PostgresRange(7...)])
            #expect(try row.decode("home", as: String.self) == "(\"Main \"\"St\"\", 5\",5,ok,)")
        }
    }

    @Test func aSearchWithoutWordsIsOneToo() async throws {
        try await withRoundTripClient { client in
            let row = try await client.query(
                "SELECT \(PostgresTSQuery.empty), \([PostgresTSQuery.empty]), to_tsvector('a b') @@ 'b'::tsquery")[0]
            #expect(try row[0] == .tsQuery(.empty))
            #expect(try row.decode(1, as: [PostgresTSQuery].self) == [.empty])
        }
    }

    @Test func aCompositeHasTheTypesFields() async throws {
        try await withRoundTripClient { client in
            try await client.loadTypes()
            let type = try await type("address", client)
            for fields in [["street"], ["street", "number", "feeling", "tags"]] {
                let composite = PostgresComposite(fields: fields.map { .init(name: $0, value: nil) }, dataType: type)
                await #expect(throws: PostgresError.self) { () async throws in
                    try await client.query("SELECT \(composite)")
                }
            }
        }
    }

    @Test func anUnknownTypeIsItsTextUntilItsTypesAreLoaded() async throws {
        try await withRoundTripClient { client in
            let sql: SQL = "SELECT 'ok'::mood"
            guard case .other(let raw)? = try await client.query(sql)[0][0] else {
                Issue.record("an unknown type was read")
                return
            }
            #expect(raw.text == "ok" && raw.bytes == Array("ok".utf8))
            #expect(try await client.query(sql)[0].decode(0, as: String.self) == "ok")
            try await client.loadTypes()
            #expect(try await client.query(sql)[0][0] == "ok")
        }
    }

    @Test func aTypeIsReadAndWrittenByTheUsersCode() async throws {
        struct InvalidPosition: Error {}
        let codec = PostgresCodec { raw in
            let parts = (raw.text ?? "").split(separator: "/").compactMap { Int64($0, radix: 16) }
            if parts.count == 2 { return .integer(parts[0] << 32 | parts[1]) }
            guard raw.format == .binary, raw.bytes.count == 8 else { throw InvalidPosition() }
            return .integer(raw.bytes.reduce(0) { $0 << 8 | Int64($1) })
        } encode: { value in
            guard case .integer(let position) = value else { throw InvalidPosition() }
            return (0..<8).reversed().map { UInt8(truncatingIfNeeded: position >> (8 * $0)) }
        }
        try await withRoundTripClient { client in
            #expect(try await client.query("SELECT '1/AB'::pg_lsn")[0].decode(0, as: String.self) == "1/AB")
            try await client.register(codec, forTypeNamed: "pg_lsn")
            #expect(try await client.query("SELECT '1/AB'::pg_lsn")[0].decode(0, as: Int.self) == 0x1_0000_00AB)
            #expect(try await client.query("SELECT '{1/AB}'::pg_lsn[]")[0].decode(0, as: [Int].self) == [0x1_0000_00AB])
            try await client.loadTypes()
            let type = try await type("pg_lsn", client)
            let position = PostgresArray(elementType: type, elements: [0x1_0000_00AB, nil])
            let arrays = try await self.type("pg_lsn[]", client)
            var bindings = Bindings()
            try bindings.append(.array(position), as: arrays, types: client.types)
            let statement = Statement(text: StatementText("SELECT $1, $1::text"), bindings: bindings)
            let row = try await client.execute(statement)[0]
            #expect(try row[0] == .array(position) && row[1] == "{1/AB,NULL}")
            let error = await #expect(throws: PostgresError.self) {
                try await client.register(codec, forTypeNamed: "no_such_type")
            }
            #expect(error?.code == .invalidParameter)
        }
    }
}
