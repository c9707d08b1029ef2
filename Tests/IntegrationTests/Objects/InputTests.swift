import Kindred
import KindredTesting
import Testing

/// Names, keys and requests at the edge of what there is, through the database.
@Suite struct InputTests {
    private static let names =
        [
            " ", "\"", "\"\"", "'", "\\", ";", "--", "/*", "*/", "$1", "?", "%s", ":name", ".", "a.b", "a\nb", "\t",
            "\u{1}",
            "\u{7F}", "\u{85}", "select", "user", "order", "table", "Name", "name", "NAME", "😀", "e\u{301}", "\u{e9}",
            "\u{202E}x", "\u{200D}", "İ", "ı", "1st", "$", "pg_x", "t0", "t1", "new", "place", "count", "SELF", "ANY",
            "nil",
            "self", "id", "%@",
            String(repeating: "x", count: 63), String(repeating: "é", count: 31),
        ]

    @Test(.database) func everyNameIsAName() async throws {
        try await withDatabase { database, _, other in
            for name in Self.names {
                try await other.query(
                    """
                    CREATE TABLE \(identifier: name) (
                        key integer PRIMARY KEY, \(identifier: name) text UNIQUE,
                        parent integer REFERENCES \(identifier: name))
                    """)
            }
            try await database.refreshSchema()
            let context = database.makeContext()
            for name in Self.names {
                let exact = "public.\(name)"
                let first = try await context.create(exact, ["key": 1, name: "a"])
                let second = try context.add(exact, ["key": 2, name: "b", "parent": 1])
                try await context.save()
                try await first.setValue("c", forKey: name)
                second[name] = .string(name)
                try await context.save()
                let all = try context.fetch(exact)
                // As a list, the dots in it are its own.
                #expect(try await all.where("%K == %@", [name], name).one() === second, "\(name)")
                #expect(try await all.where("%K IN %@", [name], ["c"]).count() == 1, "\(name)")
                if !name.contains(".") {
                    #expect(try await all.sorted(name).all().count == 2, "\(name)")
                    #expect(try await all.group(by: name, aggregates: .count).all().count == 2, "\(name)")
                }
                let relationship = try #require(second.entity.relationships.first { !$0.isToMany })
                #expect(try await second.object(forKey: relationship.name) === first, "\(name)")
                let uri = try #require(first.objectID).uri
                #expect(try await database.makeContext().get(uri: uri)[name] == "c", "\(name)")
                #expect(try await all.where("%K == %@", [name], name).delete() == 1 && second.isDeleted, "\(name)")
            }
        }
    }

    private static let keys = """
        CREATE TABLE by_text (id text PRIMARY KEY);
        CREATE TABLE by_number (id bigint PRIMARY KEY);
        CREATE TABLE by_uuid (id uuid PRIMARY KEY);
        CREATE TABLE by_double (id float8 PRIMARY KEY);
        CREATE TABLE by_numeric (id numeric PRIMARY KEY);
        CREATE TABLE by_time (id timestamptz PRIMARY KEY);
        CREATE TABLE by_bytes (id bytea PRIMARY KEY);
        CREATE TABLE by_two (one text, two text, PRIMARY KEY (one, two));
        """

