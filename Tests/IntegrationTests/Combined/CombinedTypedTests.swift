import Foundation
import Kindred
import KindredTesting
import Testing

/// The typed forms of parts, filters, left-out columns, totals, views, new objects and updates, together.
@Suite(.database(.sql(combinedSchema))) struct CombinedTypedTests {
    private func withClasses(
        _ body: (_ database: Database, _ context: DatabaseContext) async throws -> Void
    ) async throws {
        let database = try await Database.connect(
            TestDatabase.current.uri, classes: [CombinedProject.self, CombinedTask.self])
        do {
            try await body(database, database.makeContext())
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test func partsLeaveOutAndAreUnfiltered() async throws {
        try await withClasses { database, context in
            let projects = try await context.fetch(CombinedProject.self).sorted { $0.id }
                .prefetch(\.tasks) { $0.omitting(\.body).unfiltered().sorted { $0.id }.limit(4) }
                .prefetch(\.tasks) { $0.where { $0.cost > 1 }.only(\.title, \.log).sorted { $0.id } }
                .all()
            try await expectStatements([]) { () async throws in
                let all = try await projects[0].tasks.unfiltered().sorted { $0.id }.limit(4).all()
                #expect(all.map(\.id) == [1, 2, 3, 4] && all[3].deletedAt != nil && all[0].dictionary["body"] == nil)
                let dear = try await projects[0].tasks.where { $0.cost > 1 }.sorted { $0.id }.all()
                #expect(dear.map(\.title) == ["task 2", "task 3"])
            }
            // A column that the second part has read is loaded, if that part was the last to read it.
            let dear = try await projects[1].tasks.where { $0.cost > 1 }.only(\.log).sorted { $0.id }.all()
            #expect(dear.map { $0.log.loaded } == ["log 5", "log 6", "log 7"] && !dear[0].cost.isLoaded)
            try await expectStatements(["SELECT"]) { () async throws in
                for task in dear { #expect(try await task.cost.value == task.id) }
            }
        }
    }

    @Test func partsTakeBothFormsOfColumns() async throws {
        try await withClasses { database, context in
            let typed = try await context.fetch(CombinedProject.self).sorted { $0.id }
                .prefetch(\.tasks) { $0.only(\.title).sorted { $0.id } }.all()
            // By names it is the same part, also of plain objects of another context.
            let plain = try await database.makeContext().fetch("project").sorted("id")
                .prefetch("tasks") { $0.only("title").sorted("id") }.all()
            try await expectStatements([]) { () async throws in
                let first = try await typed[2].tasks.sorted { $0.id }.all()
                #expect(first.map(\.title) == ["task 9", "task 10", "task 11"] && !first[0].has("body"))
                #expect(try await typed[2].tasks.sorted("id").count() == 3)
                let second = try await plain[2].set(forKey: "tasks").sorted("id").all()
                #expect(second.map { $0["title"] } == ["task 9", "task 10", "task 11"] && !second[0].has("body"))
            }
        }
    }

    @Test func totalsAreOfWhatIsShownAlsoOfLazyColumns() async throws {
        try await withClasses { _, context in
            let tasks = try context.fetch(CombinedTask.self)
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                #expect(try await tasks.sum { $0.cost } == 54)
                #expect(try await tasks.unfiltered().maximum { $0.log } == "log 9")
                let groups = try await tasks.sorted { $0.project.name }
                    .group(by: { $0.project.name }) { ($0.count, $0.sum { $0.cost } ?? 0) }
                    .having { $0.sum { $0.cost } > 6 }.all()
                #expect(groups.map(\.1) == [3, 3] && groups.map(\.2) == [18, 30])
            }
            let page = try await tasks.omitting(\.body).sorted { $0.id }.page(size: 4, withTotal: true)
            #expect(page.total == 9 && page.objects.map(\.id) == [1, 2, 3, 5])
        }
    }

    @Test func viewsLeaveOut() async throws {
        try await withClasses { database, context in
            func json(_ views: [ObjectView]) throws -> String {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(views), as: UTF8.self)
            }
            let expected = #"[{"id":1,"tasks":[{"done":false,"id":4,"position":96,"title":"task 4"}]}]"#
            let request = try context.fetch(CombinedProject.self).where { $0.id == 1 }
            let part = try request.prefetch(\.tasks) {
                $0.unfiltered().sorted(ascending: false) { $0.id }.limit(1)
            }
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let views = try await part.views(
                    \.id, \.tasks, omitting: [\.tasks.body, \.tasks.projectID, \.tasks.deletedAt])
                #expect(try json(views) == expected)
            }
            let other = database.makeContext()
            let tasks = try await other.fetch(CombinedTask.self).only(\.title).where { $0.id <= 2 }.sorted { $0.id }
                .all()
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let views = try await other.views(
                    of: tasks, \.id, \.body, \.log, \.project,
                    omitting: [\.project.plan, \.project.deletedAt, \.body])
                let project = #"{"id":1,"name":"project 1"}"#
                #expect(
                    try json(views)
                        == #"[{"id":1,"log":"log 1","project":\#(project)},{"id":2,"log":"log 2","project":\#(project)}]"#
                )
            }
        }
    }

    @Test func newObjectsAndUpdatesGiveLazyColumns() async throws {
        try await withClasses { database, context in
            let projects = try await context.fetch(CombinedProject.self).sorted { $0.id }
                .prefetch(\.tasks) { $0.where { $0.log == "new" }.omitting(\.body).sorted { $0.id } }.all()
            func keys() async throws -> [Int] {
                try await projects[0].tasks.where { $0.log == "new" }.sorted { $0.id }.all().map(\.id)
            }
            #expect(try await keys() == [])
            var values = CombinedTask.new(id: 20, title: "twenty", log: "new", cost: 7, position: 1)
            values.project = projects[0]
            let task = try await context.create(values)
            #expect(!task.log.isLoaded && !task.cost.isLoaded && task.title == "twenty")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await keys() == [20]) }
            // An object that came alone loads each by itself.
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(try await task.cost.value == 7)
                #expect(try await task.log.value == "new")
            }
            let count = try await context.fetch(CombinedTask.self).where { $0.id <= 4 }.update {
                $0.log = "new"
                $0.cost = $0.cost + 1
            }
            // The marked one is not written.
            #expect(count == 3)
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await keys() == [1, 2, 3, 20]) }
            #expect(try await context.fetch(CombinedTask.self).unfiltered().where { $0.id <= 4 }.sum { $0.cost } == 13)
            task.log.stage("old")
            #expect(try await keys() == [1, 2, 3, 20])
            try await context.save()
            #expect(try await keys() == [1, 2, 3])
            try await context.delete(task)
            #expect(try await context.find(CombinedTask.self, 20) == nil)
            #expect(try await task.log.value == "old" && task.deletedAt != nil)
        }
    }
}
