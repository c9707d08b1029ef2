import Foundation
import Kindred
import KindredTesting
import Testing

/// Tries to get at the rows of another organization by every public call of contexts, requests, objects and sets.
///
/// A new call that reads or writes rows belongs here, too.
@Suite(.database(.sql(organizationSchema)))
struct TenantCallsTests {
    /// Lends a context of the first organization; afterwards the rows of the second are as before.
    private func withContext(
        _ body: (_ context: DatabaseContext, _ admin: PostgresClient) async throws -> Void
    ) async throws {
        try await withTenants { database, admin, _ in
            for isInTransaction in [false, true] {
                let before = try await state(admin)
                let context = try database.makeContext(settings: ["app.organization": 1])
                if isInTransaction {
                    try await context.transaction { () async throws in try await body(context, admin) }
                } else {
                    try await body(context, admin)
                }
                #expect(try await state(admin) == before)
                #expect(try await database.makeContext().fetch("task").count() == 0)
            }
        }
    }

    /// The rows of the second organization, as text.
    private func state(_ admin: PostgresClient) async throws -> [PostgresValue?] {
        try await admin.values(
            """
            SELECT t::text FROM project AS t WHERE organization = 2 UNION ALL SELECT t::text FROM task AS t WHERE organization = 2
            UNION ALL SELECT t::text FROM label AS t WHERE organization = 2
            UNION ALL SELECT t::text FROM task_label AS t WHERE organization = 2 ORDER BY 1
            """)
    }

    private func expectOwn(_ objects: [DatabaseObject], _ count: Int, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(objects.count == count, sourceLocation: sourceLocation)
        #expect(objects.allSatisfy { $0["organization"] == 1 }, sourceLocation: sourceLocation)
    }

    private func json(_ views: [ObjectView]) throws -> String {
        String(decoding: try JSONEncoder().encode(views), as: UTF8.self)
    }

    /// Expects that a call fails, or gives nothing.
    private func expectNothing(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> DatabaseObject?
    ) async {
        let found = try? await body()
        #expect(found == nil, sourceLocation: sourceLocation)
    }

    /// Expects that a write is refused; inside a transaction in a savepoint, which the failure ends.
    private func expectRefused(
        _ context: DatabaseContext, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        do {
            try await context.transaction { () async throws in try await body() }
            Issue.record("another organization's row was written", sourceLocation: sourceLocation)
        } catch let error as any CategorizedError {
            #expect(
                [.forbidden, .notFound, .conflict, .invalid].contains(error.category), "\(error)",
                sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        context.rollback()
    }

    // MARK: Reading

    @Test func requestsFindOwnRowsOnly() async throws {
        try await withContext { context, _ in
            let tasks = try context.fetch("task")
            let secret = try tasks.where("title BEGINSWITH %@", "secret")
            expectOwn(try await tasks.all(), 4)
            expectOwn(try await secret.all(), 0)
            #expect(try await tasks.sorted("size", ascending: false).first()?["size"] == 1)
            #expect(try await secret.first() == nil)
            #expect(try await tasks.count() == 4)
            #expect(try await secret.count() == 0)
            #expect(try await secret.exists() == false)
            await expectError(.notFound) { _ = try await secret.one() }
            #expect(try await tasks.sum("size") == 4)
            #expect(try await tasks.maximum("size") == 1)
            #expect(try await tasks.minimum("id") == 11)
            #expect(try await tasks.aggregate(.count) == 4)
            #expect(try await tasks.group(by: "size", aggregates: .count).all().count == 1)
            #expect(try await tasks.group(by: "project.name", aggregates: .count).all().count == 2)
            #expect(try await tasks.group(by: "project.name", aggregates: .count).sorted(.count).all().count == 2)
            let rows = try await tasks.select("title", "project.name").all()
            #expect(rows.count == 4 && !"\(rows)".contains("secret"))
            let page = try await tasks.sorted("id", ascending: false).page(size: 2)
            expectOwn(page.objects, 2)
            if let next = page.next {
                expectOwn(try await tasks.sorted("id", ascending: false).page(size: 9, after: next).objects, 2)
            }
            var streamed: [DatabaseObject] = []
            for try await task in tasks.stream() { streamed.append(task) }
            expectOwn(streamed, 4)
            let views = try await tasks.views("*", "project.*", "labelSet.*")
            #expect(views.count == 4)
            #expect(try !json(views).contains("secret"))
        }
    }

    @Test func conditionsAndOrdersLookAtOwnRowsOnly() async throws {
        try await withContext { context, _ in
            let tasks = try context.fetch("task")
            #expect(try await tasks.where("project.name BEGINSWITH %@", "secret").count() == 0)
            #expect(try await tasks.where("ANY labelSet.name == %@", "secret").count() == 0)
            #expect(try await context.fetch("project").where("ANY taskSet.size > 1").count() == 0)
            expectOwn(try await tasks.sorted("project.name").all(), 4)
            expectOwn(try await tasks.prefetch("project", "labelSet").all(), 4)
        }
    }

    @Test func keysAndRelationshipsOfOthersAreNotThere() async throws {
        try await withContext { context, _ in
            for id in ["task?id=21", "project?id=20", "label?id=25", "task_label?task_id=21&label_id=25"] {
                await expectError(.notFound) { _ = try await context.get(uri: "kindred:/public/\(id)") }
            }
            // It refers to a project and a label of the other organization.
            let stray = try await context.fetch("task").where("id == 14").one()
            await expectNothing { try await stray.object(forKey: "project") }
            await expectNothing { try await stray.value(forKey: "project")?.object }
            let name = try? await stray.value(forKeyPath: "project.name")
            #expect(name?.attribute == nil)
            let labels = try await stray.set(forKey: "labelSet")
            #expect(try await labels.objects.isEmpty)
            #expect(try await labels.where("name == %@", "secret").count() == 0)
            for try await label in labels { Issue.record("\(label)") }
            if let view = try? await stray.view("project.*", "labelSet.*") {
                #expect(try !json([view]).contains("secret"))
            }
            try await stray.refresh()
            let project = try await context.fetch("project").one()
            expectOwn(try await project.set(forKey: "taskSet").objects, 3)
            #expect(try await project.set(forKey: "taskSet").contains(stray) == false)
        }
    }

    @Test func theProgramsOwnSQLReadsOwnRowsOnly() async throws {
        struct Title: Decodable { let title: String }
        try await withContext { context, _ in
            #expect(try await context.query("SELECT * FROM task").count == 4)
            #expect(try await context.query("SELECT title FROM task WHERE organization = 2", as: Title.self).isEmpty)
            expectOwn(try await context.query("SELECT * FROM task", as: "task"), 4)
            #expect(
                try await context.query("WITH gone AS (DELETE FROM task WHERE id = 21 RETURNING id) TABLE gone").isEmpty
            )
        }
    }

