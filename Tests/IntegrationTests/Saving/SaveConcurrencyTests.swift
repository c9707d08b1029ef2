import Kindred
import KindredTesting
import Testing

/// Saves of one context that run at the same time, alone and with other writes.
@Suite struct SaveConcurrencyTests {
    @Test(.database(.sql(referenceSchema), timeLimit: .seconds(900)))
    func savesOfOneContextFollowEachOther() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let new = try context.add("person", ["surname": "New"])
            let title = try context.add("title", ["name": "Dame"])
            try await new.set(forKey: "titles").insert(title)
            for person in people { person["surname"] = "Saved" }
            let (_, recorder) = try await recordingStatements {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            try context.add("title", ["name": PostgresValue.string("T\(number)")])
                            try await context.save()
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(!context.hasStagedChanges && !new.isInserted)
            #expect(recorder.statements.filter { $0.contains("person_title_rel") }.count == 1)
            #expect(try await other.value("SELECT count(*) FROM person WHERE surname = 'New'") == 1)
            #expect(try await other.value("SELECT count(*) FROM person WHERE surname = 'Saved'") == 3)
            #expect(try await other.value("SELECT count(*) FROM title WHERE name LIKE 'T%'") == 8)
        }
    }

    @Test(.database(.sql(referenceSchema), timeLimit: .seconds(900)))
    func siblingsInOneTransactionSaveWriteAndDelete() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let emails = try await context.fetch("email").sorted("id").all()
            try await context.transaction {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for round in 0..<20 {
                        group.addTask { try await people[1].setValue("W\(round)", forKey: "firstname") }
                        group.addTask {
                            people[0]["surname"] = .string("S\(round)")
                            try await context.save()
                        }
                        group.addTask { try await people[2].set(forKey: "emailSet").insert(emails[round % 3]) }
                    }
                    group.addTask { try await context.delete(emails[3]) }
                    try await group.waitForAll()
                }
            }
            let stored = try await other.query("SELECT surname, firstname FROM person ORDER BY id")
            #expect(try stored.map { try $0[0] } == people.map { $0["surname"] })
            #expect(try stored.map { try $0[1] } == people.map { $0["firstname"] })
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 3") == 3)
        }
    }

    @Test("what is given up while it is being stored has another object when it is read", .database(.sql(slowSchema)))
    func whatIsRolledBackWhileItIsStoredIsReadAnew() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("owner", 1))
            let emails = try await ann.set(forKey: "items")
            #expect(try await emails.objects.isEmpty)
            let new = try context.add("item", ["id": 9, "owner": ann])
            async let saved: Void = context.save()
            while try await other.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711")
                == 0
            {
                try await Task.sleep(for: .milliseconds(5))
            }
            new.rollback()
            try await saved
            #expect(new.isDeleted && !context.hasStagedChanges)
            let read = try #require(try await context.find("item", 9))
            #expect(read !== new && !read.isDeleted)
            #expect(try await emails.objects == [read])
            try await read.setValue(nil, forKey: "owner")
        }
    }

    private static let slowSchema = """
        CREATE TABLE owner (id int PRIMARY KEY);
        CREATE TABLE item (id int PRIMARY KEY, owner_id int CONSTRAINT owner__items REFERENCES owner);
        INSERT INTO owner VALUES (1);
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(4711), pg_sleep(0.5); RETURN NEW; END $$;
        CREATE TRIGGER slow BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION wait();
        """
}
