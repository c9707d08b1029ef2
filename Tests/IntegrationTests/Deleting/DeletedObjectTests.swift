import Kindred
import KindredTesting
import Testing

/// Objects whose rows are gone: they show their last values, and every other use throws an error that says so.
@Suite struct DeletedObjectTests {
    @Test(.database(.sql(referenceSchema))) func aDeletedObjectRefusesEveryUseBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let (ann, bob) = (
                try await context.fetch("person").where("id = 1").one(),
                try await context.fetch("person").where("id = 2").one()
            )
            let titles = try await bob.set(forKey: "titles")
            let emails = try await bob.set(forKey: "emailSet")
            let title = try await context.fetch("title").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 4").one()
            let gone = try await context.create("email", ["address": "gone@example.org", "person": ann])
            try await context.delete(gone)
            _ = try await emails.objects
            try await emails.removeAll()
            try await titles.removeAll()
            try await context.delete(bob)
            let before = (bob["id"], bob["firstname"])
            #expect(bob.isDeleted && gone.isDeleted && !bob.hasStagedChanges)
            let uses: [(String, () async throws -> Void)] = [
                ("setValue", { try await bob.setValue("x", forKey: "firstname") }),
                ("setValues", { try await bob.setValues(["firstname": "x"]) }),
                ("set a to-many", { try await bob.setValue([email], forKey: "emailSet") }),
                ("to-many", { _ = try await bob.set(forKey: "emailSet").objects }),
                ("count", { _ = try await emails.count }),
                ("isEmpty", { _ = try await emails.isEmpty }),
                ("contains", { _ = try await emails.contains(email) }),
                ("insert", { try await emails.insert(email) }),
                ("remove", { try await emails.remove(email) }),
                ("set", { try await emails.set([email]) }),
                ("removeAll", { try await emails.removeAll() }),
                ("request", { _ = try emails.request() }),
                ("many-to-many insert", { try await titles.insert(title) }),
                ("many-to-many remove", { try await titles.subtract([title]) }),
                ("many-to-many objects", { _ = try await titles.objects }),
                ("to-one", { _ = try await gone.object(forKey: "person") }),
                ("key path", { _ = try await gone.value(forKeyPath: "person.firstname") }),
                ("as a destination", { try await email.setValue(bob, forKey: "person") }),
                ("as a destination of a new one", { try await context.create("email", ["person": bob]) }),
                ("as a member", { try await ann.set(forKey: "emailSet").insert(gone) }),
                ("refresh", { try await bob.refresh() }),
                ("lock", { try await bob.lock() }),
                ("delete", { try await context.delete(bob) }),
                ("delete with others", { try await context.delete([ann, bob]) }),
                ("stage a deletion", { try context.stageDeletion(of: bob) }),
                ("plan", { _ = try await context.deletionPlan(for: bob) }),
            ]
            for (name, use) in uses {
                let (_, recorder) = await recordingStatements {
                    do {
                        try await use()
                        Issue.record("\(name): nothing was thrown")
                    } catch let error as KindredError {
                        #expect(error.code == .objectDeleted, "\(name): \(error)")
                        #expect(error.message.contains("deleted") && error.object != nil, "\(name): \(error)")
                    } catch {
                        Issue.record(error, "\(name)")
                    }
                }
                #expect(recorder.statements.isEmpty, "\(name): \(recorder.statements)")
            }
            #expect(bob["id"] == before.0 && bob["firstname"] == before.1)
            // A value staged on it is a problem of the next save, which rollback takes back.
            bob["firstname"] = "x"
            #expect(bob["firstname"] == before.1)
            context.rollback()
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM person WHERE firstname = 'x'") == 0)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aGivenUpNewObjectRefusesUseToo() async throws {
        try await withDatabase { database, context, other in
            let new = try context.add("person", ["firstname": "New"])
            new.rollback()
            #expect(new.isDeleted)
            try await expectStatements([]) { () async throws in
                let error = await expectError(.objectDiscarded) { try await new.setValue("x", forKey: "firstname") }
                #expect(error?.object === new && error?.category == .mistake)
                await expectError(.objectDiscarded) { _ = try await new.set(forKey: "emailSet").objects }
                await expectError(.objectDiscarded) { try context.stageDeletion(of: new) }
                try await context.save()
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aDeletedObjectLeavesTheSetsItWasToJoin() async throws {
        try await withDatabase { database, context, other in
            let titles = try await context.fetch("title").sorted("id").all()
            let person = try context.add("person", ["surname": "New", "titles": [titles[1], titles[2]]])
            let set = try await person.set(forKey: "titles")
            struct Failure: Error {}
            await #expect(throws: Failure.self) { () async throws in
                try await context.transaction { () async throws in
                    try await context.delete(titles[2])
                    #expect(try await set.objects == [titles[1]])
                    throw Failure()
                }
            }
            #expect(Set(try await set.objects) == Set(titles[1...2]))
            try await context.delete(titles[2])
            #expect(try await set.objects == [titles[1]])
            try await context.save()
            #expect(try await other.values("SELECT title_id FROM person_title_rel WHERE person_id = 100") == [2])
        }
    }
}