    // MARK: Writing

    @Test func othersRowsAreNeitherWrittenNorMade() async throws {
        try await withContext { context, _ in
            #expect(try await context.fetch("task").where("id == 21").update(["title": "taken"]) == 0)
            #expect(try await context.fetch("task").where("organization == 2").delete() == 0)
            await expectRefused(context) {
                try await context.create("task", ["id": 99, "organization": 2, "title": "x"])
            }
            await expectRefused(context) {
                _ = try context.add("task", ["id": 98, "organization": 2, "title": "x"])
                try await context.save()
            }
            for resolution in [ConflictRule.update("id"), .keep("id")] {
                await expectRefused(context) {
                    try await context.create(
                        "label", ["id": 25, "organization": 1, "name": "mine"], by: resolution)
                }
            }
            let own = try await context.fetch("task").where("id == 11").one()
            await expectRefused(context) { try await own.setValue(2, forKey: "organization") }
            await expectRefused(context) {
                own["organization"] = 2
                try await context.save()
            }
            await expectRefused(context) {
                _ = try await context.fetch("task").where("id == 11").update(["organization": 2])
            }
        }
    }

    @Test func setsOfOthersRowsAreNotChanged() async throws {
        try await withContext { context, _ in
            let stray = try await context.fetch("task").where("id == 14").one()
            let labels = try await stray.set(forKey: "labelSet")
            let urgent = try await context.fetch("label").one()
            try await labels.insert(urgent)
            try await labels.remove(urgent)
            try await labels.set([urgent])
            try await labels.removeAll()
            let project = try await context.fetch("project").one()
            let tasks = try await project.set(forKey: "taskSet")
            try await tasks.formUnion([stray])
            try await tasks.subtract([stray])
        }
    }

    @Test func deletionsReachOwnRowsOnly() async throws {
        try await withContext { context, admin in
            let project = try await context.create("project", ["id": 30, "organization": 1, "name": "orchard"])
            let task = try await context.create("task", ["id": 31, "organization": 1, "title": "x"])
            try await task.setValue(project, forKey: "project")
            _ = try await context.deletionPlan(for: project)
            try await context.delete(project)
            let label = try await context.create("label", ["id": 32, "organization": 1, "name": "x"])
            try context.stageDeletion(of: label)
            try await context.save()
        }
    }

    @Test func locksAreThoseOfOwnRows() async throws {
        try await withContext { context, admin in
            let tasks = try await context.fetch("task").all()
            #expect(try await context.lockedObjects(among: tasks).isEmpty)
            try await context.transaction { () async throws in
                expectOwn(try await context.fetch("task").lock(.forUpdate, .skipLocked).all(), 4)
                try await tasks[0].lock()
                // The second organization's rows are free.
                #expect(
                    try await admin.query("SELECT id FROM task WHERE organization = 2 FOR UPDATE SKIP LOCKED").count
                        == 3)
            }
        }
    }
}
