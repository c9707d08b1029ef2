import Kindred
import Testing

extension CitusCall {
    /// Deletions with their rules, marks and plans.
    static let deletions = [
        CitusCall("delete one object without others") { scene in
            try await scene.context.delete(try await scene.object("note", 1))
            try await scene.expect(["8"], "SELECT count(*) FROM note")
        },
        CitusCall("delete several objects") { scene in
            try await scene.context.delete(try await scene.objects("note"))
            try await scene.expect(["6"], "SELECT count(*) FROM note")
        },
        CitusCall("delete objects of all tenants") { scene in
            try await scene.context.delete(try await scene.objects("note", tenant: nil))
            try await scene.expect(["0"], "SELECT count(*) FROM note")
        },
        CitusCall("delete an object with members") { scene in
            try await scene.context.delete(try await scene.object("project", 1))
            try await scene.expect(["2"], "SELECT count(*) FROM task WHERE project_id IS NULL")
        },
        CitusCall("delete objects with members, of all tenants") { scene in
            try await scene.context.delete(try await scene.context.fetch("project").where("id == 1").all())
            try await scene.expect(["6"], "SELECT count(*) FROM task WHERE project_id IS NULL")
        },
        CitusCall("delete an object with pairs") { scene in
            try await scene.context.delete(try await scene.object("label", 1))
            try await scene.expect(["12"], "SELECT count(*) FROM task_label")
        },
        CitusCall("delete objects with pairs, of all tenants") { scene in
            try await scene.context.delete(try await scene.context.fetch("task").where("id < 3").all())
            try await scene.expect(["12"], "SELECT count(*) FROM task")
            try await scene.expect(["12"], "SELECT count(*) FROM task_label")
        },
        CitusCall(reading: "delete by condition") {
            try await $0.context.fetch("note").where("id == 1").delete() == 3
        },
        CitusCall("delete by condition with rules, of one tenant") { scene in
            #expect(try await scene.context.fetch("task").where("tenant_id == 1 AND size > 4").delete() == 2)
            try await scene.expect(["16"], "SELECT count(*) FROM task_label")
        },
        CitusCall("delete by condition with rules, of all tenants") { scene in
            #expect(try await scene.context.fetch("task").where("size > 4").delete() == 6)
            try await scene.expect(["12"], "SELECT count(*) FROM task_label")
        },
        CitusCall("delete a limited request with rules, of all tenants") { scene in
            #expect(try await scene.context.fetch("task").sorted("tenant_id").sorted("id").limit(8).delete() == 8)
            try await scene.expect(["10"], "SELECT count(*) FROM task")
        },
        CitusCall(reading: "delete a limited request without rules") {
            try await $0.context.fetch("note").sorted("tenant_id").sorted("id").limit(4).delete() == 4
        },
        CitusCall("delete a limited request of one tenant") { scene in
            let notes = try scene.context.fetch("note").where("tenant_id == 1").sorted("id").limit(2)
            #expect(try await notes.delete() == 2)
            try await scene.expect(["3"], "SELECT id FROM note WHERE tenant_id = 1")
        },
        CitusCall("deletion plan") { scene in
            let plan = try await scene.context.deletionPlan(for: try await scene.object("project", 1))
            #expect(!plan.isDenied && plan.items.count > 1)
        },
        CitusCall("staged deletions") { scene in
            for task in try await scene.objects("task", tenant: nil) where task["id"] == 1 {
                try scene.context.stageDeletion(of: task)
            }
            try await scene.context.save()
            try await scene.expect(["15"], "SELECT count(*) FROM task")
        },
        CitusCall("mark as deleted, with members") { scene in
            try await scene.context.delete(try await scene.object("document", 1))
            try await scene.expect(["2"], "SELECT count(*) FROM section WHERE deleted_at IS NOT NULL")
        },
        CitusCall("mark as deleted, of all tenants") { scene in
            try await scene.context.delete(try await scene.objects("document", tenant: nil))
            try await scene.expect(["18"], "SELECT count(*) FROM section WHERE deleted_at IS NOT NULL")
        },
        CitusCall("mark by condition") { scene in
            #expect(try await scene.context.fetch("document").where("id == 1").delete() == 3)
            try await scene.expect(["6"], "SELECT count(*) FROM section WHERE deleted_at IS NOT NULL")
        },
        CitusCall("restore, with members") { scene in
            let documents = try await scene.objects("document", tenant: nil)
            try await scene.context.delete(documents)
            try await scene.context.restore(documents)
            try await scene.expect(["0"], "SELECT count(*) FROM section WHERE deleted_at IS NOT NULL")
        },
        CitusCall("delete a reference row that is used") { scene in
            let country = try await scene.context.fetch("country").where("code == 'CH'").one()
            try await scene.context.delete(country)
            try await scene.expect(["1"], "SELECT count(*) FROM country")
        },
    ]

