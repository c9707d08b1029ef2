import Foundation
import Kindred
import Testing

extension CitusCall {
    /// Requests, and their results.
    static let requests = [
        CitusCall(reading: "fetch all tenants") { try await $0.context.fetch("task").all().count == 18 },
        CitusCall(reading: "fetch one tenant") { try await $0.objects("task").count == 6 },
        CitusCall(reading: "fetch a reference table") { try await $0.context.fetch("country").all().count == 2 },
        CitusCall(reading: "find") { try await $0.object("task", 2)["title"] == "task 2" },
        CitusCall(reading: "first") {
            try await $0.context.fetch("task").sorted("size", ascending: false).first()?["size"] == 6
        },
        CitusCall(reading: "count") { try await $0.context.fetch("task").count() == 18 },
        CitusCall(reading: "exists") { try await $0.context.fetch("task").where("size > 5").exists() },
        CitusCall("sum, minimum and maximum") {
            let tasks = try $0.context.fetch("task")
            #expect(try await tasks.sum("size") == .integer(63))
            #expect(try await tasks.minimum("size") == 1)
            #expect(try await tasks.maximum("size") == 6)
        },
        CitusCall("aggregate of a limited request") {
            let tasks = try $0.context.fetch("task").where("tenant_id == 1").sorted("size").limit(2)
            #expect(try await tasks.sum("size") == .integer(3))
        },
        CitusCall("group and having") {
            let groups = try $0.context.fetch("task").group(by: "tenant_id", aggregates: .count)
            #expect(try await groups.having(.count, .greater, 5).sorted(.count).all().count == 3)
        },
        CitusCall("group by a related value") {
            let groups = try $0.context.fetch("task").group(by: "project.name", aggregates: .count)
            #expect(try await groups.all().count == 3)
        },
        CitusCall("select and distinct") {
            let tasks = try $0.context.fetch("task")
            #expect(try await tasks.select("title", "project.name").all().count == 18)
            #expect(try await tasks.select("title").distinct().all().count == 6)
        },
        CitusCall("page") {
            let tasks = try $0.context.fetch("task").sorted("size", ascending: false)
            let page = try await tasks.page(size: 10, withTotal: true)
            #expect(page.objects.count == 10 && page.total == 18)
            #expect(try await tasks.page(size: 10, after: page.next).objects.count == 8)
        },
        CitusCall("stream") {
            var count = 0
            for try await _ in try $0.context.fetch("task").sorted("tenant_id").sorted("id").stream() { count += 1 }
            #expect(count == 18)
        },
        CitusCall("views") {
            let views = try await $0.context.fetch("task").where("tenant_id == 1").views("*", "project.*", "labelSet.*")
            #expect(views.count == 6)
        },
        CitusCall(reading: "condition on a to-one end") {
            try await $0.context.fetch("task").where("project.name == 'project 1'").count() == 6
        },
        CitusCall(reading: "condition on a reference table") {
            try await $0.context.fetch("project").where("countryObject.name == 'Austria'").count() == 9
        },
        CitusCall(reading: "condition on members") {
            try await $0.context.fetch("project").where("ANY taskSet.size > 4").count() == 6
        },
        CitusCall(reading: "condition on members by pairs") {
            try await $0.context.fetch("task").where("ANY labelSet.name == 'label 1'").count() == 18
        },
        CitusCall(reading: "condition on a count of members") {
            try await $0.context.fetch("project").where("taskSet.@count == 2").count() == 9
        },
        CitusCall(reading: "order by a related value") {
            try await $0.context.fetch("task").sorted("project.name").all().count == 18
        },
        CitusCall(reading: "omitting") {
            try await $0.context.fetch("task").omitting("title").all().count == 18
        },
        CitusCall(reading: "explain") {
            try await $0.context.fetch("task").where("tenant_id == 1").explain().contains("Citus")
        },
        CitusCall(reading: "query") {
            try await $0.context.query("SELECT * FROM task", as: "task").count == 18
        },
    ]

    /// Relationships of objects in memory.
    static let relationships = [
        CitusCall(reading: "to-one end") {
            try await $0.object("task", 1).object(forKey: "project")?["name"] == "project 2"
        },
        CitusCall("to-one ends of many, of all tenants") {
            let tasks = try await $0.objects("task", tenant: nil)
            for task in tasks { #expect(try await task.object(forKey: "project")?["tenant_id"] == task["tenant_id"]) }
        },
        CitusCall(reading: "end in a reference table") {
            try await $0.object("project", 1).object(forKey: "countryObject")?["name"] == "Austria"
        },
        CitusCall(reading: "members") {
            try await $0.set("taskSet", of: "project").all().count == 2
        },
        CitusCall("members of many, of all tenants") {
            for project in try await $0.objects("project", tenant: nil) {
                #expect(try await project.set(forKey: "taskSet").all().count == 2)
            }
        },
        CitusCall("members by pairs, of all tenants") {
            for task in try await $0.objects("task", tenant: nil) {
                #expect(try await task.set(forKey: "labelSet").all().count == 1)
            }
        },
        CitusCall(reading: "ordered members") {
            try await $0.set("steps", of: "project").all().map { $0["id"] } == [1, 2, 3, 4]
        },
        CitusCall(reading: "one-to-one from the other side") {
            try await $0.object("project", 2).object(forKey: "page")?["id"] == 2
        },
        CitusCall(reading: "count of members") {
            try await $0.set("taskSet", of: "project").count == 2
        },
        CitusCall("a set contains") {
            let (set, task) = (try await $0.set("taskSet", of: "project"), try await $0.object("task", 3))
            #expect(try await set.contains(task))
        },
        CitusCall(reading: "request of a set") {
            try await $0.set("taskSet", of: "project").where("size > 4").all().count == 1
        },
        CitusCall(reading: "request of a set by pairs") {
            try await $0.set("taskSet", of: "label").where("size > 4").all().count == 2
        },
        CitusCall("prefetch") {
            let projects = try $0.context.fetch("project").prefetch("taskSet", "taskSet.labelSet")
            #expect(try await projects.all().count == 9)
        },
        CitusCall("prefetch a part of one tenant") {
            let projects = try $0.context.fetch("project").where("tenant_id == 1")
                .prefetch("taskSet") { $0.where("size > 1").sorted("id").limit(1) }
            #expect(try await projects.all().count == 3)
        },
        CitusCall("prefetch a part of all tenants") {
            let projects = try $0.context.fetch("project").prefetch("taskSet") { $0.sorted("id").limit(1) }
            #expect(try await projects.all().count == 9)
        },
        CitusCall("refresh") { try await $0.object("task", 1).refresh() },
        CitusCall("object with an identifier") {
            let task = try await $0.object("task", 1)
            let other = $0.database.makeContext()
            #expect(try await other.get(try #require(task.objectID))["title"] == "task 1")
        },
    ]
}
