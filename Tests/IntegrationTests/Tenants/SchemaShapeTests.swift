import Kindred
import KindredTesting
import Testing

/// Schemas of tenants that differ: which are served, and which are refused.
@Suite(.database(.sql(schemaTenants)))
struct SchemaShapeTests {
    @Test func schemasOfTheSameShapeShareTheirModel() async throws {
        try await withSchemaTenants { database, _ in
            let schemas = [
                try await database.tenant("acme").schema, try await database.tenant("Gamma & Co").schema,
            ]
            #expect(zip(schemas[0].entities, schemas[1].entities).allSatisfy { $0 === $1 })
        }
    }

    @Test func twoShapesAreServedAtOnce() async throws {
        try await withSchemaTenants { database, other in
            try await other.runScript(
                """
                ALTER TYPE beta.mood ADD VALUE 'gone';
                ALTER TABLE beta.task ADD done boolean NOT NULL DEFAULT false;
                CREATE TABLE beta.invoice (id bigint PRIMARY KEY);
                CREATE INDEX ON beta.task (title);
                """)
            let (acme, beta) = (try await database.context(of: "acme"), try await database.context(of: "beta"))
            #expect(try await acme.get("task", 1)["title"] == "<0> t1")
            #expect(try await beta.fetch("task").where("done == false").count() == 6)
            try await beta.create("project", ["id": 5, "name": "old", "mood": "gone"])
            let created = try await beta.create("task", ["id": 80, "title": "new", "done": true])
            #expect(created["done"] == true)
            await expectError(.unknownKey) { _ = try await acme.fetch("task").where("done == false").count() }
            // The rest of a rolling migration.
            try await other.runScript("ALTER TABLE acme.task ADD done boolean NOT NULL DEFAULT false")
            #expect(try await acme.fetch("task").count() == 6)
            try await database.refreshSchema()
            #expect(try await database.context(of: "acme").fetch("task").where("done == false").count() == 6)
        }
    }

    @Test func aForeignKeyBetweenTenantsIsRefusedByName() async throws {
        try await withSchemaTenants { database, other in
            try await other.runScript(
                "ALTER TABLE acme.task ADD CONSTRAINT stray FOREIGN KEY (project_id) REFERENCES beta.project NOT VALID")
            let error = await expectError(.invalidRequest) { _ = try await database.tenant("acme") }
            #expect(error?.constraint == "stray")
            #expect(error?.message.contains("beta.project") == true)
            #expect(try await database.context(of: "beta").fetch("project").count() == 2)
        }
    }

    @Test func aTableThatIsMissingIsNoEntity() async throws {
        try await withSchemaTenants { database, other in
            try await other.query("DROP TABLE beta.task_label")
            let beta = try await database.context(of: "beta")
            await expectError(.unknownEntity) { _ = try beta.fetch("task_label") }
            #expect(try await beta.get("task", 1)["id"] == 1)
        }
    }

    @Test func theTemplateIsOutsideOfTheSearchPath() async throws {
        try await withDatabase { plain, _, _ in
            await expectError(.invalidRequest) {
                _ = try await Database.connect(
                    plain.client.configuration, tenants: .schemas(template: "public"))
            }
            await expectError(.invalidRequest) {
                _ = try await Database.connect(
                    plain.client.configuration, tenants: .schemas(template: "missing"))
            }
            await expectError(.invalidRequest) { _ = try await plain.tenant("acme") }
        }
    }
}
