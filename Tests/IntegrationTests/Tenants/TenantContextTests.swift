import Foundation
import Kindred
import KindredTesting
import Logging
import Testing

/// How contexts of tenants are made, and the state that they share.
@Suite(.database(.sql(tenantSchema)))
struct TenantContextTests {
    @Test func aTenantIsOneColumnWithAValue() async throws {
        try await withDatabase { database, _, _ in
            await expectError(.invalidRequest) { _ = try database.makeContext(tenant: [:], setting: "app.tenant_id") }
            await expectError(.invalidRequest) {
                _ = try database.makeContext(tenant: ["tenant_id": 1, "id": 2], setting: "app.tenant_id")
            }
            await expectError(.invalidRequest) { _ = try database.makeContext(tenant: ["owner": 1], setting: "app.x") }
            await expectError(.missingValue) {
                _ = try database.makeContext(tenant: ["tenant_id": Int?.none], setting: "app.tenant_id")
            }
            await expectError(.wrongType) {
                _ = try database.makeContext(tenant: ["tenant_id": "one"], setting: "app.tenant_id")
            }
            await expectError(.invalidRequest) {
                _ = try database.makeContext(
                    tenant: ["tenant_id": 1], setting: "app.tenant_id", settings: ["app.tenant_id": 2])
            }
        }
    }

    @Test func aColumnOfAnotherTypeNamesItsTableAndMayBeLeftOut() async throws {
        try await withDatabase { database, _, other in
            try await other.runScript(
                "CREATE TABLE plan (id integer PRIMARY KEY, tenant_id uuid); INSERT INTO plan VALUES (1, gen_random_uuid())"
            )
            try await database.refreshSchema()
            let error = await expectError(.wrongType) { _ = try database.context(ofTenant: 1) }
            #expect(error?.entity == "public.plan" && error?.key == "tenant_id")
            #expect(error?.message.contains("public.plan.tenant_id, of the type uuid") == true)
            #expect(error?.message.contains(#"{"tenant": false}"#) == true)
            try await other.query(#"COMMENT ON TABLE plan IS '@kindred {"tenant": false}'"#)
            try await database.refreshSchema()
            for tenant in 1...2 {
                let context = try database.context(ofTenant: tenant)
                #expect(try await context.fetch("plan").count() == 1)
                #expect(try await context.fetch("task").count() == [4, 3][tenant - 1])
                // The column is like any other there.
                try await context.create("plan", ["id": 10 + tenant, "tenant_id": UUID()])
                try await context.fetch("plan").where("id = %@", 10 + tenant).delete()
            }
        }
    }

    @Test func tenantsShareNothingAtTheSameTime() async throws {
        try await withDatabase { database, _, _ in
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let tenant = number % 3
                        let context = try database.context(ofTenant: tenant)
                        let found = try await [context.find("task", 11), context.find("task", 21)]
                        #expect(found.map { $0 != nil } == [tenant == 1, tenant == 2])
                        #expect(try await context.fetch("task").count() == [0, 4, 3][tenant])
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.makeContext().fetch("task").count() == 7)
        }
    }

    @Test func aTransactionIsThatOfOneTenant() async throws {
        try await withDatabase { database, _, _ in
            let (first, second) = (try database.context(ofTenant: 1), try database.context(ofTenant: 2))
            try await first.transaction { () async throws in
                let error = await #expect(throws: PostgresError.self) { _ = try await second.fetch("task").count() }
                #expect(error?.code == .settingsDiffer)
                #expect(try await first.fetch("task").count() == 4)
                await fail(first) { try await first.create("label", ["id": 90, "name": "x"]) }
                #expect(try await first.fetch("task").count() == 4)
            }
        }
    }

    @Test func administrationWorksAcrossTenants() async throws {
        try await withDatabase { database, _, other in
            var configuration = other.configuration
            configuration.pool.maximumConnections = 1
            let logger = LogLines()
            let strict = try await Database.connect(
                configuration, requiredSettings: ["app.tenant_id"], logger: logger.logger)
            await expectError(.missingSettings) { _ = try await strict.makeContext().fetch("task").count() }
            #expect(try await strict.context(ofTenant: 2).fetch("task").count() == 3)
            let context = try strict.makeContext(acrossTenants: "monthly figures")
            #expect(try await context.fetch("task").count() == 7)
            #expect(
                logger.take(.warning).contains {
                    $0.message.contains("across tenants") && $0.message.contains("monthly figures")
                })
            await strict.close()
        }
    }

    @Test func policiesReadTheSetting() async throws {
        try await withTenants { database, admin, _ in
            try await admin.runScript(
                """
                CREATE POLICY own ON task USING (tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::integer));
                ALTER TABLE task ENABLE ROW LEVEL SECURITY;
                GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
                """)
            // Before, the role could read none of the tables.
            try await database.refreshSchema()
            let context = try database.context(ofTenant: 1)
            #expect(try await context.query("SELECT * FROM task").count == 4)
            #expect(try await context.fetch("task").count() == 4)
            try await context.create("task", ["id": 19, "title": "plant"])
            #expect(try await admin.value("SELECT tenant_id FROM task WHERE id = 19") == 1)
        }
    }
}
