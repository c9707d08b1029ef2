import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// Changes of other tasks to objects that a transaction or a save works on.
@Suite struct OtherTasksTests {
    private struct Failure: Error, Equatable {}

    /// Runs `body` in a transaction that fails, with `other` on a task of its own at its end.
    ///
    /// - Parameter writes: whether `other` writes, so that it waits for the end of the transaction.
    private func fail(
        _ context: DatabaseContext, writes: Bool = false,
        _ body: () async throws -> Void,
        besides other: @Sendable @escaping () async throws -> Void
    ) async throws {
        var task: Task<Void, any Error>?
        await #expect(throws: Failure.self) {
            try await context.transaction {
                try await body()
                let started = Task.detached { try await other() }
                task = started
                if !writes { try await started.value }
                throw Failure()
            }
        }
        try await task?.value
    }

    @Test(.database(.sql(referenceSchema)))
    func whatOthersStageOutlivesAFailedTransaction() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            let new = try context.add("title", ["name": "New"])
            ann["surname"] = "Staged"
            try await fail(context) {
                try await context.save()
                ann["surname"] = "Inside"
                #expect(!new.isInserted)
            } besides: {
                ann["firstname"] = "Outside"
                new["name"] = "Renamed"
            }
            #expect(ann["surname"] == "Staged" && ann["firstname"] == "Outside")
            #expect(Set(ann.stagedValues.keys) == ["surname", "firstname"])
            #expect(new.isInserted && new["name"] == "Renamed")
            try await context.save()
            #expect(!context.hasStagedChanges)
            let stored = try await other.query("SELECT surname, firstname FROM person WHERE id = 1")
            #expect(try stored.map { [try $0[0], try $0[1]] } == [["Staged", "Outside"]])
            #expect(try await other.values("SELECT 1 FROM title WHERE name = 'Renamed'") == [1])
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func whatOthersWriteOutlivesAFailedTransaction() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let emails = try await context.fetch("email").sorted("id").all()
            for person in people { _ = try await person.set(forKey: "emailSet").objects }
            try await fail(context, writes: true) {
                try await people[2].set(forKey: "emailSet").insert(emails[0])
                people[0]["surname"] = "Inside"
                emails[1]["address"] = "inside"
            } besides: {
                try await people[0].setValue("Outside", forKey: "surname")
                try await people[2].set(forKey: "emailSet").insert(emails[2])
                try await context.delete(emails[1])
            }
            #expect(people[0]["surname"] == "Outside" && !people[0].hasStagedChanges)
            #expect(emails[1].isDeleted)
            let (sets, recorder) = try await recordingStatements {
                var sets: [[DatabaseObject]] = []
                for person in people { sets.append(try await person.set(forKey: "emailSet").objects) }
                return sets
            }
            #expect(sets == [[emails[0]], [], [emails[2]]])
            #expect(recorder.statements.isEmpty)
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func whatOthersUndidIsReadAgainAfterAFailedTransaction() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            try await fail(context, writes: true) {
                ann["surname"] = "Inside"
            } besides: {
                await #expect(throws: Failure.self) {
                    try await context.transaction {
                        try await ann.setValue("Undone", forKey: "firstname")
                        throw Failure()
                    }
                }
            }
            #expect(ann["firstname"] == "Ann" && ann["surname"] == "Smith" && !ann.hasStagedChanges)
            let cid = try #require(try await context.find("person", 3))
            try await fail(context, writes: true) {
                cid["surname"] = "Inside"
            } besides: {
                await #expect(throws: Failure.self) {
                    try await context.transaction {
                        try await context.delete(cid)
                        throw Failure()
                    }
                }
            }
            #expect(!cid.isDeleted)
            try await cid.setValue("Sid", forKey: "firstname")
        }
    }

    @Test(.database(.sql(referenceSchema)), arguments: [false, true])
    func whatOthersReadDuringATransactionIsOutdatedByItsCommit(isCount: Bool) async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let emails = try await context.fetch("email").sorted("id").all()
            let dr = try #require(try await context.find("title", 1))
            try await context.transaction {
                try await people[2].set(forKey: "emailSet").insert(emails[0])
                try await people[2].set(forKey: "titles").insert(dr)
                try await emails[3].setValue("inside", forKey: "address")
                try await context.create("email", ["address": "new", "person": people[1]])
                try await context.delete(emails[1])
                try await Task.detached {
                    // The values that tasks outside the transaction see.
                    let counts = [2, 1, 0]
                    for (person, count) in zip(people, counts) {
                        #expect(try await self.count(person, "emailSet", isCount) == count)
                        _ = try await self.count(person, "titles", isCount)
                    }
                    #expect(try await context.fetch("email").where("address == 'inside'").count() == 0)
                    _ = try await context.fetch("email").all()
                }.value
                #expect(emails[3]["address"] == "inside")
            }
            #expect(emails[3]["address"] == "inside" && emails[0]["person_id"] == 3)
            for (person, count) in zip(people, [0, 2, 1]) {
                #expect(try await self.count(person, "emailSet", isCount) == count)
            }
            #expect(try await count(people[2], "titles", isCount) == 1)
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func aWaitThatCannotEndIsAClearError() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            let error = await #expect(throws: KindredError.self) {
                try await context.transaction {
                    try await ann.setValue("Inside", forKey: "surname")
                    try await Task.detached {
                        _ = try await context.core.turn.acquire(for: context, within: .milliseconds(50))
                    }.value
                }
            }
            #expect(error?.code == .contextBusy)
            #expect(ann["surname"] == "Smith")
            // The next one has its turn.
            try await ann.setValue("Outside", forKey: "surname")
            let waiting = Task {
                try await context.transaction {
                    try await Task.detached { try await ann.setValue("Late", forKey: "surname") }.value
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            waiting.cancel()
            #expect(try await other.values("SELECT surname FROM person WHERE id = 1") == ["Outside"])
        }
    }

    private func count(_ owner: DatabaseObject, _ key: String, _ isCount: Bool) async throws -> Int {
        let set = try await owner.set(forKey: key)
        return isCount ? try await set.count : try await set.objects.count
    }

    @Test(.database(.sql(referenceSchema)))
    func theOldValueThatIsSetWhileAnotherIsSavedStaysStaged() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            let (smith, email) = (ann["surname"], try #require(try await context.find("email", 1)))
            let new = try context.add("person", ["surname": "New"])
            ann["surname"] = "Saved"
            try await email.setValue(new, forKey: "person")
            try await saving(context, besides: other, thatRuns: "SELECT FROM person WHERE id = 1 FOR UPDATE") { _ in
                ann["surname"] = smith
                email["person_id"] = 1
            }
            #expect(ann["surname"] == smith && email["person_id"] == 1)
            #expect(ann.hasStagedChanges && email.hasStagedChanges && !new.hasStagedChanges)
            try await context.save()
            #expect(try await other.values("SELECT 1 FROM person WHERE id = 1 AND surname = 'Smith'") == [1])
            #expect(try await other.values("SELECT person_id FROM email WHERE id = 1") == [1])
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func aLinkToANewObjectMadeWhileItIsSavedStaysStaged() async throws {
        try await withDatabase { database, context, other in
            let email = try #require(try await context.find("email", 3))
            email["address"] = "changed"
            let new = try context.add("person", ["surname": "New"])
            try context.add("title", ["name": "Earl"])
            let second = try context.add("email", ["address": "second", "person": new])
            var late: DatabaseObject?
            try await saving(context, besides: other, thatRuns: "INSERT INTO title (name) VALUES ('Earl')") {
                late = try context.add("person", ["surname": "Late"])
                try await email.setValue(late, forKey: "person")
                try await second.setValue(late, forKey: "person")
                try await $0.query("DELETE FROM title WHERE name = 'Earl'")
            }
            #expect(try await other.values("SELECT 1 FROM person WHERE surname = 'Late'").isEmpty)
            #expect(try await other.values("SELECT person_id FROM email WHERE address = 'changed'") == [2])
            #expect(try await other.value("SELECT person_id IS NULL FROM email WHERE address = 'second'") == true)
            #expect(try await email.object(forKey: "person") === late)
            #expect(try await second.object(forKey: "person") === late)
            #expect(!second.isInserted && second.hasStagedChanges && email.hasStagedChanges && !new.hasStagedChanges)
            try await context.save()
            #expect(!context.hasStagedChanges)
            let stored = try await other.values("SELECT person_id FROM email WHERE address IN ('changed', 'second')")
            #expect(stored == [late?["id"], late?["id"]])
        }
    }

    /// Saves while another connection stands in the way, and runs `body` while the save waits for it.
    private func saving(
        _ context: DatabaseContext, besides other: PostgresClient, thatRuns statement: SQL,
        _ body: (PostgresTransaction) async throws -> Void
    ) async throws {
        let save = try await other.withTransaction { transaction in
            try await transaction.query(statement)
            let save = Task.detached { try await context.save() }
            try await eventually("the save waits") {
                try await transaction.query(
                    "SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"
                ).count == 1
            }
            try await body(transaction)
            return save
        }
        try await save.value
    }
}
