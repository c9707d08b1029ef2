import Foundation
import Kindred
import KindredTesting
import Testing

/// The objects that filters show, in everything that reads objects as a set, and the statements.
@Suite(.database(.sql(FilterWorld.schema))) struct FilterReadingTests {
    @Test func requestsFindWhatIsShown() async throws {
        try await withDatabase { _, context, _ in
            let tasks = try context.fetch("task")
            try await expectStatements(["SELECT", "SELECT count", "SELECT EXISTS", "SELECT sum"]) { () async throws in
                #expect(try await tasks.ids == [1, 3, 4, 6])
                #expect(try await tasks.count() == 4)
                #expect(try await tasks.where("id = 2").exists() == false)
                #expect(try await tasks.sum("points") == 45)
            }
            #expect(try await context.fetch("label").ids == [1, 3])
            #expect(try await tasks.where("points > 1 OR id = 2").ids == [3, 4, 6])
            #expect(try await tasks.sorted("id").select("id").all().map { $0["id"] ?? nil } == [1, 3, 4, 6])
            let groups = try await tasks.group(by: "project_id", aggregates: .count).all()
            #expect(groups.count == 3)
            var page = try await tasks.page(size: 3)
            #expect(page.objects.map { $0["id"] } == [1, 3, 4])
            page = try await tasks.page(size: 3, after: page.next)
            #expect(page.objects.map { $0["id"] } == [6])
            var streamed: [PostgresValue?] = []
            for try await task in try tasks.sorted("id").stream() { streamed.append(task["id"]) }
            #expect(streamed == [1, 3, 4, 6])
        }
    }

    @Test func unfilteredRequestsFindAll() async throws {
        try await withDatabase { _, context, _ in
            let tasks = try context.fetch("task").unfiltered()
            try await expectStatements(["SELECT", "SELECT count"]) { () async throws in
                #expect(try await tasks.ids == [1, 2, 3, 4, 5, 6, 7])
                #expect(try await tasks.count() == 7)
            }
            #expect(try await tasks.where("deleted_at != nil").ids == [2, 5, 7])
            // Before or behind the conditions, it is the same.
            let few = try context.fetch("task").where("points < %@", 4).unfiltered()
            #expect(try await few.ids == [1, 2])
            #expect(try few.sql.contains("deleted_at\" IS NULL") == false)
        }
    }

    @Test func membersInConditionsAreThoseShown() async throws {
        try await withDatabase { _, context, _ in
            let projects = try context.fetch("project")
            #expect(try await projects.where("ANY taskSet.title = 'two'").ids == [])
            #expect(try await projects.where("ANY taskSet.title = 'three'").ids == [1])
            #expect(try await projects.where("taskSet.@count = 2").ids == [1])
            #expect(try await projects.where("taskSet.@count > 0").ids == [1, 2])
            #expect(try await projects.where("ALL taskSet.points < 5").ids == [1])
            #expect(try await projects.where("NONE taskSet.points = 16").ids == [1, 2])
            #expect(try await projects.where("SUBQUERY(taskSet, $t, $t.points = 2).@count = 0").ids == [1, 2])
            #expect(try await projects.sorted("taskSet.@count").all().map { $0["id"] } == [2, 1])
            #expect(try await projects.unfiltered().where("ANY taskSet.title = 'two'").ids == [1])
            #expect(try await projects.unfiltered().where("taskSet.@count = 2").ids == [2])
            // A to-one end is not filtered, and a filter of a member's member is.
            let tasks = try context.fetch("task")
            #expect(try await tasks.where("project.name = 'gone'").ids == [6])
            #expect(try await tasks.where("ANY labelSet.name = 'blue'").ids == [])
            #expect(try await tasks.where("ANY labelSet.name = 'red'").ids == [1, 6])
            #expect(try await context.fetch("label").where("ANY taskSet.title = 'two'").ids == [])
            #expect(try await projects.where("ANY taskSet.labelSet.name = 'blue'").ids == [])
            #expect(try await projects.where("ANY taskSet.labelSet.name = 'green'").ids == [1])
        }
    }

    @Test func setsShowTheirMembers() async throws {
        try await withDatabase { _, context, _ in
            let projects = try await context.fetch("project").sorted("id").all()
            let (first, second) = (
                try await projects[0].set(forKey: "taskSet"), try await projects[1].set(forKey: "taskSet")
            )
            try await expectStatements(["SELECT o.n, count", "SELECT"]) { () async throws in
                #expect(try await first.count == 2)
                #expect(try await second.count == 1)
                #expect(try await first.ids == [1, 3])
                #expect(try await second.ids == [4])
                #expect(try await !second.isEmpty)
            }
            let (two, four) = (try await context.any("task", 2), try await context.any("task", 4))
            try await expectStatements([]) { () async throws in
                #expect(try await first.contains(two) == false)
                #expect(try await second.contains(four))
            }
            #expect(try await first.where("points < 4").ids == [1])
            #expect(try await first.unfiltered().ids == [1, 2, 3])
            let task = try await context.any("task", 1)
            let labels = try await task.set(forKey: "labelSet")
            #expect(try await labels.count == 1)
            #expect(try await labels.ids == [1])
            #expect(try await labels.request().ids == [1])
            #expect(try await labels.request().unfiltered().ids == [1, 2])
        }
    }

    @Test func setsThatAreNotLoadedAskTheServer() async throws {
        try await withDatabase { _, context, _ in
            let (two, four) = (try await context.any("task", 2), try await context.any("task", 4))
            let (red, blue) = (try await context.any("label", 1), try await context.any("label", 2))
            let tasks = try await context.any("project", 1).set(forKey: "taskSet")
            let labels = try await context.any("task", 1).set(forKey: "labelSet")
            try await expectStatements(Array(repeating: "SELECT", count: 5)) { () async throws in
                #expect(try await tasks.contains(two) == false)
                #expect(try await tasks.contains(four) == false)
                #expect(try await labels.contains(blue) == false)
                #expect(try await labels.contains(red))
                #expect(try await tasks.count == 2)
            }
        }
    }

    @Test func thePairsOfAHiddenOwnerAreShown() async throws {
        try await withDatabase { _, context, _ in
            let labels = try await context.any("task", 2).set(forKey: "labelSet")
            #expect(try await labels.request().ids == [1])
            #expect(try await labels.ids == [1])
            #expect(try await context.any("label", 2).set(forKey: "taskSet").ids == [1])
        }
    }

    @Test func prefetchedSetsAndViewsShowTheirMembers() async throws {
        try await withDatabase { _, context, _ in
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                let projects = try await context.fetch("project").sorted("id").prefetch("taskSet.labelSet").all()
                #expect(try await projects[0].set(forKey: "taskSet").ids == [1, 3])
                let task = try #require(try await projects[0].set(forKey: "taskSet").objects.first { $0["id"] == 1 })
                #expect(try await task.set(forKey: "labelSet").ids == [1])
            }
            let views = try await context.fetch("project").sorted("id").views("name", "taskSet.title")
            let json = String(decoding: try JSONEncoder().encode(views), as: UTF8.self)
            #expect(json.contains("three") && !json.contains("two") && !json.contains("gone"))
        }
    }

    @Test func keysFindWhatIsShownAndIDsFindAll() async throws {
        try await withDatabase { database, context, _ in
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(try await context.find("task", 2) == nil)
                #expect(try await context.find("task", 1) != nil)
            }
            await expectError(.notFound) { _ = try await context.get("task", 2) }
            #expect(try await context.find("task", [1, 2, 3]).map { $0["id"] } == [1, 3])
            // In memory too.
            let two = try await context.any("task", 2)
            try await expectStatements([]) { () async throws in #expect(try await context.find("task", 2) == nil) }
            let id = try #require(two.objectID)
            #expect(try await context.get(id) === two)
            #expect(try await database.makeContext().get(id)["title"] == "two")
            // A to-one end is there, whatever it is.
            let six = try await context.any("task", 6)
            #expect(try await six.object(forKey: "project")?["name"] == "gone")
            try await two.refresh()
            #expect(two["title"] == "two")
        }
    }
}
