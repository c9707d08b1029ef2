import Foundation
import Kindred
import KindredTesting
import Testing

/// Totals, pages, streams, views, upserts and names of entities with filters, and with columns that are left out.
@Suite(.database(.sql(combinedSchema))) struct CombinedRequestTests {
    @Test func totalsAreOfWhatIsShown() async throws {
        try await withDatabase { _, context, other in
            let tasks = try context.fetch("task")
            try await expectStatements(["SELECT sum", "SELECT sum", "SELECT"]) { () async throws in
                // The column is lazy, and the server adds it up all the same.
                #expect(try await tasks.sum("cost") == .integer(78 - 24))
                #expect(try await tasks.unfiltered().sum("cost") == 78)
                let groups = try await tasks.sorted("project_id").group(
                    by: "project_id", aggregates: .count, .sum("cost")
                )
                .having(.sum("cost"), .greater, 6).all()
                #expect(groups.map { $0["sum(cost)"] } == [18, 30])
                #expect(groups.map { $0["count"] } == [3, 3])
            }
            // Of a part that was loaded no total is known: one statement.
            let projects = try await context.projects { $0.only("cost").sorted("id") }
            try await expectStatements(["SELECT sum"]) { () async throws in
                #expect(try await projects[1].set(forKey: "tasks").sorted("id").sum("cost") == 18)
            }
            #expect(try await other.value("SELECT sum(cost) FROM task WHERE deleted_at IS NULL") == 54)
        }
    }

    @Test func pagesCountWhatIsShown() async throws {
        try await withDatabase { _, context, _ in
            let request = try context.fetch("task").omitting("body").sorted("log").prefetch("labels") { $0.limit(1) }
            var keys: [PostgresValue?] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                let page = try await request.page(size: 5, withTotal: true)
                #expect(page.total == 9 && page.objects.allSatisfy { !$0.has("body") && !$0.has("log") })
                let next = try await request.page(size: 5, after: page.next)
                keys = page.objects.keys + next.objects.keys
                #expect(next.total == nil && next.next == nil)
            }
            #expect(keys == [1, 10, 11, 2, 3, 5, 6, 7, 9])
            let all = try await request.unfiltered().page(size: 2, withTotal: true)
            #expect(all.total == 12 && all.objects.keys == [1, 10])
            // The total of a page of a set is its part's number, where that is in memory.
            let projects = try await context.projects { $0.sorted("id") }
            let set = try await projects[0].set(forKey: "tasks").request()
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await set.sorted("id").page(size: 2, withTotal: true).total == 3)
            }
        }
    }

    @Test func streamsShowWhatRequestsDo() async throws {
        try await withDatabase { database, context, _ in
            var keys: [PostgresValue?] = []
            let request = try context.fetch("task").omitting("title").sorted("id")
                .prefetch("labels") { $0.sorted("id", ascending: false).only("name") }
            for try await task in request.stream() {
                keys.append(task["id"])
                #expect(task.has("body") && !task.has("title"))
                try await withStatementLimit(0) {
                    let labels = try await task.set(forKey: "labels").sorted("id", ascending: false).all()
                    #expect(labels.keys == [3, 1] && labels.allSatisfy { !$0.has("color") })
                }
            }
            #expect(keys == [1, 2, 3, 5, 6, 7, 9, 10, 11])
            let other = database.makeContext()
            var count = 0
            for try await task in try other.fetch("task").unfiltered().only("deleted_at").stream() {
                count += task["deleted_at"] == nil ? 0 : 1
            }
            #expect(count == 3)
        }
    }

    @Test func viewsShowPartsWithExceptions() async throws {
        try await withDatabase { database, context, _ in
            func json(_ views: [ObjectView]) throws -> String {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(views), as: UTF8.self)
            }
            let request = try context.fetch("project").where("id == 1").prefetch("tasks") {
                $0.unfiltered().omitting("body").sorted("id", ascending: false).limit(2)
            }
            let expected = #"[{"id":1,"tasks":[{"id":4,"log":"log 4"},{"id":3,"log":"log 3"}]}]"#
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(
                    try json(
                        try await request.views(
                            "*", "tasks.*", "tasks.log",
                            omitting: [
                                "name", "plan", "deleted_at", "tasks.title", "tasks.position", "tasks.done",
                                "tasks.project_id", "tasks.deleted_at", "tasks.body",
                            ])) == expected)
            }
            // Missing columns of objects are loaded once, and a part that was loaded is not read again.
            let other = database.makeContext()
            let projects = try await other.fetch("project").only("name").sorted("id").limit(1).all()
            for statements in [["SELECT", "SELECT"], []] {
                try await expectStatements(statements) { () async throws in
                    let views = try await other.views(
                        of: projects, "plan", "tasks.id", "tasks.log", omitting: ["tasks.body"]
                    ) {
                        $0.prefetch("tasks") { $0.unfiltered().sorted("id", ascending: false).limit(2) }
                    }
                    let tasks = #"[{"id":4,"log":"log 4"},{"id":3,"log":"log 3"}]"#
                    #expect(try json(views) == #"[{"plan":"plan 1","tasks":\#(tasks)}]"#)
                }
            }
        }
    }

    @Test func anUpsertMakesPartsStale() async throws {
        try await withDatabase { _, context, other in
            let project = try await context.fetch("project").where("id == 1")
                .prefetch("members") { $0.omitting("photo").sorted("id") }.one()
            func names() async throws -> [PostgresValue?] {
                try await project.set(forKey: "members").sorted("id").all().map { $0["name"] }
            }
            let held = try await project.set(forKey: "members").sorted("id").all()
            #expect(try await names() == ["new"] && !held[0].has("photo"))
            // The row that is shown is found; a marked row with the address is another row.
            let values = [("a@x.org", "newer"), ("b@x.org", "back")].map {
                email, name -> [String: (any PropertyValue)?] in
                ["email": email, "name": name, "project": project]
            }
            let made = try await context.upsert("member", values, on: "email")
            #expect(made[0] === held[0] && held[0]["name"] == "newer" && held[0].has("photo"))
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await names() == ["newer", "back"])
            }
            try await context.delete(made[1])
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await names() == ["newer"]) }
            let again = try await context.upsert("member", values, on: "email")
            #expect(again[0] === held[0] && again[1] !== made[1])
            #expect(try await names() == ["newer", "back"])
            #expect(try await other.value("SELECT count(*) FROM member WHERE email = 'b@x.org'") == 3)
            let error = await expectError(.constraintViolation) { try await context.restore(made[1]) }
            #expect(error != nil && made[1]["deleted_at"] != nil)
            #expect(try await names() == ["newer", "back"])
        }
    }

    @Test func namesGoWithFilters() async throws {
        try await withDatabase { database, _, _ in
            let names = try RelationshipNames(text: RelationshipNames(database.schema).text)
            let named = try await Database.connect(
                TestDatabase.current.uri, overrides: [.table("label", filter: "name != 'red'")], names: names)
            let context = named.makeContext()
            let tasks = try await context.fetch("task").where("ANY labels.name == 'red'").all()
            #expect(tasks.isEmpty)
            let task = try await context.fetch("task").sorted("id").prefetch("labels") { $0.sorted("id") }.limit(1)
                .one()
            #expect(try await task.set(forKey: "labels").sorted("id").all().keys == [2, 3])
            try await named.refreshSchema()
            #expect(try await named.makeContext().fetch("label").count() == 2)
            await named.close()
        }
    }
}
