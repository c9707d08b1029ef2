import Foundation
import Kindred
import KindredTesting
import Testing

/// Rows of a table and of tables that inherit from it: two rows with one key are two objects.
@Suite struct InheritedIdentityTests {
    @Test(.database(.sql(inheritanceSchema)), arguments: ["place", "city", "port", "capital", "seaport"])
    func everyRowIsAnObject(_ table: String) async throws {
        try await withDatabase { _, context, other in
            let expected = try await other.values("SELECT name FROM \(unsafeRaw: table) ORDER BY name")
            let objects = try await context.fetch(table).sorted("name").all()
            #expect(objects.map { $0["name"] } == expected)
            #expect(Set(objects).count == expected.count)
            #expect(Set(objects.compactMap(\.objectID)).count == expected.count)
            #expect(try await context.fetch(table).count() == expected.count)
            #expect(try await context.fetch(table).sorted("name").all() == objects)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func anIDNamesTheTableThatHoldsTheRow() async throws {
        try await withDatabase { database, context, other in
            let texts = [
                "place 1": "kindred:/public/place?id=1", "city 3": "kindred:/public/place?id=3&tableoid=public.city",
                "seaport 1": "kindred:/public/place?id=1&tableoid=public.seaport",
            ]
            for (name, text) in texts {
                let object = try await row(name, as: "place", context)
                let id = try #require(object.objectID)
                #expect(id.uri == text)
                #expect(try await context.get(id) === object)
                let found = try await database.makeContext().get(uri: text)
                #expect(found["name"] == .string(name))
                #expect(found.objectID == id)
                #expect(try await database.makeContext().get(id)["name"] == .string(name))
            }
            // The same row read through its own table is an object of that.
            let city = try await row("city 3", as: "city", context)
            #expect(city.objectID?.uri == "kindred:/public/city?id=3")
            #expect(city !== (try await row("city 3", as: "place", context)))
            for bad in ["id=1&tableoid=public.visit", "id=1&tableoid=", "tableoid=public.city", "id=1&tableoid=place"] {
                await expectError(.invalidObjectID) {
                    _ = try await context.get(uri: "kindred:/public/place?" + bad)
                }
            }
            await expectError(.invalidObjectID) {
                _ = try await context.get(uri: "kindred:/public/capital?id=1&tableoid=public.capital")
            }
            await expectError(.notFound) {
                _ = try await context.get(uri: "kindred:/public/place?id=3&tableoid=public.port")
            }
            await expectError(.notFound) { _ = try await context.get(uri: "kindred:/public/place?id=3") }
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func anIDSurvivesADumpAndAnotherTableMadeBefore() async throws {
        try await withDatabase { database, context, other in
            let id = try #require(try await row("city 3", as: "place", context).objectID)
            try await other.runScript(
                """
                ALTER TABLE city RENAME TO former;
                CREATE TABLE city (PRIMARY KEY (id), mayor text) INHERITS (place);
                INSERT INTO city SELECT * FROM ONLY former;
                DROP TABLE former CASCADE
                """)
            try await database.refreshSchema()
            #expect(try await database.makeContext().get(uri: id.uri)["name"] == "city 3")
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aKeyFindsTheRowOfTheTableItselfAndElseAChilds() async throws {
        try await withDatabase { database, context, other in
            let wanted: [(entity: String, key: Int, name: PostgresValue?)] = [
                ("place", 1, "place 1"), ("place", 2, "place 2"), ("place", 3, "city 3"), ("place", 4, "capital 4"),
                ("place", 5, "seaport 5"), ("place", 6, nil), ("city", 1, "city 1"), ("city", 4, "capital 4"),
                ("port", 5, "seaport 5"), ("port", 3, nil), ("seaport", 1, "seaport 1"),
            ]
            for (entity, key, name) in wanted {
                let fresh = database.makeContext()
                #expect(try await fresh.find(entity, key)?["name"] == name, "\(entity) \(key)")
                // With the others in memory, too.
                let held = try await fresh.fetch(entity).all()
                #expect(try await fresh.find(entity, key)?["name"] == name, "\(entity) \(key)")
                #expect(try await fresh.find(entity, [key]).map { $0["name"] } == (name.map { [$0] } ?? []))
                withExtendedLifetime(held) {}
            }
            let keys = [5, 1, 3, 9, 1, 4]
            let names: [PostgresValue?] = ["seaport 5", "place 1", "city 3", "capital 4"]
            #expect(try await context.find("place", keys).map { $0["name"] } == names)
            let held = try await context.fetch("place").all()
            try await expectStatements(["SELECT DISTINCT"]) { () async throws in
                #expect(try await context.find("place", keys).map { $0["name"] } == names)
            }
            try await expectStatements([]) { () async throws in
                #expect(try await context.find("place", 1) === held.first { $0["name"] == "place 1" })
            }
            await expectError(.invalidRequest) { _ = try await context.find("place", 1, 2) }
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func pagesAndStreamsHaveEachRowOnce() async throws {
        try await withDatabase { _, context, other in
            let expected = try await placeRows(other).count
            for size in 1...4 {
                let request = try context.fetch("place").sorted("id")
                var page = try await request.page(size: size)
                var found = page.objects
                while let next = page.next {
                    let text = try PageCursor(next.text)
                    page = try await request.page(size: size, after: text)
                    found += page.objects
                }
                #expect(found.count == expected && Set(found).count == expected, "\(size)")
            }
            var streamed: [DatabaseObject] = []
            for try await place in try context.fetch("place").sorted("id").stream() { streamed.append(place) }
            #expect(streamed.count == expected && Set(streamed).count == expected)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func theRowsTableIsNoProperty() async throws {
        try await withDatabase { _, context, other in
            let city = try await row("city 3", as: "place", context)
            #expect(city.dictionary.keys.sorted() == ["id", "name", "visits"])
            let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(city)) as? [String: Any]
            #expect(json?.keys.sorted() == ["id", "name", "visits"])
            #expect(city.entity.primaryKey == ["id"])
            await expectError(.readOnly) { try await city.setValue(1, forKey: "tableoid") }
            #expect(try await context.query("SELECT *, tableoid FROM place WHERE id = 3", as: "place") == [city])
            let error = await expectError(.invalidRequest) {
                _ = try await context.query("SELECT * FROM place", as: "place")
            }
            #expect(error?.message.contains("tableoid") == true)
            let aggregates = try await context.fetch("place").group(by: "id", aggregates: .count).all()
            #expect(aggregates.count == 5)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func objectsAreComparedByTable() async throws {
        try await withDatabase { _, context, other in
            for name in ["place 1", "city 1", "capital 4", "seaport 1"] {
                let object = try await row(name, as: "place", context)
                let id = try #require(object.objectID)
                #expect(try await context.fetch("place").where("SELF = %@", object).all() == [object])
                #expect(try await context.fetch("place").where("SELF = %@", id).all() == [object])
                #expect(try await context.fetch("place").where("SELF IN %@", [object]).all() == [object])
                let others = try await context.fetch("place").where("SELF != %@", object).count()
                #expect(others == (try await placeRows(other).count) - 1)
            }
            let two = try await [row("city 1", as: "place", context), row("place 2", as: "place", context)]
            let found = try await context.fetch("place").where("SELF IN %@", two).sorted("id").all()
            #expect(found == two)
            #expect(try await context.fetch("place").where("NOT SELF IN %@", two).count() == 8)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aViewHasAKeyWhereItTellsTheTables() async throws {
        try await withDatabase { database, context, other in
            try await other.runScript(
                """
                CREATE VIEW any_place AS SELECT id, name FROM place;
                CREATE VIEW own_place AS SELECT id, name FROM ONLY place;
                CREATE VIEW told_place AS SELECT id, name, tableoid AS home FROM place;
                CREATE VIEW told_again AS SELECT id, home, name FROM told_place;
                CREATE VIEW plain_capital AS SELECT id, name FROM capital;
                """)
            try await database.refreshSchema()
            let keys = [
                "any_place": [], "own_place": ["id"], "told_place": ["id", "home"], "told_again": ["id", "home"],
                "plain_capital": ["id"],
            ]
            for (view, key) in keys {
                #expect(try database.schema.entity(named: view).primaryKey == key, "\(view)")
            }
            let fresh = database.makeContext()
            let told = try await fresh.fetch("told_again").all()
            #expect(Set(told).count == (try await placeRows(other).count))
            let city = try #require(told.first { $0["name"] == "city 1" })
            try await city.setValue("renamed", forKey: "name")
            #expect(try await other.values("SELECT name FROM place WHERE name = 'renamed'").count == 1)
        }
    }
}
