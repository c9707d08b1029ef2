import Foundation
import Kindred
import KindredTesting
import Testing

private let fixture = """
    CREATE TYPE level AS ENUM ('low', 'high');
    CREATE DOMAIN positive AS int CHECK (value > 0);
    CREATE DOMAIN short AS varchar(5);
    CREATE TABLE thing (
        id int PRIMARY KEY, "we""ird; name" int, level level, levels level[], size positive, nick short,
        address inet, range int4range, bits bit(3), cash money, token uuid, born date, seen timestamptz, at time,
        lasting interval, data jsonb, notes json, mark text, place point, letter "char", code char(4), price numeric(8, 2),
        ratio real, blob bytea, numbers int[]
    );
    INSERT INTO thing VALUES (
        1, 7, 'low', '{low,NULL}', 3, 'abc', '10.0.0.1', '[1,5)', '101', '12.50',
        '6b3f0c5e-0d2c-4f7e-9a3b-0f0f0f0f0f0f', '2020-02-29', '2020-02-29 12:00+00', '12:30', '1 day', '{"a": 1}', '{}',
        '<a/>', '(1,2)', 'x', 'ab', 19.99, 0.1, '\\x00ff', '{1,2}'
    );
    INSERT INTO thing (id) VALUES (2);
    CREATE TABLE pair (level level, n int, PRIMARY KEY (level, n));
    INSERT INTO pair VALUES ('low', 1), ('high', 1);
    CREATE TABLE item (id int PRIMARY KEY, level level, n int, FOREIGN KEY (level, n) REFERENCES pair);
    INSERT INTO item VALUES (1, 'low', 1), (2, 'high', 1), (3, NULL, 1);
    """

@Suite struct ConditionTypeTests {
    @Test(.database(.sql(fixture))) func bytesAreGivenAsBytes() async throws {
        try await withDatabase { database, context, other in
            let bytes: [UInt8] = [0, 255]
            let thing = try await context.fetch("thing").where("blob == %@", bytes).one()
            #expect(thing["id"] == 1)
            #expect(try await context.fetch("thing").where("blob IN %@", [bytes, [7]]).count() == 1)
            #expect(try await context.fetch("thing").where("blob != %@ AND blob != nil", [UInt8]()).count() == 1)
            try await thing.setValue([1, 2, 3] as [UInt8], forKey: "blob")
            #expect(thing["blob"] == .bytes([1, 2, 3]))
            try await context.create("thing", ["id": 3, "blob": [UInt8]()])
            try context.add("thing", ["id": 4, "blob": [9] as [UInt8]])
            try await context.save()
            try await context.fetch("thing").where("id == 2").update(["blob": [8] as [UInt8]])
            let stored = try await other.query("SELECT string_agg(encode(blob, 'hex'), ',' ORDER BY id) FROM thing")
            #expect(try stored[0].decode(0, as: String.self) == "010203,08,,09")
            let error = await expectError(.wrongType) { try await thing.setValue([1, 256], forKey: "blob") }
            #expect(error?.message.contains("cannot be a collection") == true)
        }
    }

