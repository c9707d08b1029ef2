import Kindred
import Testing

extension CitusCall {
    /// New and changed rows.
    static let rows = [
        CitusCall("create") {
            try await $0.context.create("label", ["tenant_id": 1, "id": 9, "name": "new"])
            try await $0.expect(["new"], "SELECT name FROM label WHERE tenant_id = 1 AND id = 9")
        },
        CitusCall("create with a generated key") {
            let task = try await $0.context.create("task", ["tenant_id": 1, "title": "new"])
            #expect(task["id"] != nil)
        },
        CitusCall("create in a reference table") {
            try await $0.context.create("country", ["code": "DE", "name": "Germany"])
        },
        CitusCall("upsert one") {
            let values: [String: (any PropertyValue)?] = ["tenant_id": 1, "id": 1, "name": "again"]
            let label = try await $0.context.upsert("label", values, on: "tenant_id", and: "id")
            #expect(label["name"] == "again")
        },
        CitusCall("upsert several of all tenants") {
            let values = (1...3).map { ["tenant_id": $0, "id": 1, "name": "again"] as [String: (any PropertyValue)?] }
            try await $0.context.upsert("label", values, on: "tenant_id", and: "id")
            try await $0.expect(["3"], "SELECT count(*) FROM label WHERE name = 'again'")
        },
        CitusCall("upsert that keeps") {
            let values = (1...4).map { ["tenant_id": 1, "id": $0, "name": "again"] as [String: (any PropertyValue)?] }
            try await $0.context.create("label", values, unlessExists: "tenant_id", and: "id")
            try await $0.expect(["1"], "SELECT count(*) FROM label WHERE name = 'again'")
        },
        CitusCall("save new objects that refer to each other") { scene in
            for tenant in 1...2 {
                let project = try scene.context.add("project", ["tenant_id": tenant, "id": 9, "name": "new"])
                for _ in 0..<3 {
                    let task = try scene.context.add("task", ["tenant_id": tenant, "title": "new"])
                    try await task.setValue(project, forKey: "project")
                }
            }
            try await scene.context.save()
            try await scene.expect(["6"], "SELECT count(*) FROM task WHERE project_id = 9")
        },
        CitusCall("save new pairs") { scene in
            let task = try scene.context.add("task", ["tenant_id": 1, "id": 9, "title": "new"])
            try await task.set(forKey: "labelSet").formUnion(try await scene.objects("label"))
            try await scene.context.save()
            try await scene.expect(["3"], "SELECT count(*) FROM task_label WHERE task_id = 9")
        },
        CitusCall("save changes of one tenant") { scene in
            for (number, task) in try await scene.objects("task").enumerated() { task["title"] = .string("t\(number)") }
            try await scene.context.save()
            try await scene.expect(["6"], "SELECT count(*) FROM task WHERE title ~ '^t[0-9]'")
        },
        CitusCall("save changes of all tenants") { scene in
            for (number, task) in try await scene.objects("task", tenant: nil).enumerated() {
                task["title"] = .string("t\(number)")
            }
            try await scene.context.save()
            try await scene.expect(["18"], "SELECT count(*) FROM task WHERE title ~ '^t[0-9]'")
        },
        CitusCall("save versions of all tenants") { scene in
            for note in try await scene.objects("note", tenant: nil) { note["text"] = "new" }
            try await scene.context.save()
            try await scene.expect(["9"], "SELECT count(*) FROM note WHERE version = 2")
        },
        CitusCall("a version that has changed") { scene in
            let note = try await scene.object("note", 1)
            try await scene.admin.query("UPDATE note SET version = 5 WHERE tenant_id = 1")
            note["text"] = "new"
            await expectError(.staleObject) { try await scene.context.save() }
        },
        CitusCall("save again after a conflict") { scene in
            let note = try await scene.object("note", 1)
            try await scene.admin.query("UPDATE note SET version = 5 WHERE tenant_id = 1")
            try await scene.context.save(retry: .attempts(3)) { note["text"] = "again" }
            try await scene.expect(["6"], "SELECT version FROM note WHERE tenant_id = 1 AND id = 1")
        },
        CitusCall("save changes of a table with policies, of all tenants") { scene in
            for entry in try await scene.objects("diary", tenant: nil) { entry["text"] = "new" }
            try await scene.context.save()
            try await scene.expect(["9"], "SELECT count(*) FROM diary WHERE text = 'new'")
        },
        CitusCall("save members of sets with limits, of all tenants") { scene in
            let members = try await scene.context.fetch("member").where("id == 1 OR id == 3").all()
            for member in members.dropFirst() { member["club_id"] = nil }
            await expectError(.countOutOfRange) { try await scene.context.save() }
            for member in members where member["id"] == 3 { member["club_id"] = 2 }
            for member in members where member["id"] == 1 { member["club_id"] = nil }
            try await scene.context.save()
            try await scene.expect(["3"], "SELECT count(*) FROM member WHERE club_id IS NULL")
        },
        CitusCall("set a value") {
            try await $0.object("task", 1).setValue("new", forKey: "title")
            try await $0.expect(["new"], "SELECT title FROM task WHERE tenant_id = 1 AND id = 1")
        },
        CitusCall("set a to-one end") { scene in
            let project = try await scene.object("project", 3)
            try await scene.object("task", 1).setValue(project, forKey: "project")
            try await scene.expect(["3"], "SELECT project_id FROM task WHERE tenant_id = 1 AND id = 1")
        },
        CitusCall("set a one-to-one end from the other side") { scene in
            let page = try await scene.object("page", 1)
            try await scene.object("project", 2).setValue(page, forKey: "page")
            try await scene.expect(["2", "NULL"], "SELECT project_id FROM page WHERE tenant_id = 1 ORDER BY id")
        },
        CitusCall(reading: "update by condition") {
            try await $0.context.fetch("task").where("size > 4").update(["title": "big"]) == 6
        },
        CitusCall("update by a condition on a to-one end of one tenant") {
            let tasks = try $0.context.fetch("task").where("tenant_id == 1 AND project.name == 'project 1'")
            #expect(try await tasks.update(["title": "first"]) == 2)
        },
        CitusCall("update a limited request of one tenant") { scene in
            let tasks = try scene.context.fetch("task").where("tenant_id == 1").sorted("id").limit(2)
            #expect(try await tasks.update(["title": "first"]) == 2)
            try await scene.expect(["1", "2"], "SELECT id FROM task WHERE title = 'first' ORDER BY id")
        },
        CitusCall("update a limited request of all tenants") { scene in
            let tasks = try scene.context.fetch("task").sorted("size", ascending: false).limit(4)
            #expect(try await tasks.update(["size": Formula("size + 1")]) == 4)
            try await scene.expect(["4"], "SELECT count(*) FROM task WHERE size > 6 OR size = 6")
        },
        CitusCall(reading: "update by a condition on a to-one end of all tenants") {
            try await $0.context.fetch("task").where("project.name == 'project 1'").update(["title": "x"]) == 6
        },
        CitusCall("a unique value that is taken") { scene in
            _ = try scene.context.add("project", ["tenant_id": 1, "id": 9, "name": "project 1"])
            let error = await expectError(.constraintViolation) { try await scene.context.save() }
            #expect(error?.constraint == "project_tenant_id_name_key", "\(error.map { "\($0)" } ?? "-")")
        },
        CitusCall("a value that is missing") { scene in
            await expectError(.missingValue) { try await scene.context.create("task", ["tenant_id": 1, "id": 9]) }
        },
    ]

