import Kindred
import KindredTesting
import Testing

/// Domains over enums, for which PostgreSQL has no operators, in every call that compares their values.
///
/// It has no foreign keys of them either: the rows of a relationship are found by keys of such domains.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE "Mood" AS ENUM ('sad', 'ok', 'happy');
            CREATE DOMAIN feeling AS "Mood" CHECK (VALUE <> 'ok');
            CREATE DOMAIN deep AS feeling;
            CREATE TABLE kind (id integer PRIMARY KEY, name feeling UNIQUE, rank integer);
            CREATE TABLE pet (id integer UNIQUE, mood feeling, deep deep, moods feeling[], plain "Mood",
                code deep, part integer, kind_id integer CONSTRAINT kind REFERENCES kind, PRIMARY KEY (code, part));
            COMMENT ON CONSTRAINT kind ON pet IS '@kindred {"inverse": "pets", "deleteRule": "cascade"}';
            CREATE TABLE tag (name deep PRIMARY KEY, size integer);
            CREATE VIEW glad AS SELECT name, size FROM tag WHERE size > 0;
            INSERT INTO kind VALUES (1, 'sad', 1), (2, 'happy', 2);
            INSERT INTO pet VALUES (1, 'sad', 'sad', '{sad}', 'sad', 'sad', 1, 1),
                (2, 'happy', 'happy', '{sad,happy}', 'happy', 'happy', 1, 1),
                (3, NULL, NULL, NULL, 'sad', 'happy', 2, NULL);
            INSERT INTO tag VALUES ('sad', 1), ('happy', 2);
            """)))
struct DomainEnumTests {
    @Test(arguments: [
        ("mood = 'sad'", "mood::text = 'sad'"), ("mood != 'sad'", "mood::text IS DISTINCT FROM 'sad'"),
        ("deep >= 'sad'", "deep IS NOT NULL"), ("mood < 'happy'", "mood::text = 'sad'"),
        ("deep BETWEEN {'sad', 'ok'}", "deep::text = 'sad'"), ("mood IN {'sad', 'happy'}", "mood IS NOT NULL"),
        ("mood IN {'sad', nil}", "mood::text = 'sad' OR mood IS NULL"),
        ("mood = deep", "mood::text = deep::text OR id = 3"),
        ("mood = plain", "mood::text = plain::text"), ("ANY moods = 'happy'", "'happy' = ANY(moods::text[])"),
        ("ALL moods = 'sad'", "id IN (1, 3)"), ("moods CONTAINS 'happy'", "id = 2"),
        ("moods CONTAINS {'sad', 'happy'}", "id = 2"), ("moods = {'sad'}", "id = 1"), ("'happy' IN moods", "id = 2"),
        ("kind.name = 'sad'", "id IN (1, 2)"), ("kind.rank = 1", "id IN (1, 2)"), ("mood = nil", "id = 3"),
        ("ANY kind.pets.mood = 'happy'", "id IN (1, 2)"), ("kind.pets.@count = 2", "id IN (1, 2)"),
    ])
    func conditionsFindTheSameRowsAsSQL(_ condition: String, _ sql: String) async throws {
        try await withDatabase { (database, context, other) async throws in
            let ids = try await context.fetch("pet").where(condition).sorted("id").all().map { $0["id"] }
            #expect(try await ids == other.values("SELECT id FROM pet WHERE \(unsafeRaw: sql) ORDER BY id"))
        }
    }

    @Test func ordersGroupsAndPages() async throws {
        try await withDatabase { (database, context, other) async throws in
            let expected = try await other.values("SELECT id FROM pet ORDER BY mood DESC, id")
            #expect(
                try await context.fetch("pet").sorted("mood", ascending: false).sorted("id").all().map { $0["id"] }
                    == expected)
            let request = try context.fetch("pet").sorted("deep").sorted("id")
            var page = try await request.page(size: 1)
            var paged = page.objects.map { $0["id"] }
            while let next = page.next {
                page = try await request.page(size: 1, after: PageCursor(next.text))
                paged += page.objects.map { $0["id"] }
            }
            #expect(try await paged == other.values("SELECT id FROM pet ORDER BY deep, id"))
            #expect(try await context.fetch("pet").maximum("mood") == "happy")
            let tags = try await context.fetch("tag").page(size: 1)
            #expect(tags.next != nil)
            let rest = try await context.fetch("tag").page(size: 1, after: tags.next)
            #expect(tags.objects.first?["name"] == "sad" && rest.objects.first?["name"] == "happy")
            let groups = try await context.fetch("pet").group(by: "mood", aggregates: .count).all()
            #expect(groups.count == 3)
        }
    }

    @Test func keysFindTheirRows() async throws {
        try await withDatabase { (database, context, other) async throws in
            #expect(try await context.find("tag", "sad")?["size"] == 1)
            let third = try #require(try await context.find("pet", "happy", 2))
            #expect(third["id"] == 3)
            #expect(try await database.makeContext().find("tag", ["sad", "happy"]).count == 2)
            #expect(try await database.makeContext().find("pet", [["sad", 1], ["happy", 2]]).count == 2)
            let tag = try #require(try await context.find("tag", "happy"))
            #expect(try await database.makeContext().get(try #require(tag.objectID))["size"] == 2)
            #expect(try await context.fetch("tag").where("SELF = %@", tag).count() == 1)
            #expect(try await context.fetch("tag").where("SELF IN %@", [tag]).count() == 1)
            #expect(try await context.fetch("pet").where("SELF IN %@", [third]).count() == 1)
            try await context.transaction { try await tag.lock() }
            try await tag.refresh()
            let glad = try #require(try await context.find("glad", "happy"))
            try await glad.setValue(5, forKey: "size")
            #expect(try await context.fetch("glad").where("name > 'sad'").one()["size"] == 5)
            #expect(try await other.value("SELECT size FROM tag WHERE name::text = 'happy'") == 5)
        }
    }

    @Test func writesAndSets() async throws {
        try await withDatabase { (database, context, other) async throws in
            let sad = try #require(try await context.find("kind", 1))
            let happy = try #require(try await context.find("kind", 2))
            let third = try #require(try await context.find("pet", "happy", 2))
            let first = try #require(try await context.find("pet", "sad", 1))
            let tag = try #require(try await context.find("tag", "happy"))
            let pets = try await sad.set(forKey: "pets")
            #expect(try await pets.count == 2)
            #expect(try await !pets.contains(third))
            try await pets.insert(third)
            let others = try await happy.set(forKey: "pets")
            try await others.formUnion([third, first])
            #expect(try await other.values("SELECT kind_id FROM pet ORDER BY id") == [2, 1, 2])
            try await others.remove(third)
            try await others.set([third, first])
            try await others.subtract([third])
            #expect(try await other.values("SELECT kind_id FROM pet ORDER BY id") == [2, 1, nil])
            try await third.setValue("sad", forKey: "mood")
            try await third.setValue(happy, forKey: "kind")
            third["mood"] = "happy"
            third["moods"] = .array(PostgresArray(elementType: .text, elements: ["happy"]))
            first["mood"] = "happy"
            tag["size"] = 7
            try await context.save()
            #expect(
                try await other.values("SELECT mood::text || moods::text FROM pet ORDER BY id") == [
                    "happy{sad}", "happy{sad,happy}", "happy{happy}",
                ])
            third["code"] = "sad"
            try await context.save()
            #expect(try await other.value("SELECT code::text FROM pet WHERE id = 3") == "sad")
            #expect(try await context.create("kind", ["id": 8, "name": "sad"], unlessExists: "name") === sad)
            let values: [String: (any PropertyValue)?] = ["id": 8, "code": "sad", "part": 1, "plain": "ok"]
            #expect(try await context.create("pet", values, unlessExists: "code", and: "part") === first)
            let set = ConflictRule.update("code", "part", setting: ["plain"])
            #expect(try await context.create("pet", values, by: set) === first && first["plain"] == "ok")
            #expect(try await context.fetch("pet").where("kind.name = 'happy'").update(["deep": "sad"]) == 2)
            let one = try context.fetch("pet").where("mood = 'happy'").sorted("id").limit(1)
            #expect(try await one.update(["mood": Formula("deep")]) == 1)
            #expect(try await context.fetch("tag").where("name = 'sad'").limit(1).update(["size": 4]) == 1)
            #expect(try await other.values("SELECT size FROM tag ORDER BY name") == [4, 7])
            // The constraint of the domain is the server's.
            let refused = await expectError(.constraintViolation) { try await first.setValue("ok", forKey: "mood") }
            #expect(refused?.underlying?.sqlState == .checkViolation && refused?.key == "mood")
        }
    }

    @Test func deletions() async throws {
        try await withDatabase { (database, context, other) async throws in
            let sad = try #require(try await context.find("kind", 1))
            #expect(try await context.fetch("pet").where("code IN {'happy'}").sorted("id").limit(1).delete() == 1)
            _ = try await context.deletionPlan(for: sad)
            try await context.delete(sad)
            #expect(try await other.values("SELECT id FROM pet") == [3])
            let tags = try await context.find("tag", ["sad", "happy"])
            try await context.delete(tags)
            #expect(try await other.value("SELECT count(*) FROM tag") == 0)
        }
    }
}
