import Kindred
import KindredLive
import KindredTesting
import Testing

/// Live requests, and contexts that follow changes: parts, filters and left-out columns together.
@Suite(.database(.sql(combinedSchema)), .timeLimit(.minutes(10))) struct CombinedLiveTests {
    private static let tables = ["project", "task", "label", "task_label"]

    private func withTables(
        _ body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
            try await body(database, context, other)
        }
    }

    @Test func aPartFollowsMarksAndTheColumnsThatItReads() async throws {
        try await withTables { _, context, other in
            var updates = try await context.fetch("project").where("id <= 2").sorted("id")
                .prefetch("tasks") { $0.only("title").sorted("id").limit(2) }.live().makeAsyncIterator()
            func tasks(_ update: LiveUpdate<DatabaseObject>) async throws -> [[DatabaseObject]] {
                try await withStatementLimit(0) {
                    var tasks: [[DatabaseObject]] = []
                    for project in update.objects {
                        tasks.append(try await project.set(forKey: "tasks").sorted("id").limit(2).all())
                    }
                    return tasks
                }
            }
            var update = try await updates.update()
            var found = try await tasks(update)
            #expect(found.map(\.keys) == [[1, 2], [5, 6]])
            #expect(found[0][0].has("title") && !found[0][0].has("body") && !found[0][0].has("log"))
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await found[0][0].loaded("body") == "body 1")
                #expect(try await found[0][1].loaded("body") == "body 2")
            }
            try await other.query("UPDATE task SET deleted_at = now() WHERE id = 1")
            update = try await updates.update()
            #expect(update.updates == [0])
            found = try await tasks(update)
            #expect(found.map(\.keys) == [[2, 3], [5, 6]])
            // Of a column that is left out it is told nothing.
            try await other.query("UPDATE task SET body = 'unseen' WHERE id = 2")
            try await other.query("UPDATE task SET title = 'seen' WHERE id = 5")
            update = try await updates.update()
            #expect(update.updates == [1])
            found = try await tasks(update)
            #expect(found[1][0]["title"] == "seen")
            try await other.query("UPDATE task SET deleted_at = NULL WHERE id IN (1, 8)")
            found = try await tasks(try await updates.update())
            #expect(found.map(\.keys) == [[1, 2], [5, 6]])
            try await other.query("UPDATE project SET deleted_at = now() WHERE id = 1")
            update = try await updates.update()
            #expect(update.integers() == [2] && update.removals == [0])
        }
    }

    @Test func whatHidesMembersIsReadWhateverIsLeftOut() async throws {
        try await withTables { _, context, other in
            // The mark of a task is a column of its relationships; what archives a label is not.
            var updates = try await context.fetch("task").where("id == 1").only("title")
                .prefetch("labels", only: ["name"]).prefetch("project", only: ["name"]).live().makeAsyncIterator()
            func labels(_ update: LiveUpdate<DatabaseObject>) async throws -> [PostgresValue?] {
                try await withStatementLimit(0) {
                    try await update.objects[0].set(forKey: "labels").objects.keys
                }
            }
            #expect(try await labels(try await updates.update()) == [1, 3])
            try await other.query("UPDATE label SET archived = NOT archived WHERE id < 3")
            #expect(try await labels(try await updates.update()) == [2, 3])
            try await other.query("UPDATE label SET color = 'unseen'")
            try await other.query("UPDATE label SET archived = false WHERE id = 1")
            #expect(try await labels(try await updates.update()) == [1, 2, 3])
            try await other.query("UPDATE task SET deleted_at = now() WHERE id = 1")
            #expect(try await updates.update().objects.isEmpty)
        }
    }

    @Test func filteredAndUnfilteredPartsAreApart() async throws {
        try await withTables { _, context, other in
            let request = try context.fetch("project").where("id == 1")
            var shown = try await request.prefetch("tasks") { $0.omitting("body").sorted("id") }.live()
                .makeAsyncIterator()
            var all = try await request.prefetch("tasks") { $0.omitting("body").unfiltered().sorted("id") }.live()
                .makeAsyncIterator()
            func keys(_ update: LiveUpdate<DatabaseObject>, all isAll: Bool) async throws -> [PostgresValue?] {
                try await withStatementLimit(0) {
                    let tasks = try await update.objects[0].set(forKey: "tasks")
                    let request = try isAll ? tasks.unfiltered() : tasks.request()
                    return try await request.sorted("id").all().map { $0["deleted_at"] == nil ? $0["id"] : nil }
                }
            }
            #expect(try await keys(try await shown.update(), all: false) == [1, 2, 3])
            #expect(try await keys(try await all.update(), all: true) == [1, 2, 3, nil])
            try await other.query("UPDATE task SET deleted_at = CASE id WHEN 2 THEN now() END WHERE project_id = 1")
            #expect(try await keys(try await shown.update(), all: false) == [1, 3, 4])
            #expect(try await keys(try await all.update(), all: true) == [1, nil, 3, 4])
        }
    }

    @Test func aContextThatFollowsShowsTheParts() async throws {
        try await withTables { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let projects = try await context.fetch("project").sorted("id")
                .prefetch("tasks") { $0.where("log == %@", "x").omitting("body").sorted("id") }
                .prefetch("tasks") { $0.unfiltered().sorted("id").limit(1) }.all()
            // With objects of some of the rows, and without.
            let held = try await context.fetch("task").where("id IN %@", [1, 5]).all()
            func expect(
                _ logs: [[PostgresValue?]], _ first: [[PostgresValue?]],
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                func found() async throws -> [[PostgresValue?]] {
                    let logs = try await projects.keys(of: "tasks") { try $0.where("log == %@", "x").sorted("id") }
                    return try await logs + projects.keys(of: "tasks") { try $0.unfiltered().sorted("id").limit(1) }
                }
                for _ in 0..<600 {
                    if try await found() == logs + first { break }
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(try await found() == logs + first, sourceLocation: sourceLocation)
            }
            try await expect([[], [], []], [[1], [5], [9]])
            // The column is lazy: no row that is told of has it.
            try await other.query("UPDATE task SET log = 'x' WHERE id IN (1, 2, 5)")
            try await expect([[1, 2], [5], []], [[1], [5], [9]])
            try await other.query("UPDATE task SET deleted_at = now() WHERE id IN (1, 9)")
            try await expect([[2], [5], []], [[1], [5], [9]])
            try await other.query("UPDATE task SET log = 'y' WHERE id = 5")
            try await expect([[2], [], []], [[1], [5], [9]])
            try await other.query("DELETE FROM task WHERE id = 1")
            try await expect([[2], [], []], [[2], [5], [9]])
            #expect(held.count == 2)
        }
    }
}
