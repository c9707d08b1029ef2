import Kindred
import KindredTesting
import TestSupport
import Testing

/// A row that a policy hides from the role is no member and no end, in every way to reach it.
@Suite struct HiddenMemberTests {
    /// Task 14 of the first organization has a project and a label of the second.
    private func expectHidden(_ database: Database, _ admin: PostgresClient, role: String?) async throws {
        let context = try database.makeContext(settings: ["app.organization": 1], role: role)
        func tasks(_ condition: String) async throws -> [PostgresValue?] {
            try await context.fetch("task").where(condition).sorted("id").all().map { $0["id"] }
        }
        let task = try await context.get("task", 14)
        #expect(task["project_id"] == 20)
        #expect(try await task.object(forKey: "project") == nil)
        #expect(try await tasks("project = nil") == [14])
        #expect(try await tasks("project != nil") == [11, 12, 13])
        #expect(try await tasks("project.id = 20") == [])
        #expect(try await tasks("project.id = nil") == [14])
        #expect(try await tasks("project.name LIKE 'secret%'") == [])
        #expect(try await tasks("project_id = 20") == [14])
        let labels = try await task.set(forKey: "labelSet")
        #expect(try await labels.count == 0)
        #expect(try await labels.isEmpty)
        #expect(try await labels.objects == [])
        #expect(try await tasks("labelSet.@count > 0") == [11])
        #expect(try await tasks("labelSet.@count = 0") == [12, 13, 14])
        #expect(try await tasks("ANY labelSet.id = 25") == [])
        #expect(try await tasks("SUBQUERY(labelSet, $x, $x.id > 0).@count = 1") == [11])
        func pairs() async throws -> [PostgresValue?] {
            try await admin.values("SELECT label_id FROM task_label WHERE task_id = 14 ORDER BY 1")
        }
        try await labels.removeAll()
        #expect(try await pairs() == [25])
        let label = try await context.get("label", 15)
        try await task.setValue([label], forKey: "labelSet")
        #expect(try await pairs() == [15, 25])
        let other = try database.makeContext(settings: ["app.organization": 1], role: role)
        let again = try await other.get("task", 14)
        #expect(try await again.set(forKey: "labelSet").count == 1)
        try await again.setValue([DatabaseObject](), forKey: "labelSet")
        #expect(try await pairs() == [25])
    }

    @Test(.database(.sql(organizationSchema))) func aHiddenRowIsNoMemberAndNoEnd() async throws {
        try await withTenants { database, admin, _ in try await expectHidden(database, admin, role: nil) }
    }

    @Test(.database(.sql(organizationSchema))) func theRoleOfAContextCounts() async throws {
        try await withTenants { _, admin, role in
            // The role that reads the model sees everything.
            let database = try await Database.connect(admin.configuration)
            do {
                try await expectHidden(database, admin, role: role)
                let context = database.makeContext()
                let (found, sent) = try await recordingStatements {
                    try await context.fetch("task").where("project = nil OR labelSet.@count = 2").all()
                }
                #expect(found.isEmpty)
                #expect(sent.statements.allSatisfy { !$0.contains("\"project\"") && !$0.contains("\"label\"") })
                #expect(try await context.get("task", 14).set(forKey: "labelSet").count == 1)
            } catch {
                Issue.record(error)
            }
            await database.close()
        }
    }

    @Test(
        .database(
            .sql(
                organizationSchema
                    + "COMMENT ON CONSTRAINT task_label_task_id_fkey ON task_label IS '@kindred {\"maximumCount\": 1}';"
            )))
    func limitsCountThePairsThatTheRoleSees() async throws {
        try await withTenants { database, admin, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let task = try await context.get("task", 14)
            let label = try await context.get("label", 15)
            await #expect(throws: KindredError.self) {
                try await task.set(forKey: "labelSet").insert(label)
            }
            #expect(try await admin.value("SELECT count(*) FROM task_label WHERE task_id = 14") == 1)
        }
    }
}
