import Kindred
import KindredMigrations
import KindredTesting
import Testing

/// New tenants, made by the files that made the template.
@Suite(.database(.sql("CREATE TABLE country (code text PRIMARY KEY); CREATE SCHEMA template")))
struct TenantCreationTests {
    private static let files = [
        "1_person.sql": """
        CREATE TYPE mood AS ENUM ('calm');
        CREATE TABLE person (
            id bigint PRIMARY KEY, mood mood NOT NULL DEFAULT 'calm', country text REFERENCES public.country);
        """,
        "2_rows.sql": "INSERT INTO person VALUES (1), (2)",
    ]

    private func withTenants(
        _ files: [String: String] = Self.files,
        _ body: (_ database: Database, _ folder: MigrationFolder, _ other: PostgresClient) async throws -> Void
    ) async throws {
        let configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        try await MigrationFolder.with(files) { folder in
            let other = try await PostgresClient.connect(configuration)
            try await folder.migrations.apply(toTenants: ["template"], of: other)
            let database = try await Database.connect(configuration, tenants: .schemas(template: "template"))
            do {
                try await body(database, folder, other)
            } catch {
                await database.close()
                await other.close()
                throw error
            }
            await database.close()
            await other.close()
        }
    }

    private func schemas(_ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT nspname::text FROM pg_namespace WHERE oid >= 16384 ORDER BY 1").map {
            try $0.decode(0, as: String.self) ?? ""
        }
    }

    @Test func aTenantIsMadeUsedAndDropped() async throws {
        try await withTenants { database, folder, other in
            for round in 1...2 {
                let tenant = try await database.createTenant("acme", migrations: folder.migrations)
                #expect(tenant.name == "acme" && tenant.schema.entities.map(\.name.name) == ["country", "person"])
                let context = tenant.makeContext()
                #expect(try await context.fetch("person").count() == 2)
                try await context.create("person", ["id": 3, "mood": "calm"])
                let all = try await folder.migrations.apply(toTenants: nil, of: other)
                #expect(all.map(\.schema) == ["acme", "template"] && all.allSatisfy { $0.state == .skipped })
                try await database.dropTenant("acme")
                #expect(try await schemas(other) == ["template"], "round \(round)")
                let gone = await #expect(throws: KindredError.self) { try await database.tenant("acme") }
                #expect(gone?.code == .notFound)
                await #expect(throws: (any Error).self) { try await context.fetch("person").count() }
            }
        }
    }

    @Test func aFailureLeavesNothingBehind() async throws {
        try await withTenants { database, folder, other in
            try folder.write("3_flag.sql", "SELECT 1;\nSELECT 1 / 0")
            let error = await #expect(throws: MigrationError.self) {
                try await database.createTenant("acme", migrations: folder.migrations)
            }
            #expect(error?.code == .failed && error?.file == "3_flag.sql" && error?.line == 2)
            try folder.write("3_flag.sql", "-- kindred: no transaction\nCREATE TABLE flag (); SELECT 1 / 0")
            await #expect(throws: MigrationError.self) {
                try await database.createTenant("acme", migrations: folder.migrations)
            }
            #expect(try await schemas(other) == ["template"])
            try folder.write("3_flag.sql", "-- kindred: no transaction\nCREATE TABLE flag ()")
            let tenant = try await database.createTenant("acme", migrations: folder.migrations)
            #expect(try await tenant.makeContext().fetch("person").count() == 2)
        }
    }

    @Test func aRefusedCommitNamesItsFile() async throws {
        try await withTenants { database, folder, other in
            try folder.write(
                "3_pair.sql",
                """
                CREATE TABLE pair (id integer PRIMARY KEY, other integer REFERENCES pair DEFERRABLE INITIALLY DEFERRED);
                INSERT INTO pair VALUES (1, 2);
                """)
            let error = await #expect(throws: MigrationError.self) {
                try await database.createTenant("acme", migrations: folder.migrations)
            }
            #expect(error?.code == .failed && error?.file == "3_pair.sql" && error?.line == nil)
            #expect(error?.server?.constraint == "pair_other_fkey")
            #expect(try await schemas(other) == ["template"])
        }
    }

    /// The server refuses a label in the transaction that adds it; each file is one of its own then.
    @Test func filesThatNeedTheCommitOfEarlierOnes() async throws {
        var files = Self.files
        files["3_label.sql"] = "ALTER TYPE mood ADD VALUE 'busy'"
        files["4_busy.sql"] = "INSERT INTO person VALUES (3, 'busy')"
        try await withTenants(files) { database, folder, _ in
            let tenant = try await database.createTenant("acme", migrations: folder.migrations)
            #expect(try await tenant.makeContext().fetch("person").where("mood == 'busy'").count() == 1)
        }
    }

    @Test func namesOfNoTenantAreRefused() async throws {
        try await withTenants { database, folder, other in
            try await other.query("CREATE SCHEMA acme")
            try await other.query("CREATE SCHEMA kindred")
            let before = try await schemas(other)
            let exists = await #expect(throws: MigrationError.self) {
                try await database.createTenant("acme", migrations: folder.migrations)
            }
            #expect(exists?.code == .exists)
            for (name, code) in [
                ("template", KindredError.Code.invalidRequest), ("public", .invalidRequest), ("pg_acme", .notFound),
                ("information_schema", .notFound), ("kindred", .notFound), ("$user", .notFound), ("", .notFound),
                (String(repeating: "a", count: 64), .notFound), ("pg_\u{301}acme", .notFound),
            ] {
                let made = await #expect(throws: KindredError.self) {
                    try await database.createTenant(name, migrations: folder.migrations)
                }
                let dropped = await #expect(throws: KindredError.self) { try await database.dropTenant(name) }
                #expect(made?.code == code && dropped?.code == code, "\(name)")
            }
            // 63 bytes are a name.
            let longest = String(repeating: "\u{e9}", count: 31) + "a"
            try await database.createTenant(longest, migrations: folder.migrations)
            #expect(try await schemas(other).contains(longest))
            try await database.dropTenant(longest)
            let none = await #expect(throws: KindredError.self) { try await database.dropTenant("nobody") }
            #expect(none?.code == .notFound)
            #expect(try await schemas(other) == before)
            await #expect(throws: PostgresError.self) {
                try await database.client.withTransaction { _ in
                    _ = try await database.client.query("SELECT 1")
                    try await database.createTenant("initech", migrations: folder.migrations)
                }
            }
        }
    }

    @Test func twoAtOnceMakeOne() async throws {
        try await withTenants { database, folder, other in
            let migrations = folder.migrations
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        do {
                            try await database.createTenant("acme", migrations: migrations)
                            return true
                        } catch let error as MigrationError where error.code == .exists {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.count { $0 } == 1)
            #expect(try await schemas(other) == ["acme", "template"])
        }
    }
}