    @Test(.database(.sql(keys))) func everyKeyFindsItsOwnRow() async throws {
        let keys: [(String, [String])] = [
            (
                "by_text",
                [
                    "", " ", "a", "A", "a ", "e\u{301}", "\u{e9}", "1,2", "a&b=c", "%00", "%2F", "?", "#", "/", "//",
                    "=", "\n",
                    "\u{202E}x", "😀", "NULL", "nil", "\u{FFFD}", "\u{10FFFF}", String(repeating: "k", count: 2_600),
                ]
            ),
            ("by_number", ["0", "-1", "9223372036854775807", "-9223372036854775808", "2147483648"]),
            ("by_uuid", ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
            ("by_double", ["NaN", "0", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e308", "0.1"]),
            ("by_numeric", ["NaN", "0", "1.00", "1e20", "-1e-20", String(repeating: "9", count: 300)]),
            (
                "by_time",
                [
                    "infinity", "-infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00",
                    "1970-01-01 00:00:00+00",
                ]
            ),
            ("by_bytes", ["\\x", "\\x00", "\\xff", "\\x2c"]),
        ]
        try await withDatabase { database, context, other in
            for (entity, texts) in keys {
                for text in texts {
                    try await other.query(
                        "INSERT INTO \(identifier: entity) SELECT \(text)::text::\(identifier: typeName(entity))")
                }
                let objects = try await context.fetch(entity).all()
                #expect(
                    objects.count == texts.count && Set(objects.compactMap(\.objectID)).count == texts.count,
                    "\(entity)")
                let fresh = database.makeContext()
                for object in objects {
                    let id = try #require(object.objectID)
                    #expect(try await context.get(uri: id.uri) === object, "\(id.uri)")
                    let found = try await fresh.get(uri: id.uri)
                    #expect(found["id"] == object["id"], "\(id.uri)")
                    #expect(try await fresh.fetch(entity).where("id == %@", object["id"]).one() === found, "\(id.uri)")
                }
            }
            // The same characters, divided otherwise.
            let pairs = [
                ("1,2", "3"), ("1", "2,3"), ("", "a"), ("a", ""), ("a", "b"), ("b", "a"), ("a&", "b"), ("a", "&b"),
            ]
            for (one, two) in pairs { try context.add("by_two", ["one": one, "two": two]) }
            try await context.save()
            let objects = try await context.fetch("by_two").all()
            #expect(Set(objects.compactMap(\.objectID)).count == pairs.count)
            for object in objects {
                let uri = try #require(object.objectID).uri
                let found = try await database.makeContext().get(uri: uri)
                #expect(found["one"] == object["one"] && found["two"] == object["two"])
            }
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { _ = try await context.create("by_text", ["id": "a\0b"]) }
                await expectError(.wrongType) {
                    _ = try await context.create("by_number", ["id": "9223372036854775808"])
                }
                await expectError(.wrongType) { _ = try await context.create("by_uuid", ["id": "no"]) }
            }
        }
    }

    private func typeName(_ entity: String) -> String {
        switch entity {
        case "by_number": "int8"
        case "by_double": "float8"
        case "by_time": "timestamptz"
        case "by_bytes": "bytea"
        default: String(entity.dropFirst(3))
        }
    }

    private static let equal = """
        CREATE TABLE fixed (id char(5) PRIMARY KEY);
        CREATE TABLE fixed_user (id integer PRIMARY KEY, fixed_id char(9) REFERENCES fixed);
        INSERT INTO fixed VALUES ('a'); INSERT INTO fixed_user VALUES (1, 'a');
        CREATE TABLE float (id float8 PRIMARY KEY);
        CREATE TABLE float_user (id integer PRIMARY KEY, float_id float8 REFERENCES float);
        INSERT INTO float VALUES (0); INSERT INTO float_user VALUES (1, '-0');
        CREATE TABLE span (id interval PRIMARY KEY);
        CREATE TABLE span_user (id integer PRIMARY KEY, span_id interval REFERENCES span);
        INSERT INTO span VALUES ('1 mon'); INSERT INTO span_user VALUES (1, '30 days');
        CREATE TABLE doc (id jsonb PRIMARY KEY);
        CREATE TABLE doc_user (id integer PRIMARY KEY, doc_id jsonb REFERENCES doc);
        INSERT INTO doc VALUES ('{"a": 1.0}'); INSERT INTO doc_user VALUES (1, '{"a": 1.00}');
        """

    @Test(.database(.sql(equal)), arguments: ["fixed", "float", "span", "doc"])
    func keysThatTheServerHoldsEqualAreOne(entity: String) async throws {
        try await withDatabase { database, context, other in
            let user = try await context.fetch("\(entity)_user").one()
            #expect(try await user.object(forKey: entity) != nil, "not in memory")
            let target = try await context.fetch(entity).one()
            #expect(try await user.object(forKey: entity) === target)
            #expect(try await target.set(forKey: "\(entity)_userSet").objects == [user])
            #expect(try await context.fetch("\(entity)_user").where("%K == %@", entity, target).count() == 1)
        }
    }

    private static let numbers = "CREATE TABLE number (id integer PRIMARY KEY, half numeric, name text)"

    @Test(.database(.sql(numbers))) func requestsOfAnySizeMeanWhatTheySay() async throws {
        try await withDatabase { (database, context, other) async throws in
            try await other.query("INSERT INTO number SELECT i, i / 2.0, 'n' || i FROM generate_series(1, 10) AS i")
            try await other.query("INSERT INTO number VALUES (11, NULL, NULL)")
            let all = try context.fetch("number")
            let many = Array(-70_000...5)
            #expect(try await all.where("id IN %@", many).count() == 5)
            #expect(try await all.where("NOT (id IN %@)", many).count() == 6)
            let none: [Int] = []
            #expect(try await all.where("id IN %@", none).count() == 0)
            #expect(try await all.where("NOT (id IN %@)", none).count() == 11)
            #expect(try await all.where("name == nil").count() == 1)
            #expect(try await all.where("name != nil").count() == 10)
            #expect(try await all.limit(0).all().isEmpty)
            #expect(try await all.limit(.max).all().count == 11)
            #expect(try await all.offset(.max).all().isEmpty)
            #expect(try await all.limit(.max).offset(.max).count() == 0)
            for text in ["\\", "%", "_", "*", "?", "a\\", "\\*", "n\\%", "[", "n1\\"] {
                #expect(try await all.where("name LIKE %@", text).count() == (text == "*" ? 10 : 0), "\(text)")
                #expect(try await all.where("name CONTAINS %@", text).count() == 0, "\(text)")
            }
            #expect(try await all.where("id > 100").sum("half") == nil)
            #expect(try await all.where("id > 100").aggregate(.count) == 0)
            // A calculation that fails at the server is this layer's refusal too.
            let error = await expectError(.invalidCondition) { _ = try await all.where("1 / (id - 1) > 0").count() }
            #expect(error?.underlying?.sqlState == .divisionByZero)
        }
    }
}
