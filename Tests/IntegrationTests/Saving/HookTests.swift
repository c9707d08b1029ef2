import Kindred
import KindredTesting
import TestSupport
import Testing

/// The program's hooks: when objects appear, before they are saved, and to validate them.
@Suite struct HookTests {
    private struct TooShort: Error {}

    @Test(.database(.sql(referenceSchema))) func hooksAreCalledOnceEach() async throws {
        try await withDatabase { database, context, other in
            let log = CallLog()
            try database.addHooks(
                ObjectHooks(
                    awakeFromFetch: { log.add("fetch \($0["id"] ?? "-")") },
                    awakeFromInsert: { person in
                        person["firstname"] = "Nobody"
                        log.add("insert")
                    },
                    willSave: { person in
                        log.add("save \(person["firstname"] ?? "-")")
                        person["born"] = "2000-01-01"
                    },
                    validate: { person in
                        if person["surname"]?.description.count ?? 0 < 2 { throw TooShort() }
                    }
                ),
                to: "person"
            )
            let people = try await context.fetch("person").sorted("id").all()
            #expect(log.take() == ["fetch 1", "fetch 2", "fetch 3"])
            _ = try await context.fetch("person").all()
            #expect(log.take() == [])
            let new = try context.add("person", ["surname": "New"])
            #expect(log.take() == ["insert"] && new["firstname"] == "Nobody")
            people[0]["firstname"] = "Anne"
            try await context.save()
            #expect(log.take().sorted() == ["save Anne", "save Nobody"])
            let born = try await other.value("SELECT count(*) FROM person WHERE born = '2000-01-01'")
            #expect(born == 2)
            people[1]["surname"] = "x"
            people[2]["surname"] = "y"
            let error = await expectError(.validationFailed) { try await context.save() }
            #expect(error?.problems.map(\.code) == [.refused, .refused])
            #expect(error?.problems.first?.error is TooShort && error?.problems.first?.object === people[1])
            #expect(throws: KindredError.self) { try database.addHooks(ObjectHooks(), to: "persn") }
        }
    }

    @Test(.database(.sql(referenceSchema))) func willSaveMayChangeOtherObjects() async throws {
        try await withDatabase { database, context, other in
            let log = CallLog()
            let people = try await context.fetch("person").sorted("id").all()
            let email = try await context.fetch("email").where("id = 4").one()
            try database.addHooks(
                ObjectHooks(willSave: { _ in
                    log.add("email")
                    people[0]["firstname"] = "By email"
                }),
                to: "email"
            )
            try database.addHooks(ObjectHooks(willSave: { _ in log.add("person") }), to: "person")
            email["address"] = "x"
            try await context.save()
            #expect(log.take() == ["email", "person"])
            #expect(try await other.value("SELECT firstname FROM person WHERE id = 1") == "By email")
        }
    }

    @Test(.database(.sql(referenceSchema))) func membersOfSetsAwakeToo() async throws {
        try await withDatabase { database, context, other in
            let log = CallLog()
            try database.addHooks(
                ObjectHooks(awakeFromFetch: { log.add($0["address"]?.description ?? "") }), to: "email")
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await ann.set(forKey: "emailSet").objects
            #expect(log.take().sorted() == ["a.smith@example.org", "ann@example.org"] && emails.count == 2)
        }
    }

    @Test(.database(.sql(referenceSchema))) func stagedDeletionsComeLast() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await ann.set(forKey: "emailSet").objects
            let titles = try await ann.set(forKey: "titles").objects
            let bob = try await context.fetch("person").where("id = 2").one()
            let new = try context.add("person", ["surname": "Gone"])
            try context.stageDeletion(of: new)
            #expect(new.isDeleted && !context.hasStagedChanges)
            try context.stageDeletion(of: ann)
            #expect(ann.isDeletionStaged && !ann.isDeleted && context.hasStagedChanges)
            ann.rollback()
            #expect(!ann.isDeletionStaged && !context.hasStagedChanges)
            for email in emails { email["person_id"] = 2 }
            try context.stageDeletion(of: ann)
            try await context.save()
            #expect(ann.isDeleted && !context.hasStagedChanges)
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 2") == 3)
            #expect(try await other.value("SELECT count(*) FROM person") == 2)
            #expect(try await titles[0].set(forKey: "people").objects == [bob])
        }
    }

    @Test(.database(.sql(referenceSchema))) func aRefusedDeletionLeavesEverythingStaged() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 4").one()
            email["address"] = "x"
            try context.stageDeletion(of: ann)
            // The foreign key of the e-mails has no action: the database refuses.
            await #expect(throws: KindredError.self) { try await context.save() }
            #expect(!ann.isDeleted && ann.isDeletionStaged && email.stagedValues == ["address": "x"])
            #expect(try await other.value("SELECT address FROM email WHERE id = 4") == "nobody@example.org")
        }
    }
}
