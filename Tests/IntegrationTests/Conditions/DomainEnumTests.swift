import Kindred
import KindredTesting
import Testing

/// Domains over enums, for which PostgreSQL has no operators, in every call that compares their values.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE "Mood" AS ENUM ('sad', 'ok', 'happy');
            CREATE DOMAIN feeling AS "Mood" CHECK (VALUE <> 'ok');
            CREATE DOMAIN deep AS feeling;
            CREATE TABLE kind (name feeling PRIMARY KEY, rank integer);
            CREATE TABLE pet (id integer PRIMARY KEY, mood feeling, deep deep, moods feeling[], plain "Mood",
                code deep UNIQUE, kind feeling CONSTRAINT kind REFERENCES kind, place integer);
            CREATE TABLE tag (name deep, part integer, PRIMARY KEY (name, part));
            CREATE TABLE pet_tag (kind feeling CONSTRAINT tags REFERENCES kind, tag deep, part integer,
                CONSTRAINT kinds FOREIGN KEY (tag, part) REFERENCES tag, PRIMARY KEY (kind, tag, part));
            COMMENT ON CONSTRAINT kind ON pet IS '@kindred {"inverse": "pets", "deleteRule": "cascade"}';
            INSERT INTO kind VALUES ('sad', 1), ('happy', 2);
            INSERT INTO pet VALUES (1, 'sad', 'sad', '{sad}', 'sad', 'sad', 'sad', 1),
                (2, 'happy', 'happy', '{sad,happy}', 'happy', 'happy', 'sad', 2), (3, NULL, NULL, NULL, 'sad', NULL, NULL, 3);
            INSERT INTO tag VALUES ('sad', 1), ('happy', 1);
            INSERT INTO pet_tag VALUES ('sad', 'sad', 1);
            CREATE VIEW glad AS SELECT name, rank FROM kind WHERE rank > 0;
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
        ("ANY kind.tags.part = 1", "id IN (1, 2)"), ("ANY kind.pets.mood = 'happy'", "id IN (1, 2)"),
        ("kind.pets.@count = 2", "id IN (1, 2)"), ("kind.tags.@count > 0", "id IN (1, 2)"),
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
            #expect(try await context.fetch("tag").page(size: 1).objects.count == 1)
            let groups = try await context.fetch("pet").group(by: "mood", aggregates: .count).all()
            #expect(groups.count == 3)
        }
    }

    @Test func keysFindTheirRows() async throws {
        try await withDatabase { (database, context, other) async throws in
            #expect(try await context.find("kind", "sad")?["rank"] == 1)
            #expect(try await context.find("tag", "happy", 1) != nil)
            #expect(try await database.makeContext().find("kind", ["sad", "happy"]).count == 2)
            let kind = try #require(try await context.find("kind", "happy"))
            #expect(try await database.makeContext().object(with: try #require(kind.objectID))["rank"] == 2)
            let pet = try #require(try await context.find("pet", 1))
            #expect(try await pet.object(forKey: "kind")?["name"] == "sad")
            #expect(try await context.fetch("pet").where("kind = %@", kind).count() == 0)
            #expect(
                try await context.fetch("pet").where("kind IN %@", [kind, pet.object(forKey: "kind")]).count() == 2)
            try await context.transaction { try await kind.lock() }
            try await kind.refresh()
            let glad = try #require(try await context.find("glad", "happy"))
            try await glad.setValue(5, forKey: "rank")
            #expect(try await context.fetch("glad").where("name > 'sad'").one()["rank"] == 5)
            #expect(try await context.fetch("pet").prefetch("kind").prefetch("kind.tags").all().count == 3)
        }
    }

    @Test func writesAndSets() async throws {
        try await withDatabase { (database, context, other) async throws in
            let sad = try #require(try await context.find("kind", "sad"))
            let happy = try #require(try await context.find("kind", "happy"))
            let pets = try await sad.set(forKey: "pets")
            #expect(try await pets.count == 2)
            let third = try #require(try await context.find("pet", 3))
            #expect(try await pets.contains(third) == false)
            try await pets.insert(third)
            let others = try await happy.set(forKey: "pets")
            try await others.formUnion([third, try #require(try await context.find("pet", 1))])
            #expect(try await other.values("SELECT kind::text FROM pet ORDER BY id") == ["happy", "sad", "happy"])
            try await others.remove(third)
            try await third.setValue("sad", forKey: "mood")
            try await third.setValue(happy, forKey: "kind")
            let tags = try await sad.set(forKey: "tags")
            let tag = try #require(try await context.find("tag", "happy", 1))
            try await tags.insert(tag)
            #expect(try await tags.count == 2)
            #expect(try await tags.contains(tag))
            try await tags.remove(tag)
            try await tags.set([tag])
            #expect(try await other.values("SELECT tag::text FROM pet_tag") == ["happy"])
            try await tags.removeAll()
            #expect(try await other.value("SELECT count(*) FROM pet_tag") == 0)
            third["mood"] = "happy"
            third["moods"] = .array(PostgresArray(elementType: .text, elements: ["happy"]))
            happy["rank"] = 9
            let first = try #require(try await context.find("pet", 1))
            first["mood"] = "happy"
            try await context.save()
            #expect(
                try await other.values("SELECT mood::text || moods::text FROM pet WHERE id IN (1, 3) ORDER BY id") == [
                    "happy{sad}", "happy{happy}",
                ])
            let kept = try await context.create("pet", ["id": 8, "code": "sad"], onConflict: .keep("code"))
            #expect(kept === first)
            let updated = try await context.create(
                "pet", ["id": 8, "code": "sad", "plain": "ok"], onConflict: .update("code", setting: ["plain"]))
            #expect(updated === first && first["plain"] == "ok")
            #expect(try await context.fetch("pet").where("kind.rank = 9").update(["deep": "sad"]) == 2)
            #expect(
                try await context.fetch("pet").where("mood = 'sad'").sorted("id").limit(1).update([
                    "mood": Formula("deep")
                ]) == 0)
            #expect(try await context.fetch("kind").where("name = 'sad'").limit(1).update(["rank": 4]) == 1)
            // The constraint of the domain is the server's.
            let refused = await expectError(.constraintViolation) { try await first.setValue("ok", forKey: "mood") }
            #expect(refused?.underlying?.sqlState == .checkViolation)
        }
    }

    @Test func deletions() async throws {
        try await withDatabase { (database, context, other) async throws in
            let sad = try #require(try await context.find("kind", "sad"))
            try await (try await sad.set(forKey: "tags")).removeAll()
            _ = try await context.deletionPlan(for: sad)
            try await context.delete(sad)
            #expect(try await other.values("SELECT id FROM pet") == [3])
            try await context.delete([
                try #require(try await context.find("tag", "sad", 1)),
                try #require(try await context.find("tag", "happy", 1)),
            ])
            #expect(try await other.value("SELECT count(*) FROM tag") == 0)
            #expect(try await context.fetch("kind").where("name IN {'happy'}").limit(1).delete() == 1)
            #expect(try await other.value("SELECT count(*) FROM kind") == 0)
        }
    }
}
