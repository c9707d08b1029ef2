import Kindred
import KindredLive
import KindredTesting
import Testing

/// Contexts of tenants that share tables follow the changes of their own rows alone.
@Suite(.database(.sql(tenantSchema)), .timeLimit(.minutes(10))) struct ColumnTenantTrackingTests {
    private func context(
        _ tenant: Int, of database: Database, settings: [String: any PostgresEncodable] = [:], role: String? = nil
    ) throws -> DatabaseContext {
        try database.makeContext(
            tenant: ["tenant_id": tenant], setting: "app.tenant_id", settings: settings, role: role,
            tracking: .automatic)
    }

    @Test func contextsFollowTheRowsOfTheirTenant() async throws {
        try await withLive("project", "task", "label", "task_label") { database, _, other in
            let (first, second) = (try context(1, of: database), try context(2, of: database))
            let own = try await first.fetch("task").sorted("id").all()
            let theirs = try await second.fetch("task").sorted("id").all()
            #expect(own.compactMap(\.number) == [11, 12, 13, 14] && theirs.compactMap(\.number) == [21, 22, 23])
            let (garden, secret) = (try await first.get("project", 10), try await second.get("project", 20))
            for project in [garden, secret] { _ = try await project.set(forKey: "taskSet").objects }
            _ = try await own[0].set(forKey: "labelSet").objects

            try await other.query("UPDATE task SET title = title || '!' WHERE id IN (11, 21)")
            try await other.query("INSERT INTO task_label VALUES (11, 16, 1), (11, 25, 2)")
            try await database.tracking.catchUp()
            #expect(own[0]["title"] == "dig!" && theirs[0]["title"] == "secret dig!")
            #expect(try await own[0].membersInMemory("labelSet") == [15, 16])

            try await other.query(
                "INSERT INTO task VALUES (15, 1, 10, 'rake', 1), (25, 2, 10, 'secret rake', 100), (26, 2, 20, 'secret', 1)"
            )
            try await other.query("DELETE FROM task WHERE id IN (13, 23)")
            try await database.tracking.catchUp()
            #expect(own.map(\.isDeleted) == [false, false, true, false])
            #expect(theirs.map(\.isDeleted) == [false, false, true])
            #expect(try await garden.membersInMemory("taskSet") == [11, 12, 15])
            #expect(try await secret.membersInMemory("taskSet") == [21, 22, 26])

            // To the other tenant, and back as another object.
            try await other.query("UPDATE task SET tenant_id = 2, project_id = 20 WHERE id = 12")
            try await database.tracking.catchUp()
            #expect(own.map(\.isDeleted) == [false, true, true, false])
            #expect(try await garden.membersInMemory("taskSet") == [11, 15])
            #expect(try await secret.membersInMemory("taskSet") == [12, 21, 22, 26])
            try await other.query("UPDATE task SET tenant_id = 1, project_id = 10 WHERE id = 12")
            try await database.tracking.catchUp()
            #expect(own[1].isDeleted)
            #expect(try await garden.membersInMemory("taskSet") == [11, 12, 15])
            #expect(try await secret.membersInMemory("taskSet") == [21, 22, 26])
            // By the tenant's column alone.
            for (tenant, numbers) in [(2, [11, 12]), (1, [11, 12, 15])] as [(Int, [Int64])] {
                try await other.query("UPDATE task SET tenant_id = \(tenant) WHERE id = 15")
                try await database.tracking.catchUp()
                #expect(try await garden.membersInMemory("taskSet") == numbers)
            }
        }
    }

    @Test func settingsAndARoleHoldBesideTheTenant() async throws {
        try await withLive("project", "task", "label", "task_label") { database, _, other in
            let role = "tenant_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role)")
            do {
                for sql: SQL in [
                    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(identifier: role)",
                    "ALTER TABLE task ENABLE ROW LEVEL SECURITY",
                    """
                    CREATE POLICY small ON task
                    USING (size <= nullif(current_setting('app.limit', true), '')::integer)
                    """,
                ] {
                    try await other.query(sql)
                }
                try await database.refreshSchema()
                let limited = try context(1, of: database, settings: ["app.limit": 5], role: role)
                let whole = try context(1, of: database)
                let across = try database.makeContext(acrossTenants: "a test", tracking: .automatic)
                let small = try await limited.fetch("task").sorted("id").all()
                let all = try await whole.fetch("task").sorted("id").all()
                let every = try await across.fetch("task").sorted("id").all()
                #expect(small.count == 4 && all.count == 4 && every.count == 7)
                try await other.query("UPDATE task SET size = 9, title = 'big' WHERE id IN (11, 21)")
                try await database.tracking.catchUp()
                #expect(small.map(\.isDeleted) == [true, false, false, false])
                #expect(all[0]["title"] == "big" && !all[0].isDeleted)
                #expect(every.map { $0["title"] }.filter { $0 == "big" }.count == 2)
                try await other.query("UPDATE task SET title = 'small' WHERE id IN (12, 22)")
                try await database.tracking.catchUp()
                #expect(small[1]["title"] == "small" && all[1]["title"] == "small")
                withExtendedLifetime((limited, whole, across)) {}
            } catch {
                try await drop(role, other)
                throw error
            }
            try await drop(role, other)
        }
    }

    private func drop(_ role: String, _ other: PostgresClient) async throws {
        try await other.query("DROP OWNED BY \(identifier: role)")
        try await other.query("DROP ROLE \(identifier: role)")
    }

    @Test func settingsThatEndSessionsAreRefusedBesideFollowing() async throws {
        try await withLive("task") { database, _, _ in
            let error = await expectError(.invalidRequest) {
                _ = try context(1, of: database, settings: ["idle_in_transaction_session_timeout": "1s"])
            }
            #expect(error?.message.contains("idle_in_transaction_session_timeout") == true)
        }
    }
}