    /// Transactions, locks and contexts.
    static let transactions = [
        CitusCall("transaction") { scene in
            try await scene.context.transaction { () async throws in
                try await scene.object("task", 1).setValue("one", forKey: "title")
                try await scene.object("task", 1, tenant: 2).setValue("two", forKey: "title")
            }
            try await scene.expect(["one", "two", "task 1"], "SELECT title FROM task WHERE id = 1 ORDER BY tenant_id")
        },
        CitusCall("transaction that fails") { scene in
            await fail(scene.context) { try await scene.object("task", 1).setValue("one", forKey: "title") }
            try await scene.expect(["task 1"], "SELECT title FROM task WHERE tenant_id = 1 AND id = 1")
        },
        CitusCall("nested transaction") { scene in
            try await scene.context.transaction { () async throws in
                await fail(scene.context) { try await scene.object("task", 1).setValue("one", forKey: "title") }
                try await scene.object("task", 2).setValue("two", forKey: "title")
            }
            try await scene.expect(
                ["task 1", "two"], "SELECT title FROM task WHERE tenant_id = 1 AND id < 3 ORDER BY id")
        },
        CitusCall("lock an object") { scene in
            try await scene.context.transaction { () async throws in try await scene.object("task", 1).lock() }
        },
        CitusCall("lock a request of one tenant") { scene in
            try await scene.context.transaction { () async throws in
                #expect(try await scene.context.fetch("task").where("tenant_id == 1").lock().all().count == 6)
            }
        },
        CitusCall("lock a request of all tenants") { scene in
            try await scene.context.transaction { () async throws in
                let request = try scene.context.fetch("task").where("size > 2").sorted("tenant_id").sorted("id")
                let tasks = try await request.lock().all()
                #expect(tasks.count == 12)
                await #expect(throws: PostgresError.self) {
                    try await scene.admin.query("SELECT 1 FROM task WHERE tenant_id = 2 AND id = 3 FOR UPDATE NOWAIT")
                }
            }
        },
        CitusCall("lock a stream of all tenants") { scene in
            try await scene.context.transaction { () async throws in
                var count = 0
                for try await _ in try scene.context.fetch("task").where("size > 2").lock().stream() { count += 1 }
                #expect(count == 12)
            }
        },
        CitusCall("lock a page of all tenants is refused") { scene in
            try await scene.context.transaction { () async throws in
                await fail(scene.context) {
                    let error = await #expect(throws: PostgresError.self) {
                        _ = try await scene.context.fetch("task").lock().page(size: 5)
                    }
                    #expect(error?.server?.hint?.contains("equality filter") == true)
                }
            }
        },
        CitusCall("a statement trigger, as tracking needs it, is refused") { scene in
            let error = await #expect(throws: PostgresError.self) {
                try await scene.admin.query(
                    """
                    CREATE TRIGGER changed AFTER INSERT ON task REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
                        EXECUTE FUNCTION suppress_redundant_updates_trigger()
                    """)
            }
            #expect(error?.server?.message == "triggers are not supported on distributed tables")
        },
        CitusCall("COPY") { scene in
            let (pieces, end) = AsyncStream.makeStream(of: [UInt8].self)
            end.yield(Array("1\t90\tx\n2\t90\ty\n".utf8))
            end.finish()
            let copied = try await scene.admin.copyIn("COPY label FROM STDIN", from: pieces)
            #expect(copied == 2)
        },
        CitusCall("lock rows of a reference table") { scene in
            try await scene.context.transaction { () async throws in
                #expect(try await scene.context.fetch("country").lock().all().count == 2)
            }
        },
        CitusCall(reading: "locked objects of one tenant") {
            try await $0.context.lockedObjects(among: try await $0.objects("task")).isEmpty
        },
        CitusCall("locked objects of all tenants") { scene in
            let tasks = try await scene.objects("task", tenant: nil)
            try await scene.admin.withTransaction { _ in
                try await scene.admin.query("SELECT 1 FROM task WHERE tenant_id = 2 AND id = 3 FOR UPDATE")
                let locked = try await scene.context.lockedObjects(among: tasks)
                #expect(locked.map { $0["tenant_id"] } == [2])
            }
        },
    ]
}