    @Test(.database(.sql(fixture))) func aListOfNumbersAgreesWithEachOfThem() async throws {
        try await withDatabase { (_, context, _) async throws in
            for list in ["{0.1}", "{0.1, 0.123456789012}", "{0.123456789012, 0.1, NULL}"] {
                #expect(try await context.fetch("thing").where("ratio IN \(list) AND id == 1").count() == 1, "\(list)")
                #expect(
                    try await context.fetch("thing").where("NOT ratio IN \(list) AND id == 1").count() == 0, "\(list)")
            }
            #expect(try await context.fetch("thing").where("ratio IN {0.10000000149, 7}").count() == 0)
        }
    }

    @Test(.database(.sql(fixture))) func conditionsOnColumnsOfEveryType() async throws {
        try await withDatabase { database, context, other in
            func matches(_ format: String, _ arguments: (any PropertyValue)?...) async throws -> [PostgresValue?] {
                try await context.fetch("thing").where(format, arguments: arguments).sorted("id").all().map { $0["id"] }
            }
            for format in [
                "level == 'low'", "level < 'high'", "level IN {'low', 'high'}", "level LIKE 'l*'", "'low' IN levels",
                "ANY levels == 'low'", "size == 3", "size > 2.5", "nick == 'abc'", "nick BEGINSWITH 'a'",
                "nick != 'longer than five' AND id = 1", "address == '10.0.0.1'", "address IN {'10.0.0.1', '::1'}",
                "address < '10.0.0.2'", "range == '[1,5)'", "bits == '101'", "bits IN {'101', '111'}",
                "cash == '12.50'",
                "token == '6B3F0C5E-0D2C-4F7E-9A3B-0F0F0F0F0F0F'", "token IN {'6b3f0c5e-0d2c-4f7e-9a3b-0f0f0f0f0f0f'}",
                "born == '2020-02-29'", "born < '2020-03-01'", "born <= seen",
                "seen BETWEEN {'2020-01-01', '2021-01-01'}",
                "at == '12:30'", "lasting == '24:00:00'", #"data == '{"a":1}'"#, "notes != nil", "mark != nil",
                "place != nil", "letter == 'x'", "letter BEGINSWITH 'x'", "code == 'ab'", "price == 19.99",
                "price * 2 == 39.98", "ratio == 0.1", "ratio < 0.2", "numbers == {1, 2}", "2 IN numbers",
                "ALL numbers > 0 AND id = 1",
                "%K == 7 AND #id = 1", "nick MATCHES 'a.c'", "nick MATCHES[c] 'A|ABC'", "level == level AND id == 1",
                "ratio ** 2 < 1", "ratio + 9223372036854775808 > 1", "ratio * 0.12345678901234567890 < 1", "-id == -1",
                "id / 2 == 0", "id / 2.0 == 0.5",
            ] {
                let arguments: [(any PropertyValue)?] = format.hasPrefix("%K") ? [["we\"ird; name"]] : []
                #expect(
                    try await context.fetch("thing").where(format, arguments: arguments).all().map { $0["id"] } == [1],
                    "\(format)")
            }
            let date = try Date("2020-02-29T12:00:00Z", strategy: .iso8601)
            #expect(try await matches("seen == %@", date) == [1])
            #expect(try await matches("token == %@", UUID(uuidString: "6b3f0c5e-0d2c-4f7e-9a3b-0f0f0f0f0f0f")) == [1])
            #expect(try await matches("blob == %@", Data([0, 255])) == [1])
            #expect(try await matches("price IN %@", [19.99, 5]) == [1])
            #expect(try await matches("price == %@", Decimal(string: "19.99")) == [1])
            #expect(try await matches("numbers == %@", [1, 2]) == [1])
            #expect(try await matches("NOT level == 'low'") == [2])
            #expect(try await matches("address == nil AND notes == nil AND place == nil") == [2])
        }
    }

    @Test(.database(.sql(fixture))) func objectsWithAnEnumInTheirKeyAreCompared() async throws {
        try await withDatabase { database, context, other in
            let pairs = try await context.fetch("pair").sorted("level").all()
            let items = try context.fetch("item").sorted("id")
            #expect(try await items.where("pair == %@", pairs[0]).all().map { $0["id"] } == [1])
            #expect(try await items.where("pair IN %@", pairs).all().map { $0["id"] } == [1, 2])
            #expect(try await items.where("NOT pair IN %@", [pairs[1]]).all().map { $0["id"] } == [1, 3])
            #expect(try await context.fetch("pair").where("SELF IN %@", [pairs[1]]).all() == [pairs[1]])
        }
    }

    @Test(.database(.sql(fixture))) func injectionsAreInertThroughEveryDoor() async throws {
        try await withDatabase { database, context, other in
            let things = try context.fetch("thing")
            for hostile in [
                "'; DROP TABLE thing; --", "\" OR 1=1 --", "$1", "%@", "x' OR 'a'='a", "\\'; DROP TABLE thing; --",
                "a\"; DROP TABLE thing; --", "); DROP TABLE thing; --", "*/ DROP TABLE thing; /*",
            ] {
                for operation in ["==", "LIKE", "CONTAINS", "BEGINSWITH[c]", "ENDSWITH", "==[c]"] {
                    #expect(try await things.where("nick \(operation) %@", hostile).all().isEmpty)
                }
                #expect(try await things.where("nick IN %@", [hostile]).all().isEmpty)
                await expectError(.invalidCondition) { _ = try await things.where("level == %@", hostile).all() }
                await expectError(.invalidCondition) {
                    _ = try await things.where("level IN %@", [hostile, "low"]).all()
                }
                await expectError(.unknownKey) { _ = try things.where("%K == 1", [hostile]) }
                await expectError(.unknownKey) { _ = try things.sorted(hostile) }
                let splice = "nick == '\(hostile)'"
                if let request = try? things.where(splice) { _ = try? await request.all() }
            }
            #expect(try await other.value("SELECT count(*) FROM thing") == 2)
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE thing (id int PRIMARY KEY, data jsonb, words text[]);
            INSERT INTO thing VALUES (1, '{"a": 1}', '{Swift}'), (2, '{"a": "x"}', NULL), (3, '{"a": null}', NULL);
            """))
    func whatIsNotSaidOfATypeIsNotMeant() async throws {
        try await withDatabase { database, context, other in
            let things = try context.fetch("thing").sorted("id")
            // A text is no number, and it is not missing.
            #expect(try await things.where("data.a IN {1, NULL}").all().map { $0["id"] } == [1, 3])
            for format in ["words CONTAINS[c] 'swift'", "data CONTAINS[c] '{}'", "{'a'} CONTAINS[c] 'A'"] {
                await expectError(.invalidCondition) { _ = try await things.where(format).all() }
            }
            #expect(try await things.where("ANY words ==[c] 'swift'").count() == 1)
        }
    }
}
