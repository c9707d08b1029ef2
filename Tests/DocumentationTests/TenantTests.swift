import Kindred
import KindredMigrations
import KindredTesting
import Testing

/// The examples of contexts of tenants.
@Suite struct TenantTests {
    @Test(
        .database(
            """
            CREATE TABLE project (
                id bigint, tenant_id integer NOT NULL, name text NOT NULL, PRIMARY KEY (tenant_id, id));
            CREATE TABLE task (
                id bigint, tenant_id integer NOT NULL, project_id bigint, title text NOT NULL, PRIMARY KEY (tenant_id, id),
                FOREIGN KEY (tenant_id, project_id) REFERENCES project);
            INSERT INTO project VALUES (1, 7, 'Garden'), (1, 8, 'House');
            INSERT INTO task VALUES (1, 7, 1, 'Dig'), (2, 7, 1, 'Sow'), (1, 8, 1, 'Paint');
            """))
    func byRow() async throws {
        let database = try await TestDatabase.current.connect()
        let tenant = 7
        // block: by-row
        try await database.withContext(tenant: ["tenant_id": tenant], setting: "app.tenant_id") { context in
            let tasks = try await context.fetch("task").all()  // … WHERE tenant_id = …
            print(tasks.count)
            try await context.create("task", ["id": 3, "title": "Water"])  // with tenant_id
        }
        // end
        try await database.withContext(tenant: ["tenant_id": tenant], setting: "app.tenant_id") {
            (context) async throws in
            #expect(try await context.fetch("task").count() == 3)
            #expect(try await context.find("task", 8, 1) == nil)
        }
        // block: across-tenants
        let context = try database.makeContext(acrossTenants: "monthly figures")
        print(try await context.fetch("task").count())
        // end
        #expect(try await context.fetch("task").count() == 4)
        await database.close()
    }

    @Test(
        .database(
            """
            CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL);
            INSERT INTO country VALUES ('AT', 'Austria');
            CREATE SCHEMA tenant_template;
            CREATE TABLE tenant_template.person (id integer PRIMARY KEY, name text NOT NULL, country_code text REFERENCES country);
            CREATE SCHEMA acme;
            CREATE TABLE acme.person (id integer PRIMARY KEY, name text NOT NULL, country_code text REFERENCES country);
            INSERT INTO acme.person VALUES (1, 'Ann', 'AT');
            CREATE FUNCTION number_of_tasks() RETURNS bigint LANGUAGE sql AS 'SELECT 1';
            ALTER FUNCTION number_of_tasks() SET search_path = acme, pg_temp;
            """))
    func bySchema() async throws {
        let uri = try TestDatabase.current.uri
        // block: by-schema
        let database = try await Database.connect(uri, tenants: .schemas(template: "tenant_template"))
        let tenant = try await database.tenant("acme")
        let context = try tenant.makeContext()
        print(try await context.fetch("person").count())  // FROM "acme"."person"
        print(try await context.fetch("country").count())  // FROM "public"."country"
        // end
        let person = try await context.get("person", 1)
        #expect(try await person.object(forKey: "country")?["name"] == "Austria")
        #expect(person.objectID?.uri == "kindred:/acme/person?id=1")
        await database.close()
    }

    @Test(.database(.sql("CREATE TABLE task (tenant_id integer, id bigint, PRIMARY KEY (tenant_id, id))")))
    func connectionsOfATenant() async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        // block: connections-of-a-tenant
        configuration.pool.maximumConnectionsPerTenant = 4
        let database = try await Database.connect(configuration)
        // end
        try await database.withContext(tenant: ["tenant_id": 7], setting: "app.tenant_id") { (context) async throws in
            #expect(try await context.fetch("task").count() == 0)
        }
        await database.close()
    }

    /// Needs a folder of files; compiled only.
    private func newTenant(_ database: Database) async throws {
        // block: new-tenant
        let tenant = try await database.createTenant("initech", migrations: Migrations(folder: "Tenants"))
        try await database.dropTenant("initech")  // the schema, with everything in it
        // end
        print(tenant.name)
    }
}
