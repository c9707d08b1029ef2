import Kindred
import KindredTesting
import Testing

/// A change of one row leaves rows of other tables with the same key alone.
@Suite struct InheritedWriteTests {
    /// A change of the row `city 1`, or of `place 1`, which must show `changed` and no other row a difference.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var isDeletion = false
        let body: @Sendable (DatabaseObject, DatabaseContext) async throws -> Void

        init(
            _ name: String, isDeletion: Bool = false,
            _ body: @escaping @Sendable (DatabaseObject, DatabaseContext) async throws -> Void
        ) {
            testDescription = name
            self.isDeletion = isDeletion
            self.body = body
        }
    }

    static let changes: [Change] = [
        Change("setValue") { object, _ in try await object.setValue("changed", forKey: "name") },
        Change("setValues") { object, _ in try await object.setValues(["name": "changed", "visits": 0]) },
        Change("save") { object, context in
            object["name"] = "changed"
            try await context.save()
        },
        Change("save of several") { object, context in
            object["name"] = "changed"
            let other = try await row("capital 1", as: "place", context)
            other["name"] = "to and fro"
            try await context.save()
            other["name"] = "capital 1"
            try await context.save()
        },
        Change("update of a request") { object, context in
            let count = try await context.fetch("place").where("SELF = %@", object).update(["name": "changed"])
            #expect(count == 1)
        },
        Change("update of a limited request") { object, context in
            let request = try context.fetch("place").where("SELF IN %@", [object]).sorted("id").limit(1)
            let count = try await request.update(["name": "changed"])
            #expect(count == 1)
        },
        Change("lock and save") { object, context in
            try await context.transaction {
                try await object.lock()
                object["name"] = "changed"
                try await context.save()
            }
        },
        Change("locked fetch") { object, context in
            try await context.transaction {
                let found = try await context.fetch("place").where("SELF = %@", object).lock().one()
                #expect(found === object)
                try await found.setValue("changed", forKey: "name")
            }
        },
        Change("save after refresh") { object, context in
            try await object.refresh()
            object["name"] = "changed"
            try await context.save()
        },
        Change("save with retry") { object, context in
            object["visits"] = 0
            object["name"] = "changed"
            try await context.save()
        },
        Change("delete", isDeletion: true) { object, context in try await context.delete(object) },
        Change("staged deletion", isDeletion: true) { object, context in
            try context.stageDeletion(of: object)
            try await context.save()
        },
        Change("deletion by request", isDeletion: true) { object, context in
            let count = try await context.fetch("place").where("SELF = %@", object).delete()
            #expect(count == 1)
        },
        Change("deletion by limited request", isDeletion: true) { object, context in
            let request = try context.fetch("place").where("SELF = %@", object).sorted("name").limit(1)
            let count = try await request.delete()
            #expect(count == 1)
        },
    ]

    @Test(.database(.sql(inheritanceSchema)), arguments: changes, ["place 2", "city 1", "capital 1", "seaport 1"])
    func aChangeTouchesItsRowOnly(_ change: Change, _ name: String) async throws {
        try await withDatabase { _, context, other in
            try await other.runScript("DELETE FROM visit; DELETE FROM place_tag; DELETE FROM sign")
            let before = try await placeRows(other)
            let all = try await context.fetch("place").all()
            let object = try #require(all.first { $0["name"] == .string(name) })
            if name == "capital 1", change.testDescription == "save of several" { return }
            try await change.body(object, context)
            let expected =
                change.isDeletion
                ? before.filter { !$0.contains(name) }
                : before.map { $0.replacing("\(name) \(name) ", with: "\(name) changed ") }
            #expect(try await placeRows(other) == expected)
            #expect(object.isDeleted == change.isDeletion)
            if !change.isDeletion { #expect(object["name"] == "changed") }
            for one in all where one !== object {
                #expect(!one.isDeleted && one["name"] != "changed", "\(one)")
                try await one.refresh()
            }
            #expect(try await Set(context.fetch("place").all()) == Set(all.filter { !$0.isDeleted }))
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func severalRowsOfOneKeyAreDeletedTogether() async throws {
        try await withDatabase { _, context, other in
            let doomed = try await context.fetch("place").where("name IN %@", ["city 1", "capital 1", "port 1"]).all()
            #expect(doomed.count == 3)
            try await context.delete(doomed)
            #expect(
                try await other.values("SELECT name FROM place WHERE id = 1 ORDER BY 1") == ["place 1", "seaport 1"])
            #expect(doomed.map(\.isDeleted) == [true, true, true])
            await expectError(.objectDeleted) { try await doomed[0].setValue("x", forKey: "name") }
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func newRowsGoIntoTheEntitysOwnTable() async throws {
        try await withDatabase { _, context, other in
            let created = try await context.create("place", ["id": 3, "name": "created"])
            #expect(created.objectID?.uri == "kindred:/public/place?id=3")
            let inserted = try context.add("place", ["id": 4, "name": "inserted"])
            let city = try context.add("city", ["id": 7, "name": "new city"])
            try await context.save()
            #expect(inserted.objectID?.uri == "kindred:/public/place?id=4")
            #expect(city.objectID?.uri == "kindred:/public/city?id=7")
            #expect(
                try await other.values("SELECT name FROM ONLY place ORDER BY id").suffix(2) == ["created", "inserted"])
            #expect(try await context.find("place", 3) === created)
            #expect(try await context.find("place", 4) === inserted)
            #expect(try await context.find("place", 7)?["name"] == "new city")
            #expect(try await context.fetch("place").where("SELF = %@", created).all() == [created])
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aConflictIsOneWithARowOfTheSameTable() async throws {
        try await withDatabase { _, context, other in
            let cities = try await context.fetch("place").where("name BEGINSWITH 'city'").sorted("id").all()
            let both = try await context.upsert(
                "place", [["id": 1, "name": "updated"], ["id": 3, "name": "stored"]], on: "id")
            #expect(both.map { $0.objectID?.uri } == ["kindred:/public/place?id=1", "kindred:/public/place?id=3"])
            let kept = try await context.create(
                "place", [["id": 1, "name": "kept"], ["id": 4, "name": "new"]], unlessExists: "id")
            #expect(kept.map { $0["name"] } == ["updated", "new"])
            #expect(kept[0] === both[0])
            let names = try await other.values("SELECT name FROM ONLY place ORDER BY id")
            #expect(names == ["updated", "place 2", "stored", "new"])
            #expect(cities.map { $0["name"] } == ["city 1", "city 2", "city 3"])
            #expect(try await other.values("SELECT name FROM ONLY city ORDER BY id") == ["city 1", "city 2", "city 3"])
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aKeyChangesHandsWithinATable() async throws {
        try await withDatabase { _, context, other in
            try await other.runScript("DELETE FROM visit; DELETE FROM place_tag; DELETE FROM sign")
            let place = try await row("place 1", as: "place", context)
            let city = try await row("city 1", as: "place", context)
            place["id"] = 10
            city["id"] = 11
            let new = try context.add("place", ["id": 1, "name": "new"])
            try await context.save()
            #expect(try await other.values("SELECT id FROM place WHERE name = 'city 1'") == [11])
            #expect(
                try await other.values("SELECT id FROM ONLY place WHERE name IN ('place 1', 'new') ORDER BY id") == [
                    1, 10,
                ])
            #expect(try await context.find("place", 1) === new)
            #expect(try await context.find("place", 10) === place)
            #expect(try await context.find("place", 11) === city)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aVersionIsThatOfTheRow() async throws {
        try await withDatabase(overrides: [.table("place", optimisticLocking: .xmin)]) { _, context, other in
            let city = try await row("city 1", as: "place", context)
            let place = try await row("place 1", as: "place", context)
            try await other.query("UPDATE ONLY place SET visits = 5 WHERE id = 1")
            city["visits"] = 6
            try await context.save()
            place["visits"] = 7
            await expectError(.staleObject) { try await context.save() }
            #expect(try await other.values("SELECT visits FROM place WHERE visits > 0 ORDER BY 1") == [5, 6])
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func aRollbackPutsBackTheRightObject() async throws {
        try await withDatabase { _, context, other in
            let before = try await placeRows(other)
            let all = try await context.fetch("place").where("id = 1").sorted("name").all()
            let city = try #require(all.first { $0["name"] == "city 1" })
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await context.transaction {
                    try await city.setValue("changed", forKey: "name")
                    try await context.delete(try #require(all.first { $0["name"] == "port 1" }))
                    throw Stop()
                }
            }
            #expect(try await placeRows(other) == before)
            #expect(all.map { $0["name"] } == ["capital 1", "city 1", "place 1", "port 1", "seaport 1"])
            #expect(all.filter(\.isDeleted).isEmpty)
            #expect(try await context.fetch("place").where("id = 1").sorted("name").all() == all)
        }
    }
}
