import Kindred
import KindredLive
import KindredTesting
import Testing

/// Parts in live requests, and in contexts that follow changes.
@Suite(.database(.sql(partSchema)), .timeLimit(.minutes(10))) struct LivePartTests {
    private static let tables = ["project", "task", "person", "membership", "label", "task_label"]

    private func withTables(
        _ body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
            try await body(database, context, other)
        }
    }

    private func parts(_ projects: [DatabaseObject]) async throws -> [[PostgresValue?]] {
        var parts: [[PostgresValue?]] = []
        for project in projects { parts.append(try await project.set(forKey: "tasks").openTasks().all().keys) }
        return parts
    }

    @Test func anUpdateHasThePartsOfItsSnapshot() async throws {
        try await withTables { _, context, other in
            var updates = try await context.fetch("project").where("id <= 2").sorted("id")
                .prefetch("tasks") { $0.openTasks }.live().makeAsyncIterator()
            var update = try await updates.update()
            #expect(
                try await withStatementLimit(0) { try await parts(update.objects) } == [[10, 8, 7], [20, 19, 17]])
            // A member leaves the part, and another member takes its place.
            try await other.query("UPDATE task SET done = true WHERE id = 10")
            update = try await updates.update()
            #expect(update.updates == [0])
            #expect(try await withStatementLimit(0) { try await parts(update.objects) } == [[8, 7, 5], [20, 19, 17]])
            // A member beyond the limit changes nothing that is shown.
            try await other.query("UPDATE task SET title = 'x' WHERE id = 1")
            try await other.query("UPDATE task SET position = -1 WHERE id = 11")
            update = try await updates.update()
            #expect(update.updates == [1])
            #expect(try await withStatementLimit(0) { try await parts(update.objects) } == [[8, 7, 5], [11, 20, 19]])
        }
    }

    @Test func tablesOnPathsOfAPartAreFollowed() async throws {
        try await withTables { _, context, other in
            var updates = try await context.fetch("project").where("id == 1")
                .prefetch("tasks") {
                    $0.where("assignee.name == %@", "person 1").sorted("id").prefetch("labels") { $0.limit(1) }
                }
                .prefetch("members") { $0.where("@through.role == 'admin'").sorted("@through.rank") }
                .live().makeAsyncIterator()
            func counts(_ update: LiveUpdate<DatabaseObject>) async throws -> [Int] {
                try await withStatementLimit(0) {
                    let project = update.objects[0]
                    let tasks = try await project.set(forKey: "tasks").where("assignee.name == %@", "person 1").sorted(
                        "id"
                    )
                    .all()
                    let admins = try await project.set(forKey: "members").where("@through.role == 'admin'")
                        .sorted("@through.rank")
                    for task in tasks { #expect(try await task.set(forKey: "labels").limit(1).count() <= 1) }
                    return [tasks.count, try await admins.count()]
                }
            }
            #expect(try await counts(try await updates.update()) == [2, 1])
            try await other.query("UPDATE person SET name = 'person 1' WHERE id = 2")
            #expect(try await counts(try await updates.update()) == [4, 1])
            try await other.query("UPDATE membership SET role = 'admin' WHERE person_id = 3 AND project_id = 1")
            #expect(try await counts(try await updates.update()) == [4, 2])
        }
    }

    @Test func partsAreNoPartOfEqualRequests() async throws {
        try await withTables { _, context, other in
            let request = try context.fetch("project").where("id == 1")
            var whole = try await request.prefetch("tasks").live().makeAsyncIterator()
            var two = try await request.prefetch("tasks") { $0.openTasks.limit(2) }.live().makeAsyncIterator()
            var three = try await request.prefetch("tasks") { $0.openTasks }.live().makeAsyncIterator()
            let updates = (try await whole.update(), try await two.update(), try await three.update())
            try await expectStatements([]) { () async throws in
                #expect(try await updates.0.objects[0].set(forKey: "tasks").count == 10)
                #expect(try await updates.1.objects[0].set(forKey: "tasks").openTasks().limit(2).count() == 2)
                #expect(try await updates.2.objects[0].set(forKey: "tasks").openTasks().count() == 3)
            }
        }
    }

    @Test func aTrackingContextReadsAStalePartAgain() async throws {
        try await withTables { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let projects = try await context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }
                .prefetch("tasks") { $0.where("assignee.name == %@", "person 1").sorted("id") }.all()
            func expectParts(sourceLocation: SourceLocation = #_sourceLocation) async throws {
                try await database.tracking.catchUp()
                var expected: [[PostgresValue?]] = []
                for project in projects { expected.append(try await other.keys(openTasks, of: project)) }
                #expect(try await parts(projects) == expected, sourceLocation: sourceLocation)
                for project in projects {
                    let known = try await project.set(forKey: "tasks").where("assignee.name == %@", "person 1").sorted(
                        "id")
                    let query = """
                        SELECT t.id FROM task AS t JOIN person AS p ON p.id = t.person_id
                        WHERE project_id = %1 AND p.name = 'person 1' ORDER BY 1
                        """
                    #expect(try await known.all().keys == (try await other.keys(query, of: project)))
                }
            }
            try await expectParts()
            try await expectStatements([]) { () async throws in _ = try await parts(projects) }
            try await other.query("UPDATE task SET done = true WHERE id = 10")
            try await expectParts()
            try await other.query("INSERT INTO task VALUES (90, 'new', -1, false, 2, 1)")
            try await expectParts()
            try await other.query("UPDATE person SET name = 'person 1' WHERE id = 3")
            try await expectParts()
            try await other.query("DELETE FROM task WHERE id = 20")
            try await expectParts()
        }
    }
}
