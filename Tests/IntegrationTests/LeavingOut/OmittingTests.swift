import Foundation
import Kindred
import KindredTesting
import Testing

/// `omitting` and `only`: the columns that are read, the columns that are loaded later, and synchronous reads.
@Suite(.database(.sql(documentSchema))) struct OmittingTests {
    @Test func aLeftOutColumnIsLoadedForAllObjectsOfTheRequest() async throws {
        try await withDatabase { _, context, _ in
            let request = try context.fetch("document").omitting("content", "summary").sorted("id")
            let sql = try request.sql
            #expect(sql.contains("t0.\"title\"") && sql.contains("CASE WHEN false THEN t0.\"content\" END"))
            var documents: [DatabaseObject] = []
            try await expectStatements(["SELECT"]) { () async throws in documents = try await request.all() }
            #expect(documents.allSatisfy { $0.has("title") && !$0.has("content") && !$0.has("summary") })
            try await expectStatements(["SELECT"]) { () async throws in
                for (number, document) in documents.enumerated() {
                    #expect(try await document.loaded("content") == .string("Content \(number + 1)"))
                }
            }
            // Each column by itself, and NULL is a value.
            #expect(documents.allSatisfy { $0["content"] != nil && !$0.has("summary") })
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await documents[0].loaded("summary") == nil)
                #expect(try await documents[1].loaded("summary") == "Summary 2")
            }
            #expect(documents[0].has("summary") && documents[0]["summary"] == nil)
        }
    }

    @Test func onlyReadsWhatIsNamedAndWhatIsAlwaysRead() async throws {
        try await withDatabase { _, context, _ in
            let documents = try await context.fetch("document").only("title").sorted("id").all()
            #expect(Set(documents[0].dictionary.keys) == ["id", "title", "project_id"])
            try await expectStatements(["SELECT"]) { () async throws in
                for document in documents { #expect(try await document.object(forKey: "project") != nil) }
            }
            let notes = try await context.fetch("note").only("body").all()
            #expect(Set(notes[0].dictionary.keys) == ["id", "body", "document_id"])
        }
    }

    @Test func aSynchronousReadIsTheProgramsMistake() async throws {
        try await withDatabase { _, context, other in
            let document = try await context.fetch("document").omitting("content").where("id = 1").one()
            document["title"] = "New"
            let line = #line + 1
            #expect(document["content"] == nil)
            try await expectStatements([]) { () async throws in
                let error = await expectError(.notLoaded) { try await context.save() }
                #expect(error?.key == "content" && error?.category == .mistake)
                #expect(error?.message.contains("OmittingTests.swift:\(line)") == true)
                await expectError(.notLoaded) { _ = try document.value(forKey: "content", as: String.self) }
            }
            let json = String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
            #expect(json.contains("\"title\"") && !json.contains("content"))
            try await context.save()
            #expect(try await other.value("SELECT title FROM document WHERE id = 1") == "New")
        }
    }

    @Test func aWriteBringsAllColumnsBack() async throws {
        try await withDatabase { _, context, other in
            try await other.query(
                """
                CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN NEW.content := NEW.content || '!'; RETURN NEW; END $$
                """)
            try await other.query("CREATE TRIGGER mark BEFORE UPDATE ON document FOR EACH ROW EXECUTE FUNCTION mark()")
            let documents = try await context.fetch("document").omitting("content", "summary").sorted("id").all()
            try await documents[0].setValue("One", forKey: "title")
            #expect(documents[0]["content"] == "Content 1!" && documents[0].has("summary"))
            documents[1]["title"] = "Two"
            try await context.save()
            #expect(documents[1]["content"] == "Content 2!" && !documents[2].has("content"))
        }
    }

    @Test func aLeftOutColumnIsStagedWithoutBeingRead() async throws {
        try await withDatabase { _, context, other in
            let documents = try await context.fetch("document").omitting("content", "summary").sorted("id").all()
            documents[0]["content"] = "New"
            // NULL is a change as well: the stored value is not known.
            documents[1]["summary"] = nil
            #expect(documents[0]["content"] == "New" && documents[1].has("summary"))
            #expect(documents[1].stagedValues == ["summary": nil])
            documents[2]["content"] = "Gone"
            documents[2].rollback()
            #expect(!documents[2].has("content") && !documents[2].hasStagedChanges)
            try documents[3].apply(try ObjectPatch(json: #"{"summary": null}"#.utf8))
            #expect(documents[3].hasStagedChanges)
            try await context.save()
            let stored = try await other.values(
                "SELECT coalesce(summary, '-') FROM document WHERE id IN (2, 4) ORDER BY id")
            #expect(stored == ["-", "-"])
            #expect(try await other.value("SELECT content FROM document WHERE id = 1") == "New")
        }
    }

    @Test func anObjectInMemoryKeepsWhatItHasUnlessItsRowHasChanged() async throws {
        try await withDatabase { _, context, other in
            let documents = try await context.fetch("document").sorted("id").all()
            func again() async throws {
                try await expectStatements(["SELECT"]) { () async throws in
                    #expect(try await context.fetch("document").omitting("content").sorted("id").all() == documents)
                }
            }
            try await again()
            #expect(documents.allSatisfy { $0["content"] != nil })
            try await other.query("UPDATE document SET title = 'Changed', content = 'Newer' WHERE id <= 2")
            try await again()
            #expect(documents[0]["title"] == "Changed" && !documents[0].has("content") && documents[2].has("content"))
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await documents[1].loaded("content") == "Newer")
                #expect(try await documents[0].loaded("content") == "Newer")
            }
        }
    }

    @Test func whoAsksForAnObjectByItsKeyGetsAllOfIt() async throws {
        try await withDatabase { _, context, _ in
            let documents = try await context.fetch("document").omitting("content").sorted("id").all()
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await context.find("document", 1) === documents[0])
                #expect(try await context.find("document", 1) === documents[0])
            }
            #expect(documents[0]["content"] == "Content 1" && !documents[1].has("content"))
            let notes = try await context.fetch("note").where("id <= 12").sorted("id").all()
            try await expectStatements(["SELECT"]) { () async throws in
                for note in notes {
                    #expect(try await note.object(forKey: "document")?.has("content") == true)
                }
            }
            let project = try await context.fetch("project").where("id = 1").one()
            try await expectStatements(["SELECT"]) { () async throws in
                let members = try await project.set(forKey: "documents").objects
                #expect(members.count == 4 && members.allSatisfy { $0["content"] != nil })
            }
        }
    }

    @Test func whatCannotBeLeftOutIsRefused() async throws {
        try await withDatabase { _, context, _ in
            let documents = try context.fetch("document")
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try documents.omitting("id") }
                await expectError(.invalidRequest) { _ = try documents.omitting("project_id") }
                await expectError(.unknownKey) { _ = try documents.omitting("contents") }
                await expectError(.unknownKey) { _ = try documents.only("project") }
                await expectError(.invalidRequest) { _ = try documents.omitting("project.plan") }
                await expectError(.unknownKey) { _ = try documents.prefetch("project", omitting: ["plans"]) }
            }
        }
    }

    @Test func aContextThatLoadsNothingRefusesIt() async throws {
        try await withDatabase { database, _, _ in
            let context = database.makeContext(loading: .forbidden)
            let document = try await context.fetch("document").omitting("content").where("id = 1").one()
            let error = await expectError(.loadingForbidden) { _ = try await document.value(forKey: "content") }
            #expect(error?.key == "content")
            #expect(try await document.loaded("title") == "Title 1")
        }
    }

    @Test func pagesStreamsAndSingleObjectsLeaveOutToo() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("document").omitting("content").sorted("title")
            let page = try await request.page(size: 5)
            #expect(page.objects.count == 5 && page.objects.allSatisfy { !$0.has("content") })
            let next = try await request.page(size: 5, after: page.next)
            try await expectStatements(["SELECT"]) { () async throws in
                for document in next.objects { #expect(try await document.loaded("content") != nil) }
            }
            let streaming = try database.makeContext().fetch("document").only("title").sorted("id").stream()
            var count = 0
            for try await document in streaming {
                count += 1
                // The first one loads it for all that the stream has read with it.
                #expect(document.has("title") && document.has("content") == (count > 1))
                #expect(try await document.loaded("content") == .string("Content \(count)"))
            }
            #expect(count == 12)
            let gone = try await context.fetch("document").omitting("content").where("id = 12").one()
            try await other.query("DELETE FROM note WHERE document_id = 12")
            try await context.delete(gone)
            await expectError(.objectDeleted) { _ = try await gone.value(forKey: "content") }
        }
    }

    @Test func aRollbackTakesWhatWasLoadedBack() async throws {
        try await withDatabase { _, context, _ in
            let document = try await context.fetch("document").omitting("content").where("id = 1").one()
            await fail(context) {
                try await document.setValue("Undone", forKey: "content")
                #expect(document["content"] == "Undone")
            }
            #expect(try await document.loaded("content") == "Content 1")
        }
    }
}
