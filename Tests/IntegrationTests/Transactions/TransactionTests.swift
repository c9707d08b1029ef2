import Kindred
import KindredTesting
import Synchronization
import Testing

/// On failure rows and objects are back where they were, at every depth.
@Suite struct TransactionTests {
    private struct Failure: Error, Equatable {}

    @Test(.database(.sql(referenceSchema))) func aFailedTransactionPutsRowsAndObjectsBack() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            let emails = try await context.fetch("email").sorted("id").all()
            let titles = try await bob.set(forKey: "titles")
            let dr = try #require(try await titles.objects.first { $0["name"] == "Dr" })
            _ = try await ann.set(forKey: "emailSet").objects
            var created: DatabaseObject?
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await ann.setValue("Changed", forKey: "surname")
                    try await bob.set(forKey: "emailSet").formUnion(emails)
                    try await titles.remove(dr)
                    created = try await context.create("person", ["surname": "New"])
                    try await context.delete(emails[3])
                    #expect(emails[3].isDeleted)
                    #expect(try await context.fetch("person").count() == 4)
                    throw Failure()
                }
            }
            #expect(ann["surname"] == "Smith")
            #expect(emails.map { $0["person_id"] } == [1, 1, 2, nil])
            #expect(!emails[3].isDeleted)
            #expect(created?.isDeleted == true)
            #expect(Set(try await ann.set(forKey: "emailSet").objects) == Set(emails[0...1]))
            #expect(try await bob.set(forKey: "emailSet").objects == [emails[2]])
            #expect(try await titles.contains(dr))
            #expect(try await dr.set(forKey: "people").objects.contains(bob))
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 2") == 1)
            #expect(try await other.value("SELECT count(*) FROM person") == 3)
            try await emails[3].setValue("again@example.org", forKey: "address")
        }
    }

    @Test(.database(.sql(referenceSchema))) func aFailedTransactionStagesAgainWhatItHasSavedTwice() async throws {
        try await withDatabase { _, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let names = people.map { $0["surname"] }
            for person in people { person["surname"] = "once" }
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await context.save()
                    for person in people { person["surname"] = "twice" }
                    try await context.save()
                    #expect(people.allSatisfy { $0["surname"] == "twice" && !$0.hasStagedChanges })
                    throw Failure()
                }
            }
            #expect(people.allSatisfy { $0["surname"] == "once" && $0.hasStagedChanges })
            #expect(try await other.value("SELECT count(*) FROM person WHERE surname IN ('once', 'twice')") == 0)
            context.rollback()
            #expect(people.map { $0["surname"] } == names)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aFailedSavepointUndoesTheInnerScopeOnly() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            try await context.transaction {
                try await ann.setValue("Outer", forKey: "surname")
                try await context.transaction { try await ann.setValue("Kept", forKey: "firstname") }
                await #expect(throws: Failure.self) {
                    try await context.transaction {
                        try await ann.setValue("Inner", forKey: "surname")
                        throw Failure()
                    }
                }
                #expect(ann["surname"] == "Outer")
                await expectError(.constraintViolation) {
                    _ = try await context.transaction { try await context.create("title", ["name": "Dr"]) }
                }
            }
            #expect(try await other.value("SELECT surname || firstname FROM person WHERE id = 1") == "OuterKept")
            #expect(ann["surname"] == "Outer" && ann["firstname"] == "Kept")
        }
    }

    @Test(.database(.sql(referenceSchema))) func transactionsOfTwoDatabasesPutBackTheirOwnObjectsOnly() async throws {
        try await withDatabase { _, context, other in
            try await withDatabase { _, elsewhere, _ in
                let ann = try await context.find("person", 1)
                let bob = try await elsewhere.find("person", 2)
                await #expect(throws: Failure.self) {
                    try await context.transaction {
                        // This is no part of the other's transaction, and stays.
                        try await bob?.setValue("Kept", forKey: "surname")
                        try await elsewhere.transaction {
                            try await bob?.setValue("Kept", forKey: "firstname")
                            try await context.transaction { try await ann?.setValue("Undone", forKey: "surname") }
                        }
                        throw Failure()
                    }
                }
                #expect(ann?["surname"] == "Smith")
                #expect(bob?["surname"] == "Kept" && bob?["firstname"] == "Kept")
                let stored = try await other.value(
                    "SELECT string_agg(surname, ' ' ORDER BY id) FROM person WHERE id < 3")
                #expect(stored == "Smith Kept")
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func anInnerScopeThatSucceededIsUndoneWithTheOuterOne() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await context.transaction { try await ann.setValue("Inner", forKey: "surname") }
                    throw Failure()
                }
            }
            #expect(ann["surname"] == "Smith")
        }
    }

    @Test(.database(.sql(referenceSchema))) func objectsFirstSeenInsideShowTheirRowsAfterwards() async throws {
        try await withDatabase { (database, context, other) async throws in
            var ann: DatabaseObject?
            var created: DatabaseObject?
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await context.query("UPDATE person SET surname = 'Undone' WHERE id = 1")
                    try await context.query("INSERT INTO person (id, surname) VALUES (77, 'Never')")
                    ann = try await context.fetch("person").where("id = 1").one()
                    created = try await context.fetch("person").where("id = 77").one()
                    throw Failure()
                }
            }
            #expect(try await ann?.value(forKey: "surname")?.attribute == "Smith")
            #expect(created?.isDeleted == true)
        }
    }

    @Test(.database(.sql(referenceSchema)), arguments: [false, true])
    func membersFirstSeenInsideShowTheirRowsAfterwards(isCancelled: Bool) async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let held = Mutex<[DatabaseObject]>([])
            let task = Task {
                try await context.transaction {
                    try await context.query("UPDATE email SET address = 'undone'")
                    try await context.query("INSERT INTO email (id, address, person_id) VALUES (77, 'never', 1)")
                    let emails = try await ann.set(forKey: "emailSet").objects
                    let person = try await context.fetch("email").sorted("id").all().last?.object(forKey: "person")
                    held.withLock { $0 = emails + [person].compactMap(\.self) }
                    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                    try Task.checkCancellation()
                    throw Failure()
                }
            }
            #expect(await (try? task.value) == nil)
            let objects = held.withLock { $0 }
            #expect(objects.count >= 3)
            for object in objects where object.entity.name.name == "email" {
                _ = try await object.value(forKey: "address")
                let stored = try await other.value("SELECT address FROM email WHERE id = \(object["id"] ?? 0)")
                #expect(object.isDeleted ? object["id"] == 77 : object["address"] == stored && object["id"] != 77)
            }
        }
    }

    @Test(.database(.sql(referenceSchema), timeLimit: .seconds(900)))
    func aLoadDoesNotWaitForOneThatWaitsForItsSavepoint() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let (isInside, inside) = AsyncStream.makeStream(of: Void.self)
            try await context.transaction {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await context.transaction {
                            try await people[1].setValue("Inside", forKey: "firstname")
                            inside.finish()
                            // The other one asks meanwhile, for both.
                            try await Task.sleep(for: .milliseconds(100))
                            _ = try await people[1].set(forKey: "emailSet").objects
                        }
                    }
                    group.addTask {
                        for await _ in isInside {}
                        _ = try await people[0].set(forKey: "emailSet").objects
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aTransactionSpansContextsAndChildTasks() async throws {
        try await withDatabase { database, context, other in
            let elsewhere = database.makeContext()
            let ann = try await elsewhere.fetch("person").where("id = 1").one()
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    async let one: Void = ann.setValue("A", forKey: "firstname")
                    async let two: Void = ann.setValue("B", forKey: "surname")
                    _ = try await (one, two)
                    #expect(try await context.fetch("person").where("surname = 'B'").count() == 1)
                    #expect(try await other.value("SELECT count(*) FROM person WHERE surname = 'B'") == 0)
                    throw Failure()
                }
            }
            #expect(ann["surname"] == "Smith")
        }
    }

    @Test(.database(.sql(referenceSchema))) func aTaskThatOutlivesItsTransactionGetsAnError() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let (stream, signal) = AsyncStream.makeStream(of: Void.self)
            let straggler = try await context.transaction {
                Task {
                    for await _ in stream { break }
                    try await ann.setValue("Late", forKey: "surname")
                }
            }
            signal.yield()
            signal.finish()
            let error = await #expect(throws: PostgresError.self) { try await straggler.value }
            #expect(error?.code == .transactionEnded)
            #expect(try await other.value("SELECT surname FROM person WHERE id = 1") == "Smith")
        }
    }

    @Test(.database(.sql(referenceSchema))) func whatAnInnerScopeGaveUpDoesNotComeBackWithTheOuterOne() async throws {
        try await withDatabase { database, context, other in
            let bob = try await context.fetch("person").where("id = 2").one()
            let emails = try await context.fetch("email").sorted("id").all()
            _ = try await bob.set(forKey: "emailSet").objects
            var (staged, stored): (DatabaseObject?, DatabaseObject?)
            await #expect(throws: Failure.self) { () async throws in
                try await context.transaction { () async throws in
                    try? await context.transaction { () async throws in
                        staged = try context.add("title", ["name": "Never"])
                        stored = try await context.create("email", ["address": "never", "person_id": 2])
                        try await bob.set(forKey: "emailSet").insert(emails[3])
                        throw Failure()
                    }
                    #expect(try await bob.set(forKey: "emailSet").objects == [emails[2]])
                    throw Failure()
                }
            }
            #expect(staged?.isDeleted == true && stored?.isDeleted == true && !context.hasStagedChanges)
            #expect(try await bob.set(forKey: "emailSet").objects == [emails[2]])
            #expect(emails[3]["person_id"] == nil)
            try await expectStatements([]) { try await context.save() }
            #expect(try await other.value("SELECT count(*) FROM title") == 3)
        }
    }

    @Test(.database(.sql(referenceSchema))) func rowsReadInAnInnerScopeFollowTheOuterOneToo() async throws {
        try await withDatabase { (database, context, other) async throws in
            var ann: DatabaseObject?
            await #expect(throws: Failure.self) { () async throws in
                try await context.transaction { () async throws in
                    try await context.query("UPDATE person SET surname = 'Outer' WHERE id = 1")
                    try? await context.transaction { () async throws in
                        try await context.query("UPDATE person SET surname = 'Inner' WHERE id = 1")
                        ann = try await context.fetch("person").where("id = 1").one()
                        throw Failure()
                    }
                    #expect(try await ann?.value(forKey: "surname")?.attribute == "Outer")
                    throw Failure()
                }
            }
            #expect(try await ann?.value(forKey: "surname")?.attribute == "Smith")
        }
    }
}
