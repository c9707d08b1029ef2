import Kindred
import KindredMigrations
import KindredTesting
import Testing

/// The examples of the article on schemas and tenants.
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
        let context = tenant.makeContext()
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

    @Test(
        .database(
            // The beginning of the article on several schemas.
            """
            CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL);
            CREATE SCHEMA tenant_a;
            CREATE TABLE tenant_a.person (id integer PRIMARY KEY, name text NOT NULL, country text REFERENCES country);
            CREATE SCHEMA tenant_b;
            CREATE TABLE tenant_b.person (id integer PRIMARY KEY, name text NOT NULL, country text REFERENCES country);

            INSERT INTO tenant_a.person VALUES (1, 'Ann');
            INSERT INTO tenant_b.person VALUES (1, 'Bob'), (2, 'Bea');
            """))
    func schemas() async throws {
        let uri = try TestDatabase.current.uri
        // block: search-path
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.searchPath = ["tenant_a", "public"]
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        print(try await context.fetch("person").count())  // tenant_a.person
        print(try await context.fetch("tenant_b.person").count())  // exactly that one
        print(try await context.fetch("country").count())  // public.country
        // end
        #expect(try await context.fetch("person").count() == 1)
        #expect(try await context.fetch("tenant_b.person").count() == 2)

        // block: tenants
        actor Tenants {
            let configuration: PostgresConfiguration
            var databases: [String: Database] = [:]

            init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

            func database(of tenant: String) async throws -> Database {
                if let database = databases[tenant] { return database }
                var configuration = configuration
                configuration.searchPath = [tenant, "public"]
                configuration.pool.maximumConnections = 4
                let database = try await Database.connect(configuration)
                databases[tenant] = database
                return database
            }
        }
        // end
        let tenants = Tenants(configuration)
        let other = try await tenants.database(of: "tenant_b")
        #expect(try await other.makeContext().fetch("person").count() == 2)
        await other.close()
        await database.close()
    }

    @Test(
        .database(
            """
            CREATE TABLE note (id bigint PRIMARY KEY, tenant integer NOT NULL, text text NOT NULL);
            ALTER TABLE note ENABLE ROW LEVEL SECURITY;
            CREATE POLICY own ON note USING (tenant = (SELECT nullif(current_setting('app.tenant', true), '')::integer));

            INSERT INTO note VALUES (1, 7, 'x'), (2, 8, 'y');
            """))
    func rowSecurity() async throws {
        let database = try await TestDatabase.current.connect()
        let tenant = 7
        // block: row-security
        try await database.withContext(settings: ["app.tenant": tenant]) { context in
            let notes = try await context.fetch("note").all()  // those of the tenant
            print(notes.count)
            try await context.create("note", ["id": 3, "tenant": tenant, "text": "New"])
        }
        // end
        // Policies do not hold for the superuser that the tests connect as.
        let role = "pg_read_all_data"
        func read() async throws {
            // block: row-security-role
            let context = try database.makeContext(settings: ["app.tenant": tenant], role: role)
            print(try await context.fetch("note").count())
            // end
            #expect(try await context.fetch("note").count() == 2)
        }
        try await read()
        await database.close()
    }

    @Test(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) func requiredSettings() async throws {
        let configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        func ask() async throws {
            // block: required-settings
            let database = try await Database.connect(configuration, requiredSettings: ["app.tenant"])
            let context = database.makeContext()
            _ = try await context.fetch("note").all()  // KindredError .missingSettings: nothing was sent
            // end
        }
        await expectError(.missingSettings, "The context has no app.tenant") { try await ask() }
    }
}
