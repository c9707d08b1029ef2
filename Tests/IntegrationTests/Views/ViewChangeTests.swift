import Kindred
import KindredTesting
import Testing

/// Writing along relationships of views, and what loaded sets show afterwards.
@Suite struct ViewChangeTests {
    private func ids(_ set: ToMany<DatabaseObject>, _ key: String = "id") async throws -> [PostgresValue?] {
        try await set.objects.map { $0[key] }.sorted { "\($0 ?? 0)" < "\($1 ?? 0)" }
    }

    @Test(.database(.sql(viewsSchema))) func setsOfViewsFollowWritesOfTheirTables() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let views = try await context.fetch("person_v").sorted("id").all()
            let emails = try await context.fetch("email").sorted("id").all()
            let shown = try await context.fetch("email_v").sorted("id").all()
            func expect(_ first: [PostgresValue?], _ second: [PostgresValue?], _ line: Int = #line) async throws {
                let sets = [(people, "email_vSet"), (views, "email_vSet"), (views, "emailSet"), (people, "emailSet")]
                for (owners, key) in sets {
                    let place = "\(owners[0].entity.name).\(key), line \(line)"
                    #expect(try await ids(owners[0].set(forKey: key)) == first, "\(place)")
                    #expect(try await ids(owners[1].set(forKey: key)) == second, "\(place)")
                    #expect(try await owners[0].set(forKey: key).count == first.count, "\(place)")
                    let member = (key == "emailSet" ? emails : shown)[0]
                    let isMember = first.contains { $0 == 1 }
                    #expect(try await owners[0].set(forKey: key).contains(member) == isMember, "\(place)")
                }
            }
            try await expect([1, 2], [3])
            try await emails[0].setValue(people[1], forKey: "person")
            try await expect([2], [1, 3])
            emails[1]["person_id"] = 2
            try await context.save()
            try await expect([], [1, 2, 3])
            try await people[0].set(forKey: "emailSet").set([emails[0], emails[2]])
            try await expect([1, 3], [2])
            #expect(try await context.fetch("email").where("id = 3").update(["person_id": 2]) == 1)
            try await expect([1], [2, 3])
            try await context.delete(emails[1])
            try await expect([1], [3])
            try await context.create("email", ["id": 9, "address": "new", "person": people[0]])
            try await expect([1, 9], [3])
            let new = try context.add("email", ["id": 8, "address": "newer", "person": people[1]])
            try await context.save()
            try await expect([1, 9], [3, 8])
            #expect(!new.isInserted)
        }
    }

    @Test(.database(.sql(viewsSchema))) func setsOfTablesFollowWritesThroughViews() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let views = try await context.fetch("person_v").sorted("id").all()
            let shown = try await context.fetch("email_v").sorted("id").all()
            let boxes = try await context.fetch("letterbox").sorted("box").all()
            func expect(_ first: [PostgresValue?], _ second: [PostgresValue?], _ line: Int = #line) async throws {
                for (owners, key, id) in [
                    (people, "emailSet", "id"), (people, "email_vSet", "id"), (views, "emailSet", "id"),
                    (views, "letterboxSet", "box"),
                ] {
                    let place = "\(owners[0].entity.name).\(key), line \(line)"
                    #expect(try await ids(owners[0].set(forKey: key), id) == first, "\(place)")
                    #expect(try await ids(owners[1].set(forKey: key), id) == second, "\(place)")
                    #expect(try await owners[1].set(forKey: key).count == second.count, "\(place)")
                }
            }
            try await expect([1, 2], [3])
            try await shown[0].setValue(people[1], forKey: "person")
            try await expect([2], [1, 3])
            try await shown[1].setValue(views[1], forKey: "person_v")
            try await expect([], [1, 2, 3])
            try await views[0].set(forKey: "letterboxSet").formUnion(boxes[1...2])
            try await expect([2, 3], [1])
            boxes[0]["owner_id"] = 1
            try await context.save()
            try await expect([1, 2, 3], [])
            try await people[0].set(forKey: "email_vSet").removeAll()
            try await expect([], [])
            try await context.create("email_v", ["id": 9, "address": "new", "person_v": views[1]])
            try await expect([], [9])
            try await context.delete(try await context.fetch("letterbox").where("box = 9").one())
            try await expect([], [])
            try await people[1].set(forKey: "email_vSet").set(shown[0...1])
            try await expect([], [1, 2])
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 2 ORDER BY id") == [1, 2])
        }
    }

    @Test(.database(.sql(viewsSchema))) func pairsOfViewsAreTheTablesPairs() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let view = try await context.fetch("person_v").where("id = 1").one()
            let titles = try await context.fetch("title").sorted("id").all()
            let shown = try await context.fetch("title_v").sorted("id").all()
            func expect(_ all: [PostgresValue?], _ line: Int = #line) async throws {
                let visible = all.filter { $0 != 3 }
                for (owner, key, expected) in [
                    (ann, "titleSet", all), (ann, "title_vSet", visible), (view, "titleSet", all),
                    (view, "title_vSet", visible),
                ] {
                    #expect(try await ids(owner.set(forKey: key)) == expected, "\(owner).\(key), line \(line)")
                    #expect(try await owner.set(forKey: key).count == expected.count, "\(owner).\(key), line \(line)")
                }
                let rows = try await ann.set(forKey: "person_titleSet").count
                #expect(rows == all.count, "line \(line)")
                #expect(try await view.set(forKey: "person_titleSet").count == all.count, "line \(line)")
                let isDoctor = all.contains { $0 == 1 }
                #expect(try await titles[0].set(forKey: "personSet").contains(ann) == isDoctor, "line \(line)")
                #expect(try await shown[0].set(forKey: "person_vSet").contains(view) == isDoctor, "line \(line)")
            }
            try await expect([1, 3])
            try await view.set(forKey: "title_vSet").insert(shown[1])
            try await expect([1, 2, 3])
            try await ann.set(forKey: "titleSet").remove(titles[0])
            try await expect([2, 3])
            try await shown[0].set(forKey: "person_vSet").insert(view)
            try await expect([1, 2, 3])
            try await view.set(forKey: "titleSet").removeAll()
            try await expect([])
            try await view.setValue([shown[0], shown[1]], forKey: "title_vSet")
            try await expect([1, 2])
        }
    }

    @Test(.database(.sql(viewsSchema))) func whatATransactionUndoesIsUndoneForViews() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let email = try await context.fetch("email").where("id = 1").one()
            let shown = try await context.fetch("email_v").where("id = 3").one()
            func expect(_ first: [PostgresValue?], _ second: [PostgresValue?], _ line: Int = #line) async throws {
                for key in ["email_vSet", "emailSet"] {
                    #expect(try await ids(people[0].set(forKey: key)) == first, "\(key), line \(line)")
                    #expect(try await ids(people[1].set(forKey: key)) == second, "\(key), line \(line)")
                }
            }
            try await expect([1, 2], [3])
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await context.transaction {
                    try await email.setValue(people[1], forKey: "person")
                    try await expect([2], [1, 3])
                    try await shown.setValue(people[0], forKey: "person")
                    try await expect([2, 3], [1])
                    throw Stop()
                }
            }
            try await expect([1, 2], [3])
            #expect(shown["person_id"] == 2)
        }
    }

    @Test(.database(.sql(viewsSchema))) func aRowThatLeavesAViewIsFoundNoMore() async throws {
        try await withDatabase { database, context, other in
            let email = try await context.fetch("email").where("id = 3").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            let active = try #require(try await email.object(forKey: "active_person"))
            #expect(active["name"] == "Bob")
            try await bob.setValue("Rob", forKey: "name")
            #expect(try await email.object(forKey: "active_person") === active)
            #expect(active["name"] == "Rob")
            try await bob.setValue(false, forKey: "active")
            #expect(try await email.object(forKey: "active_person") == nil)
            try await bob.setValue(true, forKey: "active")
            #expect(try await email.object(forKey: "active_person") === active)
        }
    }

    @Test(.database(.sql(viewsSchema))) func viewsThatTakeNoChangesSaySoBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let joined = try await context.fetch("email_joined").where("id = 1").one()
            let count = try await ann.set(forKey: "email_countSet").objects[0]
            let set = try await ann.set(forKey: "email_joinedSet")
            try await expectStatements([]) { () async throws in
                await expectError(.readOnly) { try await joined.setValue(nil, forKey: "person") }
                await expectError(.readOnly) { try await count.setValue(ann, forKey: "person") }
                await expectError(.readOnly) { try await set.insert(joined) }
                await expectError(.readOnly) { try await set.remove(joined) }
                await expectError(.readOnly) { try await set.removeAll() }
                await expectError(.readOnly) { try await set.set([joined]) }
                await expectError(.readOnly) { try await context.create("email_count", ["person": ann]) }
            }
        }
    }

    @Test(.database(.sql(viewsSchema))) func aOneToOnePartnerMovesThroughViews() async throws {
        try await withDatabase { database, context, other in
            try await other.runScript(
                """
                CREATE TABLE desk (id int PRIMARY KEY, person_id int UNIQUE REFERENCES person);
                CREATE VIEW desk_v AS SELECT * FROM desk;
                INSERT INTO desk VALUES (1, 1), (2, 2);
                """)
            try await database.refreshSchema()
            let context = database.makeContext()
            let people = try await context.fetch("person_v").sorted("id").all()
            let desks = try await context.fetch("desk_v").sorted("id").all()
            #expect(try await people[0].object(forKey: "desk_v") === desks[0])
            try await people[0].setValue(desks[1], forKey: "desk_v")
            #expect(try await people[0].object(forKey: "desk_v") === desks[1])
            #expect(try await people[1].object(forKey: "desk_v") == nil)
            #expect(try await people[0].object(forKey: "desk")?["id"] == 2)
            try await desks[0].setValue(people[0], forKey: "person_v")
            #expect(try await other.values("SELECT person_id FROM desk ORDER BY id") == [1, nil])
            #expect(try await people[0].object(forKey: "desk")?["id"] == 1)
        }
    }
}
