import Kindred
import KindredLive
import KindredTesting
import Testing

/// Live requests of contexts of tenants that share tables: no policy, but a condition in each statement keeps them apart.
@Suite(.timeLimit(.minutes(10))) struct TenantLiveRequestTests {
    /// Every text begins with the tenant of its row: `<2>`.
    private static let schema = """
        CREATE TABLE project (id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL);
        CREATE TABLE task (
            id bigint PRIMARY KEY, tenant_id integer NOT NULL, project_id bigint REFERENCES project, title text NOT NULL,
            size integer NOT NULL DEFAULT 1);
        CREATE TABLE label (id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL, kind text NOT NULL);
        CREATE TABLE task_label (
            task_id bigint REFERENCES task ON DELETE CASCADE, label_id bigint REFERENCES label, tenant_id integer NOT NULL,
            PRIMARY KEY (task_id, label_id));
        INSERT INTO project SELECT i, i % 2 + 1, format('<%s> p%s', i % 2 + 1, i) FROM generate_series(1, 4) AS i;
        INSERT INTO task SELECT i, i % 2 + 1, 1 + (i + 1) % 4, format('<%s> t%s', i % 2 + 1, i), i % 5 FROM generate_series(1, 10) AS i;
        INSERT INTO label SELECT i, i % 2 + 1, format('<%s> l%s', i % 2 + 1, i), 'urgent' FROM generate_series(1, 4) AS i;
        INSERT INTO task_label SELECT i, 1 + (i + 1) % 4, i % 2 + 1 FROM generate_series(1, 10) AS i;
        -- References to rows of others, which no foreign key forbids.
        UPDATE task SET project_id = 1 + i % 4 FROM generate_series(7, 10) AS i WHERE id = i;
        INSERT INTO task_label SELECT i, 1 + i % 4, i % 2 + 1 FROM generate_series(7, 10) AS i;
        """

    @Test(.database(.sql(tenantSchema))) func aRowThatIsHandedOverLeavesOneListAndJoinsTheOther() async throws {
        try await withLive("project", "task", "label", "task_label") { _, _, other in
            let database = try await Database.connect(other.configuration, requiredSettings: ["app.tenant_id"])
            func live(_ tenant: Int, _ format: String?) async throws -> LiveRequest<DatabaseObject>.AsyncIterator {
                let tasks = try database.context(ofTenant: tenant).fetch("task").sorted("id")
                return try await (format.map { try tasks.where($0) } ?? tasks).live().makeAsyncIterator()
            }
            // By the columns that are shown, by a value of the row, and by a condition that only the server decides.
            for format in [nil, "title == \"sow\"", "title LIKE \"s?w\""] {
                var (first, second) = (try await live(1, format), try await live(2, format))
                #expect(try await first.update().integers().contains(12))
                #expect(try await !second.update().integers().contains(12))
                try await other.query("UPDATE task SET tenant_id = 2 WHERE id = 12")
                let (left, joined) = (try await first.update(), try await second.update())
                #expect(left.removedIDs.count == 1 && !left.integers().contains(12))
                #expect(joined.integers().contains(12) && joined.removals.isEmpty)
                expectOwnRows(left.objects, left.objects.count)
                try await other.query("UPDATE task SET tenant_id = 1 WHERE id = 12")
                #expect(try await first.update().integers().contains(12))
                #expect(try await !second.update().integers().contains(12))
            }
            await database.close()
        }
    }

    @Test(.database(.sql(tenantSchema))) func objectsAndSetsAreObserved() async throws {
        try await withLive("project", "task", "label", "task_label") { database, _, other in
            let context = try database.context(ofTenant: 1)
            let task = try await context.get("task", 11)
            var one = try await context.live(task, prefetch: "labelSet").makeAsyncIterator()
            var set = try await context.get("project", 10).set(forKey: "taskSet").sorted("id").live()
                .makeAsyncIterator()
            #expect(try await one.update().objects.first?.membersInMemory("labelSet") == [15])
            #expect(try await set.update().integers() == [11, 12, 13])
            // A pair of the other tenant, and a task of it in the project.
            try await other.query("INSERT INTO task_label VALUES (11, 25, 2)")
            try await other.query("INSERT INTO task VALUES (24, 2, 10, 'secret', 1)")
            try await other.query("INSERT INTO task_label VALUES (11, 16, 1)")
            try await other.query("INSERT INTO task VALUES (15, 1, 10, 'rake', 1)")
            #expect(try await one.update().objects.first?.membersInMemory("labelSet") == [15, 16])
            #expect(try await set.update().integers() == [11, 12, 13, 15])
            try await other.query("UPDATE task SET tenant_id = 2 WHERE id = 11")
            #expect(try await one.update().objects.isEmpty)
            #expect(try await set.update().integers() == [12, 13, 15])
        }
    }

    /// Random writes of two tenants and of other clients, which hand rows over: no update shows a row of another
    /// tenant, and the last updates agree with plain SQL.
    @Test(.database(.sql(schema)), arguments: 1...2) func noUpdateShowsARowOfAnother(_ seed: Int) async throws {
        try await withLive("project", "task", "label", "task_label") { database, _, other in
            var watches: [Task<TenantWatch, any Error>] = []
            for tenant in 1...2 {
                for question in Self.questions {
                    let live = try await question.request(database.context(ofTenant: tenant)).live()
                    watches.append(live.watch(by: tenant, question.text))
                }
            }
            var writer = RandomWriter(
                client: other, random: RepeatedRandom(seed), expected: ["23", "40"], statement: TenantsWrites.statement)
            for round in 0..<6 {
                let before = writer
                async let written = before.running(20)
                for tenant in 1...2 { await Self.write(in: try database.context(ofTenant: tenant), &writer.random) }
                writer.random = try await written.random
                try await database.tracking.catchUp()
                for tenant in 1...2 {
                    for question in Self.questions {
                        let shown = try await question.shown(in: database.context(ofTenant: tenant))
                        let expected = try await other.values(question.sql(tenant))
                        #expect(shown == expected, "seed \(seed), round \(round): tenant \(tenant), \(question.name)")
                    }
                }
            }
            for watch in watches {
                watch.cancel()
                let shown = try await watch.value
                #expect(shown.updates > 0 && shown.foreign == [])
            }
        }
    }

    /// Writes of a tenant's own, by keys that may belong to the other tenant's rows.
    private static func write(in context: DatabaseContext, _ random: inout RepeatedRandom) async {
        for _ in 0..<6 {
            let (key, size, call) = (Int(random.key(16)), Int(random.below(6)), random.below(3))
            do {
                let tenant = try await context.query("SELECT current_setting('app.tenant_id')").first?[0]
                let title = "<\(tenant?.description ?? "")> own"
                switch call {
                case 0: _ = try await context.fetch("task").where("id <= %@", key).update(["size": size])
                case 1: _ = try await context.fetch("task").where("id == %@", key).delete()
                default:
                    try await context.upsert(
                        "task", ["id": key, "title": title, "size": size], on: "id")
                }
            } catch let error as any CategorizedError {
                // The key is that of a row of the other tenant.
                #expect(error.category != .failure, "\(error)")
                context.rollback()
            } catch {
                Issue.record(error)
            }
        }
    }

    private static let questions: [LiveQuestion] = [
        LiveQuestion(
            name: "all", request: { try $0.fetch("task").sorted("id") }, text: { $0.shown("title") },
            sql: { "SELECT title FROM task WHERE tenant_id = \($0) ORDER BY id" }),
        LiveQuestion(
            name: "by a comparison", request: { try $0.fetch("task").where("size < %@", 4).sorted("size") },
            text: { $0.shown("title") },
            sql: { "SELECT title FROM task WHERE tenant_id = \($0) AND size < 4 ORDER BY size, id" }),
        LiveQuestion(
            name: "by a value", request: { try $0.fetch("task").where("size == %@", 3).sorted("id") },
            text: { $0.shown("title") },
            sql: { "SELECT title FROM task WHERE tenant_id = \($0) AND size = 3 ORDER BY id" }),
        LiveQuestion(
            name: "by members",
            request: { try $0.fetch("task").where("ANY labelSet.kind == %@", "urgent").sorted("id") },
            text: { $0.shown("title") },
            sql: { tenant in
                """
                SELECT title FROM task AS t WHERE tenant_id = \(tenant) AND EXISTS (
                    SELECT FROM task_label AS p JOIN label AS l ON l.id = p.label_id AND l.tenant_id = \(tenant)
                    WHERE p.task_id = t.id AND p.tenant_id = \(tenant) AND l.kind = 'urgent')
                ORDER BY id
                """
            }),
        LiveQuestion(
            name: "with members", request: { try $0.fetch("project").sorted("id").prefetch("taskSet") },
            text: { try await "\($0.shown("name")): \($0.members("taskSet", "title"))" },
            sql: { tenant in
                """
                SELECT name || ': ' || coalesce((
                    SELECT string_agg(title, ',' ORDER BY t.id) FROM task AS t
                    WHERE t.project_id = p.id AND t.tenant_id = \(tenant)), '')
                FROM project AS p WHERE tenant_id = \(tenant) ORDER BY id
                """
            }),
        LiveQuestion(
            name: "with paired members",
            request: { try $0.fetch("task").sorted("id").prefetch("labelSet").limit(5) },
            text: { try await "\($0.shown("title")): \($0.members("labelSet", "name"))" },
            sql: { tenant in
                """
                SELECT title || ': ' || coalesce((
                    SELECT string_agg(l.name, ',' ORDER BY l.id) FROM task_label AS p
                    JOIN label AS l ON l.id = p.label_id AND l.tenant_id = \(tenant)
                    WHERE p.task_id = t.id AND p.tenant_id = \(tenant)), '')
                FROM task AS t WHERE tenant_id = \(tenant) ORDER BY id LIMIT 5
                """
            }),
        LiveQuestion(
            name: "with its end", request: { try $0.fetch("task").sorted("id").prefetch("project") },
            text: { try await "\($0.shown("title")): \($0.end("project", "name"))" },
            sql: { tenant in
                """
                SELECT title || ': ' || coalesce((
                    SELECT p.name FROM project AS p WHERE p.id = t.project_id AND p.tenant_id = \(tenant)), '')
                FROM task AS t WHERE tenant_id = \(tenant) ORDER BY id
                """
            }),
    ]
}

