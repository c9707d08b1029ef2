import Kindred
import KindredLive
import KindredTesting
import Testing

/// Live requests and contexts that follow changes, with columns left out.
@Suite(.database(.sql(documentSchema)), .timeLimit(.minutes(10))) struct LeavingOutLiveTests {
    @Test func aLiveRequestIsNotToldOfWhatItLeavesOut() async throws {
        try await withLive("document", "note") { _, context, other in
            let live = try await context.fetch("document").where("id <= 3").sorted("id").omitting("content")
                .prefetch("notes").live()
            var updates = live.makeAsyncIterator()
            let first = try await updates.update()
            #expect(first.integers() == [1, 2, 3] && first.objects.allSatisfy { !$0.has("content") })
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await first.objects[0].loaded("content") == "Content 1")
                #expect(try await first.objects[1].loaded("content") == "Content 2")
            }
            try await other.query("UPDATE document SET content = 'Newer' WHERE id = 1")
            try await other.query("UPDATE note SET body = 'Newer' WHERE id = 12")
            try await other.query("UPDATE document SET title = 'Two', content = 'Newer' WHERE id = 2")
            let second = try await updates.update()
            #expect(second.updates.count == 1 && second.values("title")[1] == "Two")
            #expect(!second.objects[1].has("content"))
            #expect(try await second.objects[1].loaded("content") == "Newer")
        }
    }

    @Test func whatDecidesIsReadAllTheSame() async throws {
        try await withLive("document") { _, context, other in
            let live = try await context.fetch("document").where("content = %@", "Newer").sorted("content")
                .omitting("content", "summary").live()
            var updates = live.makeAsyncIterator()
            #expect(try await updates.update().objects.isEmpty)
            try await other.query("UPDATE document SET content = 'Newer' WHERE id = 5")
            let update = try await updates.update()
            #expect(update.integers() == [5] && update.objects[0]["content"] == "Newer")
            #expect(!update.objects[0].has("summary"))
            try await other.query("UPDATE document SET content = 'Newest' WHERE id = 5")
            #expect(try await updates.update().objects.isEmpty)
        }
    }

    @Test func aLazyColumnMayDecide() async throws {
        try await withLive("note") { _, context, other in
            let live = try await context.fetch("note").where("body = %@", "Newer").live()
            var updates = live.makeAsyncIterator()
            #expect(try await updates.update().objects.isEmpty)
            try await other.query("UPDATE note SET body = 'Newer' WHERE id IN (5, 6)")
            #expect(try await updates.update().integers().count == 2)
            try await other.query("UPDATE note SET body = NULL WHERE id = 5")
            #expect(try await updates.update().integers() == [6])
        }
    }

    @Test func aContextThatFollowsDropsWhatOthersMayHaveChanged() async throws {
        try await withLive("note", "document") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let note = try #require(try await context.find("note", 1))
            let document = try await context.fetch("document").omitting("content").where("id = 1").one()
            #expect(try await note.loaded("body") == "Body 1")
            try await other.query("UPDATE note SET body = 'Newer' WHERE id = 1")
            try await other.query("UPDATE document SET content = 'Newer' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(!note.has("body"))
            #expect(try await note.loaded("body") == "Newer")
            #expect(try await document.loaded("content") == "Newer")
        }
    }
}
