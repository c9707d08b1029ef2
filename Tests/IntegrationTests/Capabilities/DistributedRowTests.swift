import Kindred
import KindredLive
import KindredTesting
import Testing

/// Has an ordinary server say what Citus says of tables: that it distributes them by tenant.
func distributeByTenant(_ tables: [String]) async throws {
    let rows = tables.map { "('\($0)', 'h', '?tenant_id')" }.joined(separator: ", ")
    try await withClient { admin in
        try await admin.runScript(
            """
            SET allow_system_table_mods = on;
            CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
            CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text LANGUAGE sql
                AS 'SELECT substr($2, 2)';
            INSERT INTO pg_dist_partition VALUES \(rows);
            """)
    }
}

/// Calls about rows of several tenants where Citus distributes them: one statement locks rows of one tenant.
///
/// `CitusTests` makes the calls on a real one.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE project (tenant_id integer, id integer, PRIMARY KEY (tenant_id, id));
            CREATE TABLE task (tenant_id integer, id integer, project_id integer, PRIMARY KEY (tenant_id, id),
                CONSTRAINT task_project FOREIGN KEY (tenant_id, project_id) REFERENCES project);
            COMMENT ON CONSTRAINT task_project ON task IS '@kindred {"deleteRule": "cascade"}';
            INSERT INTO project SELECT t, i FROM generate_series(1, 3) AS t, generate_series(1, 2) AS i;
            INSERT INTO task SELECT t, i, 1 + i % 2 FROM generate_series(1, 3) AS t, generate_series(1, 4) AS i;
            """)))
struct DistributedRowTests {
    private static let tables = ["project", "task"]

    /// Expects so many statements that lock, each of one tenant, and so many others.
    private func expect(
        locking count: Int, others: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async throws {
        let (_, recorder) = try await recordingStatements(body)
        let locking = recorder.statements.filter { $0.contains(" FOR ") }
        #expect(locking.count == count, "\(recorder.statements)", sourceLocation: sourceLocation)
        let isOfOneTenant = locking.allSatisfy { $0.contains(#""tenant_id" = $"#) }
        #expect(isOfOneTenant, "\(locking)", sourceLocation: sourceLocation)
        #expect(recorder.statements.count - count == others, "\(recorder.statements)", sourceLocation: sourceLocation)
    }

    @Test func changesOfDistributedTablesAreNotFollowed() async throws {
        try await distributeByTenant(Self.tables)
        try await withClient { try await $0.runScript("CREATE TABLE place (id integer PRIMARY KEY)") }
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            await expectError(.unsupported) { try await database.tracking.enable("place", "task") }
            #expect(try await database.tracking.status()?.tables.isEmpty == true)
            await expectError(.unsupported) { _ = try await context.fetch("task").live() }
            await expectError(.unsupported) { _ = try await context.fetch("project").prefetch("taskSet").live() }
            await expectError(.unsupported) { _ = try await context.changes(of: "task") }
            let following = database.makeContext(tracking: .automatic)
            await expectError(.unsupported) { _ = try await following.fetch("task").all() }
            // A local table is followed.
            try await database.tracking.enable("place")
            var updates = try await context.fetch("place").live().makeAsyncIterator()
            _ = try await updates.next()
            try await other.query("INSERT INTO place VALUES (1)")
            #expect(try await updates.next()?.insertions == [0])
        }
    }

    @Test func requestsLockTenantByTenant() async throws {
        try await distributeByTenant(Self.tables)
        try await withDatabase { _, context, other in
            try await context.transaction { () async throws in
                // The keys, a lock for each tenant, and the rows.
                try await expect(locking: 3, others: 2) {
                    let tasks = try context.fetch("task").where("id > 2").sorted("id").sorted("tenant_id")
                    let locked = try await tasks.lock().all()
                    #expect(locked.map { $0["id"] } == [3, 3, 3, 4, 4, 4])
                }
                // Of one tenant, as elsewhere.
                try await expect(locking: 1, others: 0) {
                    let locked = try await context.fetch("project").where("tenant_id = 1").limit(1).lock().all()
                    #expect(locked.count == 1)
                }
                await #expect(throws: PostgresError.self) {
                    try await other.query("SELECT FROM task WHERE tenant_id = 3 AND id = 4 FOR UPDATE NOWAIT")
                }
            }
            // A row that changes before its lock is checked again, as one statement would.
            let tasks = try context.fetch("task").where("id > 2").lock(.forUpdate, .skipLocked)
            try await other.withTransaction { _ in
                try await other.query("SELECT FROM task WHERE tenant_id = 2 AND id = 4 FOR UPDATE")
                try await context.transaction { () async throws in
                    let locked = try await tasks.all()
                    #expect(locked.count == 5)
                }
            }
        }
    }

    @Test func writesByConditionAreSplitWhereTheySelectFirst() async throws {
        try await distributeByTenant(Self.tables)
        try await withDatabase { _, context, other in
            try await expect(locking: 3, others: 2) {
                let tasks = try context.fetch("task").sorted("id").sorted("tenant_id").limit(4)
                let count = try await tasks.update(["project_id": nil])
                #expect(count == 4)
            }
            #expect(try await other.values("SELECT id FROM task WHERE project_id IS NULL ORDER BY id") == [1, 1, 1, 2])
            // Without a limit it is one statement for all tenants.
            try await expect(locking: 0, others: 1) { try await context.fetch("task").where("id = 1").delete() }
            try await expect(locking: 2, others: 2) {
                let count = try await context.fetch("task").sorted("tenant_id").sorted("id").limit(4).delete()
                #expect(count == 4)
            }
            #expect(try await other.value("SELECT count(*) FROM task") == 5)
        }
    }

    @Test func deletionsWithRulesTakeOneTenantAfterTheOther() async throws {
        try await distributeByTenant(Self.tables)
        try await withDatabase { _, context, other in
            let projects = try await context.fetch("project").where("id = 1").all()
            // For each of the three tenants: the projects' lock, their tasks' and the deletion of both.
            try await expect(locking: 6, others: 3) { try await context.delete(projects) }
            #expect(try await other.value("SELECT count(*) FROM task") == 6)
            let tasks = try await context.fetch("task").all()
            try await expect(locking: 3, others: 0) { try await context.delete(tasks) }
            #expect(try await other.value("SELECT count(*) FROM task") == 0)
        }
    }

    @Test func oneThatIsGoneKeepsTheOthers() async throws {
        try await distributeByTenant(Self.tables)
        try await withDatabase { _, context, other in
            let tasks = try await context.fetch("task").all()
            try await other.query("DELETE FROM task WHERE tenant_id = 3 AND id = 4")
            await expectError(.objectDeleted) { try await context.delete(tasks) }
            #expect(try await other.value("SELECT count(*) FROM task") == 11)
        }
    }

    /// The workers get what SET LOCAL says between BEGIN and COMMIT.
    @Test func settingsAreMadeBySetLocal() async throws {
        try await distributeByTenant(Self.tables)
        try await withDatabase { database, context, _ in
            let own = try database.makeContext(settings: ["app.organization": #"it's \ $$"#])
            let (rows, recorder) = try await recordingStatements {
                try await own.query(
                    """
                    SELECT current_setting('app.organization'), current_setting('citus.propagate_set_commands'),
                        current_setting('kindred.settings')
                    """)
            }
            let values = try rows.first.map { row in try (0..<3).map { try row[$0] } }
            #expect(values == [#"it's \ $$"#, "local", "app.organization"] && recorder.all.count == 1)
            let after = try await context.query("SELECT current_setting('app.organization', true)").first?[0]
            #expect(after == nil || after == "")
            try await own.transaction { () async throws in
                await fail(own) { _ = try? await own.query("SELECT 1 / 0") }
                let value = try await own.query("SELECT current_setting('app.organization')").first?[0]
                #expect(value == #"it's \ $$"#)
            }
        }
    }
}