    /// Changes of sets.
    static let sets = [
        CitusCall("insert one member") { scene in
            try await scene.set("taskSet", of: "project").insert(try await scene.object("task", 1))
            try await scene.expect(["3"], "SELECT count(*) FROM task WHERE tenant_id = 1 AND project_id = 1")
        },
        CitusCall("form a union of members") { scene in
            try await scene.set("taskSet", of: "project").formUnion(try await scene.objects("task"))
            try await scene.expect(["6"], "SELECT count(*) FROM task WHERE tenant_id = 1 AND project_id = 1")
        },
        CitusCall("remove one member") { scene in
            try await scene.set("taskSet", of: "project").remove(try await scene.object("task", 3))
            try await scene.expect(["1"], "SELECT count(*) FROM task WHERE tenant_id = 1 AND project_id = 1")
        },
        CitusCall("subtract members") { scene in
            try await scene.set("taskSet", of: "project").subtract(try await scene.objects("task"))
            try await scene.expect(["0"], "SELECT count(*) FROM task WHERE tenant_id = 1 AND project_id = 1")
        },
        CitusCall("remove all members") { scene in
            try await scene.set("taskSet", of: "project").removeAll()
            try await scene.expect(["4"], "SELECT count(*) FROM task WHERE project_id = 1")
        },
        CitusCall("set members") { scene in
            try await scene.set("taskSet", of: "project").set(Array(try await scene.objects("task").prefix(2)))
            try await scene.expect(
                ["1", "2"], "SELECT id FROM task WHERE tenant_id = 1 AND project_id = 1 ORDER BY id")
        },
        CitusCall("a member that is gone") { scene in
            let tasks = try await scene.objects("task")
            try await scene.admin.query("DELETE FROM task_label WHERE tenant_id = 1")
            try await scene.admin.query("DELETE FROM task WHERE tenant_id = 1 AND id = 2")
            await expectError(.objectDeleted) { try await scene.set("taskSet", of: "project").formUnion(tasks) }
            try await scene.expect(["2"], "SELECT count(*) FROM task WHERE tenant_id = 1 AND project_id = 1")
        },
        CitusCall("insert one pair") { scene in
            try await scene.set("labelSet", of: "task").insert(try await scene.object("label", 2))
            try await scene.expect(["2"], "SELECT count(*) FROM task_label WHERE tenant_id = 1 AND task_id = 1")
        },
        CitusCall("insert a pair with values") { scene in
            let label = try await scene.object("label", 2)
            try await scene.set("labelSet", of: "task").insert(label, through: ["note": "x"])
            try await scene.expect(["1"], "SELECT count(*) FROM task_label WHERE note = 'x'")
        },
        CitusCall("form a union of pairs") { scene in
            try await scene.set("labelSet", of: "task").formUnion(try await scene.objects("label"))
            try await scene.expect(["3"], "SELECT count(*) FROM task_label WHERE tenant_id = 1 AND task_id = 1")
        },
        CitusCall("subtract pairs") { scene in
            try await scene.set("labelSet", of: "task").subtract(try await scene.objects("label"))
            try await scene.expect(["0"], "SELECT count(*) FROM task_label WHERE tenant_id = 1 AND task_id = 1")
        },
        CitusCall("set pairs") { scene in
            try await scene.set("labelSet", of: "task").set([try await scene.object("label", 3)])
            try await scene.expect(["3"], "SELECT label_id FROM task_label WHERE tenant_id = 1 AND task_id = 1")
        },
        CitusCall("remove all pairs") { scene in
            try await scene.set("taskSet", of: "label").removeAll()
            try await scene.expect(["12"], "SELECT count(*) FROM task_label")
        },
        CitusCall("append to ordered members") { scene in
            let step = try await scene.context.create("step", ["tenant_id": 1, "id": 9])
            try await scene.set("steps", of: "project").append(step)
            try await scene.expectSteps(["1", "2", "3", "4", "9"])
        },
        CitusCall("move an ordered member") { scene in
            try await scene.set("steps", of: "project").move(from: 0, to: 3)
            try await scene.expectSteps(["2", "3", "4", "1"])
        },
        CitusCall("insert an ordered member at a place") { scene in
            let step = try await scene.context.create("step", ["tenant_id": 1, "id": 9])
            try await scene.set("steps", of: "project").insert(step, at: 1)
            try await scene.expectSteps(["1", "9", "2", "3", "4"])
        },
        CitusCall("set ordered members") { scene in
            let steps = try await scene.objects("step")
            try await scene.set("steps", of: "project").set([steps[2], steps[0]])
            try await scene.expectSteps(["3", "1"])
        },
        CitusCall("remove an ordered member") { scene in
            _ = try await scene.set("steps", of: "project").remove(at: 1)
            try await scene.expect(["3"], "SELECT count(*) FROM step WHERE tenant_id = 1 AND project_id = 1")
        },
    ]
}
