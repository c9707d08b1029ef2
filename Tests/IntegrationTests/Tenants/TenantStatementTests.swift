import Kindred
import KindredTesting
import Testing

/// A tenant costs no statement: calls send as many as in a context without one.
@Suite struct TenantStatementTests {
    private typealias Values = [String: (any PropertyValue)?]
    /// A call of a context, with the values that a new row needs besides its own.
    private typealias Call = @Sendable (_ context: DatabaseContext, _ tenant: Values) async throws -> Void

    /// Rows of one tenant, so that contexts with a tenant and without one find the same.
    private static let rows = """
        TRUNCATE project, task, label, task_label, note;
        INSERT INTO project VALUES (10, 1, 'garden', 'AT');
        INSERT INTO task VALUES (11, 1, 10, 'dig', 1), (12, 1, 10, 'sow', 1), (13, 1, 10, 'reap', 1);
        INSERT INTO label VALUES (15, 1, 'urgent'), (16, 1, 'late');
        INSERT INTO task_label VALUES (11, 15, 1);
        INSERT INTO note VALUES (1, 1, 10, 'gate');
        """

    private static let reading: [(String, Call)] = [
        ("fetch", { context, _ in _ = try await context.fetch("task").where("size > 0").sorted("id").all() }),
        ("prefetch", { context, _ in _ = try await context.fetch("task").prefetch("project", "labelSet").all() }),
        (
            "find",
            { context, _ in
                _ = try await (context.find("task", 11), context.find("task", [12, 13]), context.find("note", 1, 1))
                _ = try await context.get(uri: "kindred:/public/project?id=10")
            }
        ),
        (
            "totals",
            { context, _ in
                let tasks = try context.fetch("task")
                _ = try await (tasks.count(), tasks.exists(), tasks.sum("size"))
                _ = try await tasks.group(by: "project.name", aggregates: .count).all()
                _ = try await tasks.sorted("id").page(size: 2, withTotal: true)
            }
        ),
        (
            "views",
            { context, _ in _ = try await context.fetch("project").views("*", "taskSet.*", "taskSet.labelSet.*") }
        ),
        (
            "relationships",
            { context, _ in
                let task = try await context.get("task", 11)
                _ = try await task.object(forKey: "project")
                _ = try await task.set(forKey: "labelSet").count
                _ = try await task.set(forKey: "labelSet").objects
            }
        ),
    ]

    private static let writing: [(String, Call)] = [
        (
            "sets",
            { context, _ in
                let task = try await context.get("task", 11)
                let label = try await context.get("label", 16)
                let labels = try await task.set(forKey: "labelSet")
                try await labels.insert(label)
                try await labels.set([label])
                try await labels.remove(label)
                let tasks = try await context.get("project", 10).set(forKey: "taskSet")
                try await tasks.remove(task)
                try await tasks.formUnion([task])
            }
        ),
        (
            "conditions",
            { context, _ in
                _ = try await context.fetch("task").where("id == 11").update(["size": 2])
                _ = try await context.fetch("task").where("id == 13").delete()
            }
        ),
        (
            "upserts",
            { context, tenant in
                func values(_ id: Int) -> Values { tenant.merging(["id": id, "name": "name"]) { $1 } }
                try await context.upsert("label", values(15), on: "id")
                try await context.create("label", values(15), unlessExists: "id")
                try await context.create("label", values(81), unlessExists: "id")
            }
        ),
        (
            "saves",
            { context, tenant in
                let project = try await context.get("project", 10)
                func values(_ own: Values) -> Values { tenant.merging(own) { $1 } }
                let task = try context.add("task", values(["id": 82, "title": "prune", "project": project]))
                try await task.set(forKey: "labelSet").insert(try await context.get("label", 15))
                try context.add("note", values(["number": 83, "text": "saw", "project": project]))
                try await context.get("task", 12).setValue("sown", forKey: "title")
                try await context.save()
                try await context.delete(task)
            }
        ),
    ]

    @Test(.database(.sql(tenantSchema))) func aTenantCostsNoStatement() async throws {
        try await withDatabase { database, _, other in
            // A context without a tenant cannot give the column of a pair a value by itself.
            try await other.query("ALTER TABLE task_label ALTER tenant_id SET DEFAULT 1")
            try await database.refreshSchema()
            for (name, call) in Self.reading + Self.writing {
                var sent: [[String]] = []
                for tenant in [Int?.none, 1] {
                    try await other.runScript(Self.rows)
                    let context = try tenant.map { try database.context(ofTenant: $0) } ?? database.makeContext()
                    let (_, recorder) = try await recordingStatements {
                        try await call(context, tenant == nil ? ["tenant_id": 1] : [:])
                    }
                    sent.append(recorder.statements)
                }
                // The key of a pair lacks the tenant's column: that no row of another tenant is in the way is checked, in the same
                // round trip, where the insertion cannot check itself.
                let checks = name == "sets" || name == "saves" ? 1 : 0
                #expect(sent[0].count + checks == sent[1].count && !sent[0].isEmpty, "\(name): \(sent)")
            }
        }
    }

    @Test(.database(.sql(tenantSchema))) func withoutATenantNoTextNamesIt() async throws {
        try await withDatabase { database, _, _ in
            _ = try await database.context(ofTenant: 1).fetch("task").all()
            let (_, recorder) = try await recordingStatements {
                _ = try await database.makeContext().fetch("task").prefetch("labelSet", "project").all()
            }
            #expect(recorder.statements.count == 3)
            #expect(recorder.statements.allSatisfy { !$0.contains("kindred.tenant") })
        }
    }
}
