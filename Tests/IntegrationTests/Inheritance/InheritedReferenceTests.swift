import Kindred
import KindredTesting
import Testing

/// Foreign keys refer to the rows of one table alone, whatever keys the tables have that inherit from it.
@Suite struct InheritedReferenceTests {
    private func names(_ objects: [DatabaseObject], _ key: String = "name") -> [String] {
        objects.map { "\($0[key] ?? "-")" }.sorted()
    }

    @Test(.database(.sql(inheritanceSchema))) func aKeyLeadsToTheRowOfItsTable() async throws {
        try await withDatabase { database, context, other in
            for isHeld in [false, true] {
                let fresh = database.makeContext()
                let places = isHeld ? try await fresh.fetch("place").all() : []
                let visits = try await fresh.fetch("visit").sorted("id").all()
                let found = try await visits.asyncMap { try await $0.object(forKey: "place")?["name"] }
                #expect(found == ["place 1", "place 1", "place 2", nil])
                let sign = try await fresh.fetch("sign").where("id = 1").one()
                #expect(try await sign.object(forKey: "place")?["name"] == "place 1")
                withExtendedLifetime(places) {}
            }
            let prefetched = try await database.makeContext().fetch("visit").prefetch("place").sorted("id").all()
            try await expectStatements([]) { () async throws in
                #expect(
                    try await prefetched.asyncMap { try await $0.object(forKey: "place")?["name"] } == [
                        "place 1", "place 1", "place 2", nil,
                    ])
            }
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func nothingRefersToARowOfAChild() async throws {
        try await withDatabase { database, context, other in
            for isPrefetched in [false, true] {
                let fresh = database.makeContext()
                let request = try fresh.fetch("place")
                let places = try await
                    (isPrefetched ? request.prefetch("visitSet", "tagSet", "sign", "place_tagSet") : request).all()
                for place in places {
                    let id = place["id"]
                    let isOwn = place["name"] == .string("place \(id ?? 0)")
                    let expected = isOwn ? try await other.values("SELECT label FROM visit WHERE place_id = \(id)") : []
                    let visits = try await place.set(forKey: "visitSet")
                    #expect(try await visits.count == expected.count, "\(place)")
                    #expect(try await visits.isEmpty == expected.isEmpty)
                    #expect(try await names(visits.objects, "label") == expected.map { "\($0 ?? "-")" }.sorted())
                    #expect(try await visits.request().count() == expected.count)
                    #expect(try await place.set(forKey: "tagSet").count == (isOwn ? 1 : 0))
                    #expect(try await place.set(forKey: "tagSet").objects.count == (isOwn ? 1 : 0))
                    #expect(try await place.set(forKey: "place_tagSet").objects.count == (isOwn ? 1 : 0))
                    #expect(try await (place.object(forKey: "sign") != nil) == (isOwn && id == 1))
                }
                let tag = try await fresh.fetch("tag").where("id = 1").one()
                #expect(try await names(tag.set(forKey: "placeSet").objects) == ["place 1", "place 2"])
                #expect(try await tag.set(forKey: "placeSet").count == 2)
                let city = try #require(places.first { $0["name"] == "city 1" })
                #expect(try await !tag.set(forKey: "placeSet").contains(city))
                #expect(try await names(tag.set(forKey: "placeSet").request().all()) == ["place 1", "place 2"])
            }
        }
    }

    /// Conditions, and the same in SQL.
    @Test(
        .database(.sql(inheritanceSchema)),
        arguments: [
            ("visit", "place.name = 'place 1'", "place_id = 1"), ("visit", "place.name = 'city 1'", "false"),
            ("visit", "place = nil", "place_id IS NULL"), ("visit", "NOT place.name = 'city 1'", "true"),
            ("place", "visitSet.@count = 2", "id = 1 AND tableoid = 'place'::regclass"),
            ("place", "visitSet.@count = 0", "tableoid <> 'place'::regclass"),
            ("place", "ANY visitSet.label = 'third'", "id = 2 AND tableoid = 'place'::regclass"),
            ("place", "NONE visitSet.label = 'third'", "NOT (id = 2 AND tableoid = 'place'::regclass)"),
            ("place", "ANY tagSet.name = 'old'", "tableoid = 'place'::regclass"),
            ("place", "tagSet.@count > 0", "tableoid = 'place'::regclass"),
            ("place", "sign != nil", "id = 1 AND tableoid = 'place'::regclass"),
            ("place", "sign.id = 1", "id = 1 AND tableoid = 'place'::regclass"),
            ("place", "sign = nil", "NOT (id = 1 AND tableoid = 'place'::regclass)"),
            ("place", "ANY visitSet.place.name = 'place 1'", "id = 1 AND tableoid = 'place'::regclass"),
            ("place", "ANY visitSet.place = SELF", "id IN (1, 2) AND tableoid = 'place'::regclass"),
            ("tag", "ANY placeSet.name = 'place 1'", "id = 1"), ("tag", "ANY placeSet.name = 'city 1'", "false"),
            ("tag", "placeSet.@count = 2", "id = 1"), ("tag", "ANY placeSet.visitSet.label = 'third'", "id = 1"),
            ("place", "id = 1", "id = 1"),
            (
                "city", "id = 1",
                "id = 1 AND tableoid IN (SELECT 'city'::regclass UNION SELECT inhrelid FROM pg_inherits)"
            ),
        ])
    func conditionsSeeTheRowThatTheKeyNames(_ entity: String, _ condition: String, _ sql: String) async throws {
        try await withDatabase { _, context, other in
            let expected = try await other.value("SELECT count(*) FROM \(unsafeRaw: entity) WHERE \(unsafeRaw: sql)")
            let objects = try await context.fetch(entity).where(condition).all()
            #expect(.integer(Int64(objects.count)) == expected)
            #expect(try await .integer(Int64(context.fetch(entity).where(condition).count())) == expected)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func conditionsTakeObjectsOfTheRightTable() async throws {
        try await withDatabase { _, context, other in
            let place = try await row("place 1", as: "place", context)
            let city = try await row("city 1", as: "place", context)
            let far = try await row("city 3", as: "place", context)
            func visits(_ condition: String, _ argument: any PropertyValue) async throws -> Int {
                try await context.fetch("visit").where(condition, argument).count()
            }
            for (object, count) in [(place, 2), (city, 0), (far, 0)] {
                let id = try #require(object.objectID)
                #expect(try await visits("place = %@", object) == count)
                #expect(try await visits("place = %@", id) == count)
                #expect(try await visits("place IN %@", [object]) == count)
                #expect(try await visits("NOT place = %@", object) == 4 - count)
                #expect(try await context.fetch("tag").where("ANY placeSet = %@", object).count() == min(count, 1))
                #expect(try await context.fetch("tag").where("ANY placeSet IN %@", [object]).count() == min(count, 1))
            }
            #expect(try await visits("place IN %@", [city, place, far]) == 2)
            #expect(try await context.fetch("visit").sorted("place.name").all().count == 4)
            let groups = try await context.fetch("visit").group(by: "place.name", aggregates: .count).all()
            #expect(groups.count == 3)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func noRowIsMadeToReferToAChilds() async throws {
        try await withDatabase { _, context, other in
            let city = try await row("city 1", as: "place", context)
            let visit = try await context.fetch("visit").where("id = 4").one()
            let tag = try await context.fetch("tag").where("id = 2").one()
            let sign = try await context.fetch("sign").where("id = 2").one()
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { try await visit.setValue(city, forKey: "place") }
                await expectError(.wrongType) { try await city.set(forKey: "visitSet").insert(visit) }
                await expectError(.wrongType) { try await city.set(forKey: "visitSet").set([visit]) }
                await expectError(.wrongType) { try await city.set(forKey: "tagSet").insert(tag) }
                await expectError(.wrongType) { try await tag.set(forKey: "placeSet").insert(city) }
                await expectError(.wrongType) { try await tag.set(forKey: "placeSet").set([city]) }
                await expectError(.wrongType) { try await sign.setValue(city, forKey: "place") }
                await expectError(.wrongType) { try await city.setValue(sign, forKey: "sign") }
                await expectError(.wrongType) { _ = try await context.create("visit", ["id": 9, "place": city]) }
                await expectError(.wrongType) {
                    _ = try await context.create("visit", ["id": 9, "place": city.objectID])
                }
                await expectError(.wrongType) { _ = try context.add("visit", ["id": 9, "place": city]) }
                let new = try context.add("visit", ["id": 9])
                await expectError(.wrongType) { try await city.set(forKey: "visitSet").insert(new) }
                context.rollback()
            }
            #expect(try await other.value("SELECT count(*) FROM visit WHERE place_id = 1") == 2)
            #expect(try await other.value("SELECT count(*) FROM place_tag") == 2)
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func writesReferToTheTableItself() async throws {
        try await withDatabase { database, context, other in
            let all = try await context.fetch("place").all()
            let place = try #require(all.first { $0["name"] == "place 2" })
            let visit = try await context.fetch("visit").where("id = 4").one()
            let tag = try await context.fetch("tag").where("id = 2").one()
            try await visit.setValue(place, forKey: "place")
            try await tag.set(forKey: "placeSet").insert(place)
            #expect(try await names(place.set(forKey: "visitSet").objects, "label") == ["fourth", "third"])
            #expect(try await names(place.set(forKey: "tagSet").objects) == ["new", "old"])
            #expect(try await visit.object(forKey: "place") === place)
            let made = try await context.create("visit", ["id": 9, "label": "made", "place": place.objectID])
            #expect(try await made.object(forKey: "place") === place)
            let new = try context.add("place", ["id": 3, "name": "place 3"])
            let staged = try context.add("visit", ["id": 10, "label": "staged", "place": new])
            _ = try context.add("visit", ["id": 11, "label": "by value", "place_id": 3])
            try await tag.set(forKey: "placeSet").insert(new)
            try await context.save()
            #expect(try await staged.object(forKey: "place") === new)
            #expect(try await names(new.set(forKey: "visitSet").objects, "label") == ["by value", "staged"])
            #expect(try await names(tag.set(forKey: "placeSet").objects) == ["place 2", "place 3"])
            try await place.set(forKey: "visitSet").removeAll()
            try await tag.set(forKey: "placeSet").remove(place)
            #expect(try await other.values("SELECT id FROM visit WHERE place_id = 2") == [])
            #expect(try await other.values("SELECT place_id FROM place_tag WHERE tag_id = 2") == [3])
            for one in all where one["name"] != .string("place \(one["id"] ?? 0)") {
                #expect(try await one.set(forKey: "visitSet").isEmpty)
            }
        }
    }

    private static func rules(_ rule: String) -> String {
        inheritanceSchema
            + """
            ALTER TABLE place_tag DROP CONSTRAINT place_tag_place_id_fkey;
            ALTER TABLE place_tag ADD FOREIGN KEY (place_id) REFERENCES place ON DELETE CASCADE;
            ALTER TABLE sign DROP CONSTRAINT sign_place_id_fkey;
            ALTER TABLE sign ADD FOREIGN KEY (place_id) REFERENCES place ON DELETE SET NULL;
            ALTER TABLE visit DROP CONSTRAINT visit_place_id_fkey;
            ALTER TABLE visit ADD CONSTRAINT visit_place_id_fkey FOREIGN KEY (place_id) REFERENCES place\(rule);
            """
    }

    @Test(
        .database(.sql(rules(" ON DELETE CASCADE"))), arguments: ["place 1", "city 1", "capital 4", "seaport 1"],
        [false, true])
    func aDeletionReachesWhatRefersToItsRow(_ name: String, _ isByRequest: Bool) async throws {
        try await withDatabase { _, context, other in
            let visits = try await context.fetch("visit").sorted("id").all()
            let sign = try await context.fetch("sign").where("id = 1").one()
            let object = try await row(name, as: "place", context)
            if isByRequest {
                #expect(try await context.fetch("place").where("name = %@", name).delete() == 1)
            } else {
                let plan = try await context.deletionPlan(for: object)
                #expect(plan.deleted.count == (name == "place 1" ? 4 : 1))
                try await context.delete(object)
            }
            #expect(object.isDeleted)
            let left = try await other.values("SELECT id FROM visit ORDER BY id")
            #expect(left == (name == "place 1" ? [3, 4] : [1, 2, 3, 4]))
            #expect(visits.filter { !$0.isDeleted }.map { $0["id"] } == left)
            #expect(try await other.value("SELECT place_id FROM sign WHERE id = 1") == sign["place_id"])
            #expect(try await other.value("SELECT count(*) FROM place_tag") == (name == "place 1" ? 1 : 2))
        }
    }

    private static let annotated =
        inheritanceSchema
            + """
            COMMENT ON CONSTRAINT visit_place_id_fkey ON visit IS '@kindred {"deleteRule": "nullify"}';
            COMMENT ON CONSTRAINT sign_place_id_fkey ON sign IS '@kindred {"deleteRule": "nullify"}';
            COMMENT ON CONSTRAINT place_tag_place_id_fkey ON place_tag IS '@kindred {"deleteRule": "cascade"}';
            """

    @Test(.database(.sql(annotated)), arguments: ["place 1", "city 1"])
    func rulesReachWhatRefersToTheRow(_ name: String) async throws {
        try await withDatabase { _, context, other in
            let visit = try await context.fetch("visit").where("id = 1").one()
            try await context.delete(try await row(name, as: "place", context))
            #expect(try await other.value("SELECT place_id FROM visit WHERE id = 1") == visit["place_id"])
            #expect(visit["place_id"] == (name == "place 1" ? nil : 1))
            #expect(try await other.value("SELECT count(*) FROM place_tag") == (name == "place 1" ? 1 : 2))
        }
    }

    private static let denied =
        inheritanceSchema
        + #"COMMENT ON CONSTRAINT visit_place_id_fkey ON visit IS '@kindred {"deleteRule": "deny"}';"#

    @Test(.database(.sql(denied))) func onlyTheRowsOfTheTableAreKept() async throws {
        try await withDatabase { _, context, other in
            let error = try await row("place 1", as: "place", context)
            let denial = await expectError(.deletionDenied) { try await context.delete(error) }
            #expect(denial?.message.contains("kindred:/public/place?id=1") == true)
            try await context.delete(try await row("city 1", as: "place", context))
            #expect(
                try await other.values("SELECT name FROM place WHERE id = 1 ORDER BY 1") == [
                    "capital 1", "place 1", "port 1", "seaport 1",
                ])
        }
    }

    @Test(.database(.sql(inheritanceSchema))) func theServersRefusalNamesTheRow() async throws {
        try await withDatabase { _, context, other in
            try await other.runScript("DELETE FROM place_tag; DELETE FROM sign")
            let error = await expectError(.deletionDenied) {
                try await context.transaction {
                    try await context.delete(try await context.fetch("place").where("id = 1").all())
                }
            }
            #expect(error?.message.contains("kindred:/public/place?id=1 ") == true, "\(error?.message ?? "")")
            #expect(try await other.value("SELECT count(*) FROM place WHERE id = 1") == 5)
        }
    }
}
