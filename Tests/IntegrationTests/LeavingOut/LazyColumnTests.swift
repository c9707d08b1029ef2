import Kindred
import KindredTesting
import Testing

/// Columns with the annotation `{"lazy": true}`: left out of every statement that is not asked for them.
@Suite(.database(.sql(documentSchema))) struct LazyColumnTests {
    @Test func aLazyColumnIsLoadedForAllThatWereReadTogether() async throws {
        try await withDatabase { database, context, _ in
            #expect(try database.schema.entity(named: "note").attribute(named: "body")?.isLazy == true)
            #expect(database.schema.json().contains("\"generated\": false, \"lazy\": true}"))
            let notes = try await context.fetch("note").sorted("id").all()
            #expect(notes.allSatisfy { $0.has("title") && !$0.has("body") })
            try await expectStatements(["SELECT"]) { () async throws in
                for (number, note) in notes.enumerated() {
                    #expect(try await note.loaded("body") == .string("Body \(number + 1)"))
                }
            }
            // An object without it is whole: nothing is read again for it.
            let other = database.makeContext()
            let note = try #require(try await other.find("note", 1))
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await other.find("note", 1) === note)
                #expect(try await note.loaded("body") == "Body 1")
                #expect(note["body"] == "Body 1")
            }
        }
    }

    @Test func membersWithoutObjectsAreLoadedTogether() async throws {
        try await withDatabase { _, context, _ in
            let documents = try await context.fetch("document").sorted("id").prefetch("notes").all()
            try await expectStatements(["SELECT"]) { () async throws in
                var count = 0
                for document in documents {
                    for try await note in try await document.set(forKey: "notes") {
                        let number = try #require(try note.value(forKey: "id", as: Int.self))
                        #expect(try await note.loaded("body") == .string("Body \(number)"))
                        count += 1
                    }
                }
                #expect(count == 24)
            }
        }
    }

    @Test func requestsReadItWhereTheyNameIt() async throws {
        try await withDatabase { _, context, _ in
            let notes = try await context.fetch("note").only("title", "body").sorted("id").all()
            #expect(notes[0]["body"] == "Body 1")
            let found = try await context.fetch("note").where("body LIKE %@", "*2").sorted("body").all()
            #expect(found.count == 3)
            #expect(try await context.fetch("note").sorted("id").select("body").all()[0] == ["body": "Body 1"])
        }
    }

    @Test func writesDoNotBringItBack() async throws {
        try await withDatabase { _, context, other in
            let note = try await context.create("note", ["id": 100, "title": "New", "body": "Text"])
            #expect(!note.has("body"))
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await note.loaded("body") == "Text")
            }
            // The row has changed, and the text with it, for all that is known.
            try await note.setValue("Newer", forKey: "title")
            #expect(!note.has("body"))
            note["body"] = "Staged"
            #expect(note["body"] == "Staged")
            try await context.save()
            #expect(!note.has("body"))
            #expect(try await note.loaded("body") == "Staged")
            #expect(try await other.value("SELECT body FROM note WHERE id = 100") == "Staged")
            let new = try context.add("note", ["id": 101, "title": "Other", "body": "In memory"])
            try await expectStatements([]) { () async throws in
                #expect(try await new.loaded("body") == "In memory")
            }
            try await context.save()
            #expect(try await new.loaded("body") == "In memory")
        }
    }

    @Test func checkedWritesLeaveItOutToo() async throws {
        try await withDatabase { database, context, other in
            try await other.query(
                """
                CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN NEW.body := upper(NEW.body); RETURN NEW; END $$
                """)
            try await other.query(
                "CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON note FOR EACH ROW EXECUTE FUNCTION shout()")
            try await database.refreshSchema()
            let context = database.makeContext()
            let documents = try await context.find("document", [1, 2])
            let note = try await context.create("note", ["id": 100, "title": "New", "body": "Text"])
            #expect(try await note.loaded("body") == "TEXT")
            try await note.setValue("other", forKey: "body")
            #expect(!note.has("body"))
            try await documents[0].set(forKey: "notes").insert(note)
            #expect(try await note.loaded("body") == "OTHER")
            let more = try await context.fetch("note").where("id <= 2").all()
            try await documents[1].set(forKey: "notes").formUnion(more)
            try await documents[1].set(forKey: "notes").removeAll()
            let kept = try await context.upsert(
                "note", ["id": 100, "title": "Again", "body": "b"], on: "id")
            #expect(kept === note && !note.has("body") && note["title"] == "Again")
            #expect(try await note.loaded("body") == "B")
            try await context.fetch("note").where("id = 100").update(["body": "c"])
            #expect(try await note.loaded("body") == "C")
        }
    }

    @Test func refreshingDropsItAndStagedTextStays() async throws {
        try await withDatabase { _, context, other in
            let notes = try await context.fetch("note").where("id <= 2").sorted("id").all()
            #expect(try await notes[0].loaded("body") == "Body 1")
            try await other.query("UPDATE note SET body = 'Newer'")
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                try await notes[0].refresh()
                #expect(try await notes[0].loaded("body") == "Newer")
            }
            notes[0]["body"] = "Staged"
            try await notes[0].refresh()
            #expect(notes[0]["body"] == "Staged" && notes[0].hasStagedChanges)
            notes[0].rollback()
            #expect(!notes[0].has("body"))
            try await context.transaction {
                try await notes[1].lock()
                #expect(try await notes[1].loaded("body") == "Newer")
            }
        }
    }

    @Test func aVersionCoversWhatIsLoadedLater() async throws {
        let overrides: [SchemaOverride] = [
            .column("revision", of: "document", version: true), .column("content", of: "document", lazy: true),
        ]
        try await withDatabase(overrides: overrides) { _, context, other in
            let documents = try await context.fetch("document").where("id <= 2").sorted("id").all()
            documents[0]["title"] = "Mine"
            try await other.query("UPDATE document SET content = 'Theirs', size = 7, revision = revision + 1")
            // The row is read again with it: no value is of another version than the rest.
            #expect(try await documents[1].loaded("content") == "Theirs")
            #expect(documents[1].rowVersion == "2" && documents[1]["size"] == 7)
            #expect(try await documents[0].loaded("content") == "Theirs")
            let error = await expectError(.staleObject) { try await context.save() }
            #expect(error?.conflicts.first?.changedKeys == ["size"])
            documents[0].rollback()
            documents[1]["content"] = "Mine"
            try await context.save()
            #expect(documents[1].rowVersion == "3")
            #expect(try await other.value("SELECT content FROM document WHERE id = 2") == "Mine")
        }
    }

    @Test func rawSQLNeedNotHaveIt() async throws {
        try await withDatabase { _, context, _ in
            let notes = try await context.query("SELECT id, title, document_id FROM note WHERE id = 3", as: "note")
            #expect(notes.count == 1)
            #expect(try await notes[0].loaded("body") == "Body 3")
        }
    }

    @Test func aKeyCannotBeLazy() async throws {
        for column in ["id", "document_id"] {
            do {
                try await withDatabase(overrides: [.column(column, of: "note", lazy: true)]) { _, _, _ in }
                Issue.record("\(column) was taken")
            } catch let error as SchemaError {
                #expect(error.code == .invalidAnnotation && error.message.contains("cannot be lazy"))
            }
        }
    }
}
