import Kindred
import KindredTesting
import Testing

/// A change that may concern a part makes it stale, and it is read anew for the group; other changes cost nothing.
@Suite(.database(.sql(partSchema))) struct PartStalenessTests {
    /// Projects with their open tasks, and what asking for these costs.
    private struct Loaded {
        let context: DatabaseContext
        let other: PostgresClient
        let projects: [DatabaseObject]

        init(_ context: DatabaseContext, _ other: PostgresClient) async throws {
            (self.context, self.other) = (context, other)
            projects = try await context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }.all()
        }

        /// Asks for the part of every project: it is what the database has, and costs these statements.
        func expect(_ statements: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) async throws {
            var expected: [[PostgresValue?]] = []
            for project in projects { expected.append(try await other.keys(openTasks, of: project)) }
            try await expectStatements(statements, sourceLocation: sourceLocation) { () async throws in
                var found: [[PostgresValue?]] = []
                for project in projects { found.append(try await project.set(forKey: "tasks").openTasks().all().keys) }
                #expect(found == expected, sourceLocation: sourceLocation)
            }
        }
    }

    private func task(_ id: Int, in context: DatabaseContext) async throws -> DatabaseObject {
        try #require(try await context.find("task", id))
    }

    @Test func aChangedColumnConcernsThePartsThatReadIt() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            try await task(10, in: context).setValue(true, forKey: "done")
            try await loaded.expect(["SELECT"])
            try await loaded.expect()
            // Another column: the part stays, and its objects show the new value.
            try await task(8, in: context).setValue("renamed", forKey: "title")
            try await loaded.expect()
            let tasks = try await loaded.projects[0].set(forKey: "tasks").openTasks().all()
            #expect(tasks.first { $0["id"] == .integer(8) }?["title"] == "renamed")
            // A staged change is in the part once it is saved.
            let staged = try await task(10, in: context)
            staged["done"] = false
            try await loaded.expect()
            try await context.save()
            try await loaded.expect(["SELECT"])
        }
    }

    @Test func onlyTheOwnersOfTheRowAreAskedFor() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            try await task(10, in: context).setValue(-1, forKey: "position")
            try await expectStatements([]) { () async throws in
                for project in loaded.projects.dropFirst() {
                    #expect(try await project.set(forKey: "tasks").openTasks().count() == 3)
                }
            }
            try await loaded.expect(["SELECT"])
            // A moved row concerns two owners, which are asked for together.
            try await task(10, in: context).setValue(loaded.projects[2], forKey: "project")
            try await loaded.expect(["SELECT"])
            try await loaded.projects[1].set(forKey: "tasks").insert(try await task(10, in: context))
            try await loaded.expect(["SELECT"])
        }
    }

    @Test func newAndDeletedRowsConcernTheirOwners() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            let values: [String: (any PropertyValue)?] = [
                "id": 100, "title": "new", "position": 0, "project_id": 2,
            ]
            let created = try await context.create("task", values)
            try await loaded.expect(["SELECT"])
            try await context.delete(created)
            try await loaded.expect(["SELECT"])
            let staged = try context.add("task", values)
            // A staged row is in no part.
            try await loaded.expect()
            try await context.save()
            try await loaded.expect(["SELECT"])
            try await context.fetch("task").where("id == 100").delete()
            #expect(staged.isDeleted)
            try await loaded.expect(["SELECT"])
        }
    }

    @Test func rowsWithoutObjectsConcernAllOwners() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            try await context.fetch("task").where("id == 1").update(["position": -5])
            try await loaded.expect(["SELECT"])
            try await loaded.projects[3].set(forKey: "tasks").removeAll()
            try await loaded.expect(["SELECT"])
            try await context.delete(loaded.projects[2])
            // The others are still there; a deleted one has no set.
            try await expectStatements(["SELECT"]) { () async throws in
                for project in loaded.projects where !project.isDeleted {
                    _ = try await project.set(forKey: "tasks").openTasks().all()
                }
            }
        }
    }

    @Test func whatOthersWriteIsSeenAfterARefresh() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            let before = try await loaded.projects[0].set(forKey: "tasks").openTasks().all().keys
            try await other.query("UPDATE task SET done = true WHERE id = 10")
            try await expectStatements([]) { () async throws in
                #expect(try await loaded.projects[0].set(forKey: "tasks").openTasks().all().keys == before)
            }
            try await loaded.projects[0].refresh()
            try await loaded.expect(["SELECT"])
            // A row that is read and differs concerns its part as well.
            let task = try await task(8, in: context)
            try await other.query("UPDATE task SET done = true WHERE id = 8")
            try await task.refresh()
            try await loaded.expect(["SELECT"])
            try await loaded.expect()
        }
    }

    @Test func rowsOnPathsOfTheConditionConcernAllOwners() async throws {
        try await withDatabase { database, context, other in
            let projects = try await context.fetch("project").prefetch("tasks") {
                $0.where("assignee.name == %@", "person 1").sorted("id")
            }.prefetch("tasks") { $0.where("ANY labels.name == %@", "label 1").sorted("id") }.all()
            func counts() async throws -> [Int] {
                var counts: [Int] = []
                for project in projects {
                    let tasks = try await project.set(forKey: "tasks")
                    counts.append(try await tasks.where("assignee.name == %@", "person 1").sorted("id").count())
                    counts.append(try await tasks.where("ANY labels.name == %@", "label 1").sorted("id").count())
                }
                return counts
            }
            func expectCounts(_ statements: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let expected = try await other.values(
                    """
                    SELECT n FROM project AS p CROSS JOIN LATERAL (
                        SELECT 1, count(*) FROM task AS t JOIN person AS o ON o.id = t.person_id
                            WHERE t.project_id = p.id AND o.name = 'person 1'
                        UNION ALL SELECT 2, count(*) FROM task AS t WHERE t.project_id = p.id AND EXISTS (
                            SELECT FROM task_label AS l JOIN label ON label.id = l.label_id
                            WHERE l.task_id = t.id AND label.name = 'label 1')) AS c(k, n) ORDER BY p.id, k
                    """)
                try await expectStatements(statements, sourceLocation: sourceLocation) { () async throws in
                    let found = try await counts()
                    #expect(found.map { .integer(Int64($0)) } == expected, sourceLocation: sourceLocation)
                }
            }
            try await expectCounts([])
            let person = try #require(try await context.find("person", 2))
            try await person.setValue("person 1", forKey: "name")
            try await expectCounts(["SELECT"])
            let label = try #require(try await context.find("label", 2))
            try await label.setValue("label 1", forKey: "name")
            try await expectCounts(["SELECT"])
            let task = try await task(1, in: context)
            try await task.set(forKey: "labels").removeAll()
            try await expectCounts(["SELECT"])
            try await task.set(forKey: "labels").insert(label)
            try await expectCounts(["SELECT"])
        }
    }

    @Test func aRollbackLeavesNothingOfTheTransaction() async throws {
        try await withDatabase { database, context, other in
            let loaded = try await Loaded(context, other)
            let task = try await task(10, in: context)
            await fail(context) {
                try await task.setValue(true, forKey: "done")
                let inside = try await loaded.projects[0].set(forKey: "tasks").openTasks().all()
                #expect(!inside.contains(task))
            }
            try await loaded.expect(["SELECT"])
            try await loaded.expect()
            try await context.transaction {
                await fail(context) {
                    try await task.setValue(true, forKey: "done")
                    #expect(try await !loaded.projects[0].set(forKey: "tasks").openTasks().all().contains(task))
                }
                #expect(try await loaded.projects[0].set(forKey: "tasks").openTasks().all().contains(task))
                try await task.setValue(-7, forKey: "position")
                #expect(try await loaded.projects[0].set(forKey: "tasks").openTasks().first() === task)
            }
            try await loaded.expect()
        }
    }

    @Test func aContextThatDoesNotBatchAsksForOneOwner() async throws {
        try await withDatabase { database, context, other in
            let alone = database.makeContext(loading: .single)
            let loaded = try await Loaded(alone, other)
            try await loaded.expect()
            try await alone.fetch("task").where("id == 1").update(["position": -5])
            try await loaded.expect(["SELECT", "SELECT", "SELECT", "SELECT"])
            let forbidden = database.makeContext(loading: .forbidden)
            let projects = try await forbidden.fetch("project").prefetch("tasks") { $0.openTasks }.all()
            #expect(try await projects[0].set(forKey: "tasks").openTasks().count() == 3)
            await expectError(.loadingForbidden) { _ = try await projects[0].set(forKey: "tasks").objects }
        }
    }
}
