import Kindred
import Testing

extension CitusCall {
    /// A value that has to be put between quotes.
    private static let value = #"it's \ $$ one"#

    private static func expectSeen(_ context: DatabaseContext) async throws {
        let seen = try await seen(context)
        #expect(seen == [.string(value)])
    }

    /// The settings that the workers see.
    private static func seen(_ context: DatabaseContext) async throws -> [PostgresValue?] {
        let rows = try await context.query(
            """
            SELECT DISTINCT coalesce(current_setting('app.organization', true), 'none') || left(title, 0) FROM task \
            WHERE tenant_id < 3
            """)
        return try rows.map { try $0[0] }
    }

    /// Contexts with settings, whose values the workers need.
    static let settings = [
        CitusCall("settings of a single statement") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value, "app.other": 1])
            let (values, recorder) = try await recordingStatements { try await seen(context) }
            #expect(values == [.string(value)] && recorder.all.count == 1)
            // They end with it.
            let after = try await seen(scene.context)
            #expect(after == ["none"] || after == [""])
        },
        CitusCall("settings of a statement that fails") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value])
            await #expect(throws: PostgresError.self) { try await context.query("SELECT 1 / (size - 1) FROM task") }
            try await expectSeen(context)
        },
        CitusCall("settings of a transaction") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value])
            try await context.transaction { () async throws in
                try await expectSeen(context)
                await fail(context) { try await expectSeen(context) }
                try await expectSeen(context)
            }
        },
        CitusCall("settings that a savepoint makes first") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value])
            try await context.transaction { () async throws in
                await fail(context) { try await expectSeen(context) }
                try await expectSeen(context)
            }
        },
        CitusCall("settings of a stream") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value])
            var count = 0
            for try await _ in try context.fetch("task").stream() { count += 1 }
            #expect(count == 18)
        },
        CitusCall("settings of writes") { scene in
            let context = try scene.database.makeContext(settings: ["app.organization": value])
            try await context.create("label", ["tenant_id": 1, "id": 9, "name": "new"])
            for task in try await context.fetch("task").all() { task["title"] = "new" }
            try await context.save()
            try await scene.expect(["18"], "SELECT count(*) FROM task WHERE title = 'new'")
        },
        CitusCall("settings that are not passed on") { scene in
            for name in ["max_stack_depth", "temp_tablespaces", "citus.propagate_set_commands"] {
                let error = #expect(throws: PostgresError.self) {
                    _ = try scene.database.makeContext(settings: [name: "x"])
                }
                #expect(error?.code == .settingsRefused && error?.message.contains("ALTER ROLE") == true)
            }
        },
        CitusCall("policies on the workers read the settings of a role") { scene in
            try await scene.admin.query(
                """
                DO $$ BEGIN
                    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'kindred_reader') THEN
                        CREATE ROLE kindred_reader LOGIN;
                    END IF;
                END $$
                """)
            try await scene.admin.query("GRANT ALL ON diary TO kindred_reader")
            let context = try scene.database.makeContext(settings: ["app.organization": 2], role: "kindred_reader")
            #expect(try await context.fetch("diary").all().map { $0["tenant_id"] } == [2, 2, 2])
            try await context.transaction { () async throws in
                let count = try await context.fetch("diary").count()
                #expect(count == 3)
            }
            for entry in try await context.fetch("diary").all() { entry["text"] = "new" }
            try await context.save()
            try await context.delete(try await context.fetch("diary").where("id < 3").all())
            try await scene.expect(["new"], "SELECT text FROM diary WHERE tenant_id = 2")
            try await scene.expect(["7"], "SELECT count(*) FROM diary")
        },
        CitusCall("the tenant of a context") { scene in
            let context = try scene.database.context(ofTenant: 2)
            #expect(try await context.fetch("task").count() == 6)
            let project = try await context.fetch("project").where("id == 1").one()
            try await project.set(forKey: "taskSet").removeAll()
            try await context.transaction { () async throws in
                let first = try context.fetch("task").sorted("id").limit(1).lock(.forUpdate, .skipLocked)
                let locked = try await first.all()
                #expect(locked.count == 1)
            }
            #expect(try await context.fetch("task").where("project == NULL").delete() == 2)
            #expect(try await context.fetch("task").sorted("id").limit(1).delete() == 1)
            try await scene.expect(["15"], "SELECT count(*) FROM task")
        },
    ]
}