/// The writes of the other connection, which belongs to no tenant.
private enum TenantsWrites {
    @Sendable static func statement(_ random: inout RepeatedRandom) -> SQL {
        let (task, tenant, size) = (random.key(16), random.key(2), random.below(6))
        let (project, label) = (random.key(4), random.key(4))
        let text = "<\(tenant)> \(random.below(1_000))"
        switch random.below(13) {
        case 0, 1: return "UPDATE task SET title = \(text) WHERE id = \(task) AND tenant_id = \(tenant)"
        case 2, 3: return "UPDATE task SET tenant_id = \(tenant), title = \(text) WHERE id = \(task)"
        case 4: return "UPDATE task SET project_id = \(project) WHERE id = \(task)"
        case 5: return "DELETE FROM task WHERE id = \(task)"
        case 6, 7:
            return """
                INSERT INTO task VALUES (\(task), \(tenant), \(project), \(text), \(size)) ON CONFLICT (id)
                DO UPDATE SET size = \(size)
                """
        case 8: return "UPDATE task SET size = \(size) WHERE tenant_id = \(tenant)"
        case 9: return "INSERT INTO task_label VALUES (\(task), \(label), \(tenant)) ON CONFLICT DO NOTHING"
        case 10: return "UPDATE task_label SET tenant_id = \(tenant) WHERE task_id = \(task)"
        case 11: return "UPDATE label SET tenant_id = \(tenant), name = \(text) WHERE id = \(label)"
        default: return "UPDATE project SET tenant_id = \(tenant), name = \(text) WHERE id = \(project)"
        }
    }
}
