import Foundation
import Kindred
import KindredTesting
import Testing

/// Columns left out of prefetched relationships and of views.
@Suite(.database(.sql(documentSchema))) struct LeavingOutGraphTests {
    @Test func prefetchedObjectsLackThem() async throws {
        try await withDatabase { database, context, _ in
            var projects: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                projects = try await context.fetch("project").sorted("id").prefetch("documents.notes")
                    .omitting("plan", "documents.content").only("documents.notes.title").all()
            }
            #expect(!projects[0].has("plan"))
            try await expectStatements(["SELECT"]) { () async throws in
                for project in projects {
                    for document in try await project.set(forKey: "documents").objects {
                        #expect(document.has("summary"))
                        #expect(try await document.loaded("content") != nil)
                        for note in try await document.set(forKey: "notes").objects {
                            #expect(Set(note.dictionary.keys) == ["id", "title", "document_id"])
                        }
                    }
                }
            }
            let other = database.makeContext()
            let notes = try await other.fetch("note").sorted("id").prefetch("document", only: ["title"]).all()
            try await expectStatements([]) { () async throws in
                let document = try #require(try await notes[0].object(forKey: "document"))
                #expect(Set(document.dictionary.keys) == ["id", "title", "project_id"])
            }
        }
    }

    @Test func viewsTakeExceptions() async throws {
        try await withDatabase { database, context, _ in
            func json(_ views: [ObjectView]) throws -> String {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(views), as: UTF8.self)
            }
            let request = try context.fetch("document").where("id = 1")
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let views = try await request.views(
                    "*", "notes.*", omitting: ["content", "revision", "size", "project_id", "notes.document_id"])
                let notes = #"[{"id":12,"title":"Note 12"},{"id":24,"title":"Note 24"}]"#
                #expect(try json(views) == #"[{"id":1,"notes":\#(notes),"summary":null,"title":"Title 1"}]"#)
            }
            // A lazy column where it is named, in the same statement.
            try await expectStatements(["SELECT"]) { () async throws in
                let views = try await database.makeContext().fetch("note").where("id = 2").views("id", "body")
                #expect(try json(views) == #"[{"body":"Body 2","id":2}]"#)
            }
            // Of objects that lack them, one statement for all.
            let other = database.makeContext()
            let documents = try await other.fetch("document").only("title").sorted("id").all()
            try await expectStatements(["SELECT"]) { () async throws in
                let views = try await other.views(of: documents, "content", "summary")
                #expect(views.count == 12 && views[1]["content"] == "Content 2" && views[1]["summary"] == "Summary 2")
            }
            await expectError(.unknownKey) { _ = try await request.views("*", omitting: ["contents"]) }
            await expectError(.unknownKey) { _ = try await request.views("*", omitting: ["notes.text"]) }
        }
    }
}
