import Kindred
import KindredTesting
import Testing

/// Staged attributes are written together: all or nothing, in as few statements as possible.
@Suite struct SaveTests {
    private static let many = """
        CREATE TABLE item (id integer PRIMARY KEY, name text, size integer);
        INSERT INTO item SELECT i, 'i' || i, i FROM generate_series(1, 10000) AS i;
        """

    @Test(.database(.sql(many))) func tenThousandChangedObjectsAreOneStatementAndOneForTheLastOfThem() async throws {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            for (position, item) in items.enumerated() { item["name"] = .string("n\(position + 1)") }
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.value("SELECT count(*) FROM item WHERE name = 'n' || id AND size = id") == 10000)
            #expect(!context.hasStagedChanges && items[9_999]["name"] == "n10000")
            try await expectStatements([]) { try await context.save() }
        }
    }

    @Test(.database(.sql(referenceSchema))) func differentColumnsAreDifferentStatements() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let email = try await context.fetch("email").where("id = 4").one()
            people[0]["surname"] = "A"
            people[1]["surname"] = "B"
            people[2]["height"] = 1.86
            people[2]["firstname"] = nil
            email["person_id"] = 3
            try await expectStatements(["UPDATE", "UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT surname FROM person ORDER BY id") == ["A", "B", "Marx"])
            // The object has the value as the server stored it.
            #expect(people[2]["height"]?.description == "1.86")
            #expect(try await other.value("SELECT person_id FROM email WHERE id = 4") == 3)
            #expect(!context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func oneObjectIsSavedByItself() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            people[0]["surname"] = "A"
            people[1]["surname"] = "B"
            try await people[0].save()
            #expect(try await other.values("SELECT surname FROM person ORDER BY id") == ["A", "Jones", "Marx"])
            #expect(!people[0].hasStagedChanges && people[1].hasStagedChanges && context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aRefusedSaveWritesNothingAndKeepsEverythingStaged() async throws {
        try await withDatabase { database, context, other in
            let titles = try await context.fetch("title").sorted("id").all()
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "A"
            titles[0]["name"] = "Sir"
            titles[1]["name"] = "Lord"
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "title_name_key" && error?.entity == "public.title")
            #expect(try await other.value("SELECT surname FROM person WHERE id = 1") == "Smith")
            #expect(ann.stagedValues == ["surname": "A"] && titles[1].stagedValues == ["name": "Lord"])
            titles[0]["name"] = "Lady"
            try await context.save()
            #expect(try await other.values("SELECT name FROM title ORDER BY id") == ["Lady", "Lord", "Sir"])
        }
    }

    @Test(.database(.sql(referenceSchema))) func aRowThatIsGoneFailsTheSave() async throws {
        try await withDatabase { database, context, other in
            let emails = try await context.fetch("email").sorted("id").all()
            for email in emails { email["address"] = "x" }
            _ = try await other.query("DELETE FROM email WHERE id = 2")
            let error = await expectError(.objectDeleted) { try await context.save() }
            #expect(error?.message.contains("id=2") == true && error?.object === emails[1])
            #expect(try await other.value("SELECT count(*) FROM email WHERE address = 'x'") == 0)
            // The others stay staged; the change staged for the missing row is gone with it.
            let others = emails.filter { $0 !== emails[1] }
            #expect(emails[1].isDeleted && others.allSatisfy { $0.stagedValues == ["address": "x"] })
            try await context.save()
            #expect(
                try await other.value("SELECT count(*) FROM email WHERE address = 'x'") == .integer(Int64(others.count))
            )
        }
    }

    @Test(.database(.sql(referenceSchema))) func problemsOfSettersAreReported() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "A"
            ann["born"] = "yesterday"
            try await expectStatements([]) { () async throws in
                let error = await expectError(.wrongType) { try await context.save() }
                #expect(error?.key == "born")
            }
            ann.rollback()
            ann["surnam"] = "A"
            await expectError(.unknownKey) { try await ann.save() }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aTransactionThatFailsLaterStagesAgain() async throws {
        struct Undone: Error {}
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "A"
            await #expect(throws: Undone.self) { () async throws in
                try await context.transaction {
                    try await context.save()
                    #expect(!context.hasStagedChanges)
                    throw Undone()
                }
            }
            #expect(ann.stagedValues == ["surname": "A"] && context.hasStagedChanges)
            try await context.save()
            #expect(try await other.value("SELECT surname FROM person WHERE id = 1") == "A")
        }
    }

    private static let types = """
        CREATE TYPE mood AS ENUM ('happy', 'so ''so''');
        CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
        CREATE TABLE sample (
            id bigint PRIMARY KEY, flag boolean, small smallint, single real, share percent, code varchar(3),
            fixed character(5), bits bit(3), raw bytea, day date, zoned timetz, moment timestamptz, span interval,
            ident uuid, docb jsonb, feeling mood, numbers integer[], words varchar(3)[], feelings mood[], address inet,
            "Range" int4range);
        INSERT INTO sample (id) VALUES (1), (2);
        """

    @Test(.database(.sql(types))) func everyTypeIsSavedExactly() async throws {
        try await withDatabase { database, context, other in
            let values: [(String, PostgresValue)] = [
                ("flag", true), ("small", -3), ("single", 1.5), ("share", 99.95),
                ("code", "abc"), ("fixed", "ab"), ("bits", "101"), ("raw", .bytes([0, 255])), ("day", "2024-02-29"),
                ("zoned", "12:00:00+05:30"), ("moment", "2024-02-29 12:00:00+00"), ("span", "1 day"),
                ("ident", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"), ("docb", "{\"a\": 1}"), ("feeling", "so 'so'"),
                ("numbers", .array(PostgresArray(elementType: .int4, elements: [1, nil, 3]))),
                ("words", .array(PostgresArray(elementType: .varchar, elements: ["a,b", "\"", ""]))),
                ("feelings", .array(PostgresArray(elementType: .text, elements: ["happy", nil]))),
                ("address", "10.0.0.1"), ("Range", "[1,5)"),
            ]
            let objects = try await context.fetch("sample").sorted("id").all()
            for (key, value) in values { objects[0][key] = value }
            let staged = objects[0].stagedValues
            #expect(staged.count == values.count)
            try await context.save()
            for (key, value) in values {
                try await objects[1].setValue(value, forKey: key)
                let same = try await other.value(
                    "SELECT count(DISTINCT \(identifier: key)::text) = 1 AND count(\(identifier: key)) = 2 FROM sample")
                #expect(same == true, "\(key)")
                #expect(objects[0][key] == objects[1][key], "\(key)")
            }
            // Too long is refused, never cut off.
            for (key, value) in [("code", "abcd"), ("bits", "1011")] as [(String, PostgresValue)] {
                objects[0][key] = value
                await #expect(throws: (any Error).self) { try await context.save() }
                context.rollback()
            }
            objects[0]["words"] = .array(PostgresArray(elementType: .text, elements: ["abcd"]))
            await #expect(throws: (any Error).self) { try await context.save() }
        }
    }
}
