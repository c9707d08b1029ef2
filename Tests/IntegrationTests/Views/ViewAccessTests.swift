import Kindred
import KindredTesting
import Testing

/// Reading along relationships of views.
@Suite struct ViewAccessTests {
    private func ids(_ objects: [DatabaseObject], _ key: String = "id") -> [PostgresValue?] {
        objects.map { $0[key] }.sorted { "\($0 ?? 0)" < "\($1 ?? 0)" }
    }

    @Test(.database(.sql(viewsSchema))) func keysAndPathsLeadThroughViews() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            #expect(try await ids(ann.set(forKey: "email_vSet").objects) == [1, 2])
            #expect(try await ids(ann.set(forKey: "letterboxSet").objects, "box") == [1, 2])
            #expect(try await ann.set(forKey: "email_countSet").objects.map { $0["n"] } == [2])
            let box = try await context.fetch("letterbox").where("box = 3").one()
            #expect(try await box.object(forKey: "person")?["name"] == "Bob")
            #expect(try await box.object(forKey: "active_person")?["number"] == 2)
            let view = try #require(try await box.object(forKey: "person_v"))
            #expect(try await view.set(forKey: "letterboxSet").objects == [box])
            #expect(
                try await view.value(forKeyPath: "letterboxSet.person.name")?.collection?.map(\.attribute) == ["Bob"])
            // A row that a view leaves out is not there, and the table's row has another object.
            let hidden = try await context.fetch("email").where("id = 5").one()
            #expect(try await hidden.object(forKey: "active_person") == nil)
            #expect(try await hidden.object(forKey: "person_v")?["name"] == "Cid")
            let profile = try await context.fetch("profile_v").one()
            #expect(try await profile.object(forKey: "person") === ann)
            #expect(try await ann.object(forKey: "profile_v") === profile)
            let joined = try await context.fetch("email_joined").where("id = 1").one()
            #expect(try await joined.object(forKey: "person") === ann)
        }
    }

    @Test(.database(.sql(viewsSchema))) func manyToManyRelationshipsShowWhatViewsShow() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let titles = try await ann.set(forKey: "title_vSet")
            // The pair with the hidden title has no row in the view.
            #expect(try await titles.count == 1)
            #expect(try await titles.objects.map { $0["name"] } == ["Dr"])
            let doctor = try await context.fetch("title_v").where("id = 1").one()
            #expect(try await titles.contains(doctor))
            #expect(try await ids(doctor.set(forKey: "person_vSet").objects) == [1, 2])
            let view = try await context.fetch("active_person").where("number = 1").one()
            #expect(try await view.set(forKey: "titleSet").count == 2)
            let fresh = try await database.makeContext().fetch("active_person").where("number = 1").one()
            #expect(try await fresh.set(forKey: "title_vSet").isEmpty == false)
        }
    }

    @Test(.database(.sql(viewsSchema))) func conditionsFollowViews() async throws {
        try await withDatabase { database, context, other in
            func people(_ condition: String, _ entity: String = "person", _ key: String = "id") async throws
                -> [PostgresValue?]
            {
                ids(try await context.fetch(entity).where(condition).all(), key)
            }
            #expect(try await people("ANY email_vSet.address = 'a2'") == [1])
            #expect(try await people("ANY letterboxSet.box > 2") == [2, 3])
            #expect(try await people("email_countSet.@count = 0") == [])
            #expect(try await people("ANY email_countSet.n = 2") == [1])
            #expect(try await people("title_vSet.@count = 1") == [1])
            #expect(try await people("NONE title_vSet.name = 'Prof'") == [1, 3])
            #expect(
                try await people("SUBQUERY(titleSet, $t, ANY $t.active_personSet.number = 2).@count > 0") == [1, 2])
            #expect(try await people("active_person.name = 'Bob'", "email") == [3])
            #expect(try await people("active_person = nil", "email") == [4, 5])
            #expect(try await people("active_person != nil", "email") == [1, 2, 3])
            #expect(try await people("person_v.name = 'Cid'", "letterbox", "box") == [5])
            let view = try await context.fetch("person_v").where("id = 2").one()
            #expect(try await context.fetch("email").where("person_v = %@", view).one()["id"] == 3)
            #expect(try await context.fetch("title").where("ANY person_vSet = %@", view).count() == 2)
            #expect(try await view.set(forKey: "emailSet").where("address = 'b1'").count() == 1)
            #expect(try await context.fetch("email_v").sorted("person.name").sorted("id").all().count == 5)
        }
    }

    @Test(.database(.sql(viewsSchema))) func aLoopAndAPrefetchSendOneQueryForEach() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            try await expectStatements(["SELECT"]) { () async throws in
                for person in people { _ = try await person.set(forKey: "letterboxSet").objects }
            }
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                _ = try await context.fetch("email_v").prefetch("person_v", "person_v.title_vSet").all()
            }
            let counts = try await context.fetch("email_count").where("person_id != nil").all()
            try await expectStatements(["SELECT"]) { () async throws in
                for count in counts { _ = try await count.object(forKey: "person_v") }
            }
        }
    }
}
