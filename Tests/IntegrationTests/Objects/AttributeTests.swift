import Foundation
import Kindred
import KindredTesting
import Testing

/// Attributes of every common type, odd names, odd keys, and rows that can only be read.
@Suite struct AttributeTests {
    private static let types = """
        CREATE TYPE mood AS ENUM ('happy', 'so ''so''', 'glücklich');
        CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
        CREATE TABLE sample (
            id bigint PRIMARY KEY, flag boolean, small smallint, big bigint, single real, wide double precision,
            exact numeric, share percent, label text, code varchar(10), fixed character(5), raw bytea, day date,
            clock time, zoned timetz, stamp timestamp, moment timestamptz, span interval, ident uuid, doc json,
            docb jsonb, feeling mood, numbers integer[], words text[], feelings mood[], address inet,
            doubled integer GENERATED ALWAYS AS (id * 2) STORED);
        """

    @Test(.database(.sql(types))) func everyTypeIsWrittenAndReadExactly() async throws {
        try await withDatabase { database, context, other in
            let uuid = try #require(UUID(uuidString: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
            let values: [(key: String, value: (any PropertyValue)?, text: String)] = [
                ("flag", true, "true"), ("small", Int16.min, "-32768"), ("big", Int64.max, "9223372036854775807"),
                ("single", Float(1.5), "1.5"), ("wide", 0.1, "0.1"),
                (
                    "exact", PostgresNumeric("123456789012345678901234567890.0001000"),
                    "123456789012345678901234567890.0001000"
                ),
                ("share", Decimal(string: "99.95"), "99.95"), ("label", "it's \"é\" \\ $1", "it's \"é\" \\ $1"),
                ("code", "abc", "abc"), ("fixed", "ab", "ab"), ("raw", Data([0, 255, 10]), "\\x00ff0a"),
                ("day", PostgresDate(year: 2024, month: 2, day: 29), "2024-02-29"),
                ("clock", PostgresTime("23:59:59.000001"), "23:59:59.000001"),
                ("zoned", PostgresTimeTZ("12:00:00+05:30"), "12:00:00+05:30"),
                ("stamp", PostgresTimestamp("0044-03-15 12:00:00 BC"), "0044-03-15 12:00:00 BC"),
                ("moment", Date(timeIntervalSince1970: 1_700_000_000.123456), "2023-11-14 22:13:20.123456+00"),
                (
                    "span", PostgresInterval(months: 14, days: -3, microseconds: 4_000_001),
                    "1 year 2 mons -3 days +00:00:04.000001"
                ),
                ("ident", uuid, uuid.uuidString.lowercased()), ("doc", PostgresJSON(text: "{\"a\" :1}"), "{\"a\" :1}"),
                ("docb", "{\"a\":[1,null]}", "{\"a\": [1, null]}"), ("feeling", "so 'so'", "so 'so'"),
                ("numbers", [1, 2, 3], "{1,2,3}"),
                ("words", ["a,b", "", "NULL", "\""], "{\"a,b\",\"\",\"NULL\",\"\\\"\"}"),
                ("address", "10.0.0.1", "10.0.0.1/32"),
            ]
            let object = try await context.create("sample", ["id": 1])
            for (key, value, text) in values {
                try await object.setValue(value, forKey: key)
                let stored = try await other.value("SELECT \(identifier: key)::text FROM sample")
                #expect(stored == .string(text) || key == "fixed", "\(key)")
                let read = try await context.fetch("sample").one()
                #expect(read === object)
                #expect(read[key] != nil, "\(key)")
                try await object.setValue(nil, forKey: key)
                #expect(object[key] == nil)
            }
            try await object.setValue(PostgresArray(elementType: .text, elements: ["happy", nil]), forKey: "feelings")
            #expect(try await other.value("SELECT feelings::text FROM sample") == "{happy,NULL}")
            #expect(object["feelings"]?.description == "{happy,NULL}")
            #expect(object["doubled"] == 2)
            try await expectStatements([]) { () async throws in
                await expectError(.readOnly) { try await object.setValue(5, forKey: "doubled") }
                await expectError(.wrongType) { try await object.setValue(70_000, forKey: "small") }
                await expectError(.wrongType) { try await object.setValue("2024-02-30", forKey: "day") }
                await expectError(.wrongType) { try await object.setValue(1.5, forKey: "big") }
            }
            await #expect(throws: (any Error).self) { try await object.setValue("sad", forKey: "feeling") }
            await expectError(.constraintViolation) { try await object.setValue(101, forKey: "share") }
        }
    }

