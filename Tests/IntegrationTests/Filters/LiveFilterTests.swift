import Kindred
import KindredLive
import KindredTesting
import Testing

/// Live requests and contexts that follow changes, where filters show and hide rows.
@Suite(.database(.sql(FilterWorld.schema)), .timeLimit(.minutes(10))) struct LiveFilterTests {
    @Test func aLiveRequestShowsWhatItsFilterShows() async throws {
        try await withLive("task") { _, context, other in
            var updates = try await context.fetch("task").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [1, 3, 4, 6])
            try await other.query("UPDATE task SET deleted_at = now() WHERE id = 3")
            var update = try await updates.update()
            #expect(update.integers() == [1, 4, 6] && update.removals == [1])
            try await other.query("UPDATE task SET deleted_at = NULL WHERE id IN (2, 3)")
            update = try await updates.update()
            #expect(update.integers() == [1, 2, 3, 4, 6] && update.insertions == [1, 2])
            // An equality alone does not decide.
            var few = try await context.fetch("task").where("project_id = 2").sorted("id").live().makeAsyncIterator()
            #expect(try await few.update().integers() == [4])
            try await other.query("UPDATE task SET deleted_at = NULL WHERE id = 5")
            #expect(try await few.update().integers() == [4, 5])
            try await other.query("UPDATE task SET deleted_at = now() WHERE id = 4")
            #expect(try await few.update().integers() == [5])
        }
    }

    @Test func prefetchedMembersComeAndGo() async throws {
        try await withLive("project", "task", "label", "task_label") { _, context, other in
            var updates = try await context.fetch("project").where("id = 1").prefetch("taskSet.labelSet").live()
                .makeAsyncIterator()
            func tasks(_ update: LiveUpdate<DatabaseObject>) async throws -> [Int64] {
                try await update.objects[0].set(forKey: "taskSet").ids
            }
            func labels(_ update: LiveUpdate<DatabaseObject>) async throws -> [Int64] {
                let task = try await update.objects[0].set(forKey: "taskSet").objects.first { $0["id"] == 1 }
                return try await #require(task).set(forKey: "labelSet").ids
            }
            var update = try await updates.update()
            #expect(try await tasks(update) == [1, 3])
            #expect(try await labels(update) == [1])
            try await other.query("UPDATE task SET deleted_at = NULL WHERE id = 2")
            update = try await updates.update()
            #expect(try await tasks(update) == [1, 2, 3])
            try await other.query("UPDATE task SET deleted_at = now() WHERE id = 3")
            update = try await updates.update()
            #expect(try await tasks(update) == [1, 2])
            try await other.query("UPDATE label SET archived = false WHERE id = 2")
            update = try await updates.update()
            #expect(try await labels(update) == [1, 2])
            try await other.query("UPDATE project SET deleted_at = now() WHERE id = 1")
            #expect(try await updates.update().objects.isEmpty)
        }
    }

    @Test func aContextThatFollowsShowsThem() async throws {
        try await withLive("project", "task", "label", "task_label") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let project = try await context.fetch("project").where("id = 1").one()
            let task = try await context.fetch("task").where("id = 1").one()
            let (tasks, labels) = (try await project.set(forKey: "taskSet"), try await task.set(forKey: "labelSet"))
            #expect(try await tasks.ids == [1, 3])
            #expect(try await labels.ids == [1])
            try await other.query("UPDATE task SET deleted_at = CASE id WHEN 3 THEN now() END WHERE id IN (2, 3)")
            try await other.query("UPDATE label SET archived = id = 1")
            for _ in 0..<600 {
                let (shown, named) = (try await tasks.ids, try await labels.ids)
                if shown == [1, 2], named == [2] { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await tasks.ids == [1, 2])
            #expect(try await labels.ids == [2])
            #expect(try await tasks.count == 2)
        }
    }
}
