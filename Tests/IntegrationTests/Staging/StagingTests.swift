import Kindred
import KindredTesting
import Testing

/// Attributes that are set in memory: reads see them, the database does not, and they can be taken back.
@Suite struct StagingTests {
    @Test(.database(.sql(referenceSchema))) func aStagedAttributeIsReadAtOnceAndSendsNothing() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            try await expectStatements([]) { () async throws in
                ann["surname"] = "Smythe"
                ann["height"] = 1
                #expect(ann["surname"] == "Smythe")
                #expect(ann["height"] == .numeric(1))
                #expect(ann.dictionary["surname"] == .some("Smythe"))
                #expect(try await ann.value(forKey: "surname")?.attribute == "Smythe")
                #expect(try ann.value(forKey: "surname", as: String.self) == "Smythe")
                #expect(ann.stagedValues == ["surname": "Smythe", "height": .numeric(1)])
                #expect(ann.hasStagedChanges && context.hasStagedChanges)
            }
            #expect(try await other.value("SELECT surname FROM person WHERE id = 1") == "Smith")
        }
    }

    @Test(.database(.sql(referenceSchema))) func theStoredValueUnstages() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "Smythe"
            ann["firstname"] = nil
            ann["surname"] = "Smith"
            #expect(ann.stagedValues == ["firstname": nil])
            ann["firstname"] = "Ann"
            #expect(!ann.hasStagedChanges && !context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func rollbackShowsWhatIsStored() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            for person in people { person["surname"] = "X" }
            people[0].rollback()
            #expect(people.map { $0["surname"] } == ["Smith", "X", "X"])
            #expect(context.hasStagedChanges && !people[0].hasStagedChanges)
            context.rollback()
            #expect(people.map { $0["surname"] } == ["Smith", "Jones", "Marx"])
            #expect(!context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func readsAndWritesRefreshWhatIsNotStaged() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "Smythe"
            _ = try await other.query("UPDATE person SET firstname = 'Anne', surname = 'Other' WHERE id = 1")
            _ = try await context.fetch("person").all()
            #expect(ann["firstname"] == "Anne" && ann["surname"] == "Smythe")
            try await ann.refresh()
            #expect(ann["surname"] == "Smythe")
            try await ann.setValue("Annie", forKey: "firstname")
            #expect(ann["firstname"] == "Annie")
            #expect(ann.stagedValues == ["surname": "Smythe"])
            // A value that is written at once is no longer staged.
            try await ann.setValue("Schmidt", forKey: "surname")
            #expect(ann["surname"] == "Schmidt" && !ann.hasStagedChanges)
            ann["surname"] = "Late"
            _ = try await other.query("UPDATE person SET surname = 'Late' WHERE id = 1")
            try await ann.refresh()
            #expect(!ann.hasStagedChanges && !context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func objectsWithStagedChangesStayInMemory() async throws {
        try await withDatabase { database, context, other in
            try await context.fetch("person").where("id = 1").one()["surname"] = "Smythe"
            weak let ann = try await context.fetch("person").where("id = 1").one()
            #expect(ann?["surname"] == "Smythe")
            context.rollback()
            #expect(ann == nil)
            #expect(try await context.fetch("person").where("id = 1").one()["surname"] == "Smith")
        }
    }

    @Test(.database(.sql(referenceSchema))) func aStagedForeignKeyMovesTheObjectBetweenLoadedSets() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            let email = try await context.fetch("email").where("id = 1").one()
            let (ann, bob) = (try await people[0].set(forKey: "emailSet"), try await people[1].set(forKey: "emailSet"))
            #expect(try await ann.objects.contains(email))
            #expect(try await bob.objects.count == 1)
            email["person_id"] = 2
            #expect(try await email.object(forKey: "person") === people[1])
            #expect(try await ann.objects.count == 1)
            #expect(try await bob.contains(email))
            email.rollback()
            #expect(try await email.object(forKey: "person") === people[0])
            #expect(try await ann.contains(email))
            #expect(try await bob.objects.count == 1)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aFailedTransactionTakesBackWhatItStaged() async throws {
        struct Undone: Error {}
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            people[0]["surname"] = "Before"
            await #expect(throws: Undone.self) { () async throws in
                try await context.transaction {
                    people[0]["surname"] = "Inside"
                    people[1]["surname"] = "Inside"
                    throw Undone()
                }
            }
            #expect(people[0].stagedValues == ["surname": "Before"])
            #expect(!people[1].hasStagedChanges)
            people[0].rollback()
            #expect(people[0]["surname"] == "Smith" && !context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(referenceSchema))) func whatCannotFitLeavesTheValue() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["born"] = "yesterday"
            ann["nothing"] = 1
            #expect(ann["born"] == nil && ann["nothing"] == nil)
            #expect(ann.hasStagedChanges && ann.stagedValues.isEmpty)
            ann["born"] = "2000-01-01"
            #expect(ann.stagedValues.count == 1)
            ann.rollback()
            #expect(!context.hasStagedChanges)
        }
    }

    @Test(
        .enabled(if: LongTests.areOn, "it needs six gibibytes"),
        .database(.sql("CREATE TABLE file (id integer PRIMARY KEY, a bytea, b bytea, c bytea);")))
    func aRowThatIsTooLargeIsAProblemOfTheSave() async throws {
        try await withDatabase { (_, context, _) async throws in
            let file = try context.add("file", ["id": 1])
            for key in ["a", "b", "c"] { file[key] = .bytes([UInt8](repeating: 1, count: 800_000_000)) }
            #expect(file["b"] != nil && file["c"] == nil)
            let error = await expectError(.valueTooLarge) { try await context.save() }
            #expect(error?.key == "c" && error?.object === file)
        }
    }
}