    private static let names = """
        CREATE SCHEMA "odd ""schema";
        CREATE TABLE "odd ""schema"."select" ("from" integer PRIMARY KEY, "ü \\ ; --" text, "Order" text);
        CREATE TABLE "odd ""schema"."Table.Dot" (id integer PRIMARY KEY, "the from" integer REFERENCES "odd ""schema"."select");
        INSERT INTO "odd ""schema"."select" VALUES (1, 'x', 'y');
        INSERT INTO "odd ""schema"."Table.Dot" VALUES (1, 1);
        """

    @Test(.database(.sql(names))) func oddNamesAreQuoted() async throws {
        try await withDatabase { database, context, other in
            let object = try await context.fetch("odd \"schema.select").where("%K = %@", "ü \\ ; --", "x").one()
            try await object.setValue("z", forKey: "ü \\ ; --")
            #expect(try await other.value(#"SELECT "ü \ ; --" FROM "odd ""schema"."select""#) == "z")
            let referencing = try #require(object.entity.relationships.first { $0.isToMany })
            let member = try #require(try await object.set(forKey: referencing.name).objects.first)
            #expect(try await member.object(forKey: referencing.inverse) === object)
            #expect(try await context.get(uri: try #require(member.objectID).uri) === member)
        }
    }

    private static let keys = """
        CREATE TABLE word (spelling text PRIMARY KEY, next text REFERENCES word);
        INSERT INTO word VALUES (U&'\\00e9', NULL), (U&'e\\0301', U&'\\00e9'), ('', NULL), ('a&b=c/d?%', '');
        CREATE TABLE price (amount numeric PRIMARY KEY);
        INSERT INTO price VALUES (1.50);
        CREATE TABLE tag (price numeric REFERENCES price, id integer PRIMARY KEY);
        INSERT INTO tag VALUES (1.5, 1);
        """

    @Test(.database(.sql(keys))) func keysAreComparedAsTheServerComparesThem() async throws {
        try await withDatabase { database, context, other in
            let words = try await context.fetch("word").all()
            #expect(Set(words).count == 4)
            let decomposed = try await context.fetch("word").where("spelling == %@", "e\u{301}").one()
            let composed = try #require(try await decomposed.value(forKey: "next")?.attribute)
            #expect(composed == "\u{e9}" && composed != "e\u{301}")
            for word in words {
                let id = try #require(word.objectID)
                #expect(try await context.get(uri: id.uri) === word)
            }
            let tag = try await context.fetch("tag").one()
            let price = try #require(try await tag.object(forKey: "priceObject"))
            #expect(price["amount"]?.description == "1.50")
            #expect(try await price.set(forKey: "tagSet").objects == [tag])
        }
    }

    private static let readOnly = """
        CREATE TABLE log (line text);
        INSERT INTO log VALUES ('a'), ('a');
        CREATE TABLE item (id integer PRIMARY KEY, name text);
        CREATE VIEW counted AS SELECT name, count(*) FROM item GROUP BY name;
        """

    @Test(.database(.sql(readOnly))) func rowsWithoutAKeyCanOnlyBeRead() async throws {
        try await withDatabase { database, context, other in
            let lines = try await context.fetch("log").all()
            #expect(lines.count == 2 && lines[0] !== lines[1])
            #expect(lines[0].objectID == nil)
            try await expectStatements([]) { () async throws in
                await expectError(.readOnly) { try await lines[0].setValue("b", forKey: "line") }
                await expectError(.readOnly) { try await context.delete(lines[0]) }
                await expectError(.readOnly) { try await context.create("log", ["line": "c"]) }
                await expectError(.readOnly) { try await context.create("counted", ["name": "c"]) }
            }
        }
    }

    @Test(.database(.sql(readOnly))) func theModelIsReadAgainOnRequest() async throws {
        try await withDatabase { database, context, other in
            try await other.runScript("CREATE TABLE added (id integer PRIMARY KEY, item_id integer REFERENCES item);")
            await expectError(.unknownEntity) { _ = try context.fetch("added") }
            let schema = try await database.refreshSchema()
            #expect(try schema.entity(named: "added").attributes.count == 2)
            #expect(try database.schema.entity(named: "item").relationship(named: "addedSet") != nil)
            #expect(try await database.makeContext().fetch("added").count() == 0)
        }
    }

    @Test(.database(.sql(readOnly))) func connectingCostsOneRoundTripForTheCatalog() async throws {
        try await withDatabase { database, context, other in
            let (_, recorder) = try await recordingStatements { try await database.refreshSchema() }
            #expect(recorder.all.filter { $0.sql.hasPrefix("BEGIN") }.count == 1)
        }
    }
}
