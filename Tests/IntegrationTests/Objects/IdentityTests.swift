import Kindred
import KindredTesting
import Testing

/// One object per row and context; answers never overwrite newer values; nothing is kept alive by a graph's cycles.
@Suite struct IdentityTests {
    @Test(.database(.sql(referenceSchema))) func aRowHasOneObjectPerContext() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            #expect(try await context.fetch("person").where("surname = 'Smith'").one() === ann)
            #expect(try await context.get(try #require(ann.objectID)) === ann)
            let email = try await context.fetch("email").where("id = 1").one()
            #expect(try await email.object(forKey: "person") === ann)
            let elsewhere = try await database.makeContext().fetch("person").where("id = 1").one()
            #expect(elsewhere !== ann)
            #expect(elsewhere.objectID == ann.objectID)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aFetchRefreshesTheObjectsItFinds() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            _ = try await (ann.set(forKey: "emailSet").objects, bob.set(forKey: "emailSet").objects)
            _ = try await other.value("UPDATE email SET person_id = 2, address = 'new' WHERE id = 1 RETURNING 1")
            #expect(email["address"] == "ann@example.org")
            _ = try await context.fetch("email").all()
            #expect(email["address"] == "new")
            #expect(try await bob.set(forKey: "emailSet").contains(email))
            #expect(try await !ann.set(forKey: "emailSet").contains(email))
        }
    }

    @Test(.database(.sql(referenceSchema))) func refreshReadsRowAndRelationshipsAgain() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            #expect(try await ann.set(forKey: "emailSet").objects.count == 2)
            _ = try await other.value("UPDATE email SET person_id = 1 RETURNING 1")
            _ = try await other.value("UPDATE person SET surname = 'New' WHERE id = 1 RETURNING 1")
            #expect(try await ann.set(forKey: "emailSet").count == 2)
            try await ann.refresh()
            #expect(ann["surname"] == "New")
            #expect(try await ann.set(forKey: "emailSet").count == 4)
        }
    }

    @Test(.database(.sql(referenceSchema))) func objectsAndContextAreReleasedWithTheirLastReference() async throws {
        try await withDatabase { database, _, other in
            weak var context: DatabaseContext?
            weak var person: DatabaseObject?
            do {
                let strong = database.makeContext()
                context = strong
                let bob = try await strong.fetch("person").where("id = 2").one()
                person = bob
                for try await title in try await bob.set(forKey: "titles") {
                    for try await holder in try await title.set(forKey: "people") {
                        _ = try await holder.set(forKey: "titles").objects
                    }
                }
                for try await email in try await bob.set(forKey: "emailSet") {
                    _ = try await email.object(forKey: "person")
                }
            }
            #expect(person == nil)
            #expect(context == nil)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aReleasedObjectReturnsWithItsWrittenValues() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await ann.set(forKey: "emailSet")
            for try await email in emails where email["id"] == 1 {
                try await email.setValue("changed@example.org", forKey: "address")
            }
            try await expectStatements([]) { () async throws in
                #expect(try await emails.objects.contains { $0["address"] == "changed@example.org" })
            }
        }
    }

    @Test(.database(.sql(shopSchema))) func objectIDsSurviveAsURIs() async throws {
        try await withDatabase { database, context, other in
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 2").one()
            let id = try #require(purchase.objectID)
            #expect(id.uri == "kindred:/public/purchase?tenant=1&id=2")
            #expect(try await context.get(uri: id.uri) === purchase)
            let elsewhere = try await database.makeContext().get(uri: id.uri)
            #expect(elsewhere.objectID == id)
            await expectError(.notFound) {
                _ = try await context.get(uri: "kindred:/public/purchase?tenant=9&id=9")
            }
            for bad in [
                "", "http://x", "kindred:/public/nothing?id=1", "kindred:/public/purchase",
                "kindred:/public/purchase?id=1",
                "kindred:/public/purchase?tenant=1&id=x", "kindred:/public/purchase?tenant=1&id=1&id=2",
                "kindred:/public/purchase?tenant=1&id=%zz", "kindred:/public/purchase?tenant=1&id=%+1",
            ] {
                await expectError(.invalidObjectID) { _ = try await context.get(uri: bad) }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func manyTasksMayShareAContext() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let emails = try await context.fetch("email").all()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 0..<64 {
                    group.addTask {
                        let owner = people[round % people.count]
                        let email = emails[round % emails.count]
                        try await owner.set(forKey: "emailSet").insert(email)
                        _ = try await owner.set(forKey: "emailSet").objects
                        _ = try await email.object(forKey: "person")?["surname"]
                    }
                }
                try await group.waitForAll()
            }
            for email in emails {
                let stored = try await other.value("SELECT person_id FROM email WHERE id = \(email["id"])")
                #expect(email["person_id"] == stored)
            }
            for person in people {
                let stored = try await other.values(
                    "SELECT id FROM email WHERE person_id = \(person["id"]) ORDER BY id")
                let members = try await person.set(forKey: "emailSet").objects.map { $0["id"] }
                #expect(Set(members) == Set(stored))
            }
        }
    }
}
