import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import KindredMigrations
import KindredTesting
import Testing

/// A role that may create schemas makes Kindred's schemas first: an administrator's commands use nothing in them.
@Suite(.database(.sql("CREATE TABLE person (id integer PRIMARY KEY);")), .timeLimit(.minutes(10)))
struct HostileSchemaTests {
    /// A role that may log in and create schemas, and two clients.
    private struct Role {
        let name: String
        let client: PostgresClient
        let admin: PostgresClient
        let uri: String

        /// Makes a function of the role that makes it a superuser, if one calls it.
        func makeTrap(in schema: String) async throws {
            try await client.runScript(
                """
                CREATE FUNCTION \(schema).trap() RETURNS integer LANGUAGE plpgsql AS $$
                BEGIN EXECUTE 'ALTER ROLE \(name) SUPERUSER'; RETURN 1; EXCEPTION WHEN OTHERS THEN RETURN 1; END $$;
                CREATE FUNCTION \(schema).fire() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM \(schema).trap(); RETURN NEW; END $$;
                """)
        }

        func expectNoPromotion(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let rows = try await admin.query("SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = \(name)")
            let isSuperuser = try rows.first?.decode(0, as: Bool.self)
            #expect(isSuperuser == false, "\(what)", sourceLocation: sourceLocation)
        }
    }

    private func withRole(_ body: (Role) async throws -> Void) async throws {
        let name = "k_\(UInt32.random(in: 0..<UInt32.max))"
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        let admin = try await PostgresClient.connect(configuration)
        let database = try await admin.query("SELECT current_database()")[0].decode(0, as: String.self) ?? ""
        try await admin.query("CREATE ROLE \(identifier: name) LOGIN")
        try await admin.query("GRANT CREATE ON DATABASE \(identifier: database) TO \(identifier: name)")
        configuration.user = name
        let client = try await PostgresClient.connect(configuration)
        let result: Result<Void, any Error>
        do {
            try await body(Role(name: name, client: client, admin: admin, uri: try TestDatabase.current.uri))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await client.close(timeout: .zero)
        try await admin.query("DROP OWNED BY \(identifier: name) CASCADE")
        try await admin.query("DROP ROLE \(identifier: name)")
        await admin.close()
        try result.get()
    }

    private func run(_ arguments: [String], _ uri: String) async -> CommandOutcome {
        await TestCommand()(arguments + ["--database", uri])
    }

    /// Lends a folder with one file.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "kindred-\(UInt64.random(in: 0..<UInt64.max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try "SELECT 1;\n".write(to: folder.appending(path: "1_nothing.sql"), atomically: true, encoding: .utf8)
        try await body(folder.path(percentEncoded: false))
    }

    private static let trackingCommands = [
        ["install"], ["status"], ["enable", "person"], ["enable", "person", "--dry-run"], ["disable", "person"],
        ["disable", "person", "--dry-run"], ["prune"], ["uninstall"],
    ]

    /// Objects that may stand in place of the state: a view, a table that runs code, and a function that is called.
    private static let states = [
        "CREATE VIEW kindred.tracking_state AS SELECT kindred.trap() AS version",
        """
        CREATE TABLE kindred.tracking_state (version integer); INSERT INTO kindred.tracking_state VALUES (1);
        CREATE TRIGGER fire BEFORE INSERT OR UPDATE ON kindred.tracking_state FOR EACH ROW EXECUTE FUNCTION kindred.fire();
        """,
        """
        CREATE TABLE kindred.tracking_state (version integer DEFAULT kindred.trap(),
            only_row boolean CHECK (kindred.trap() = 1))
        """,
        """
        CREATE TABLE kindred.tracking_state (version integer);
        CREATE FUNCTION kindred.tracking_identity() RETURNS TABLE (version integer, compatible integer) LANGUAGE sql
            AS 'SELECT 1, kindred.trap()';
        CREATE FUNCTION kindred.tracking_status() RETURNS integer LANGUAGE sql AS 'SELECT kindred.trap()';
        CREATE FUNCTION kindred.tracking_prune() RETURNS integer LANGUAGE sql AS 'SELECT kindred.trap()';
        """,
    ]

    @Test(arguments: states) func nothingOfAnotherRolesInstallationIsUsed(_ state: String) async throws {
        try await withRole { role in
            try await role.client.query("CREATE SCHEMA kindred")
            try await role.makeTrap(in: "kindred")
            try await role.client.runScript(state)
            for command in Self.trackingCommands {
                for owner in [[], ["--owner", role.name]] {
                    let told = await run(command + owner, role.uri)
                    // Over a named role's installation event triggers of the superuser's own are made, and taken away.
                    let isOwn = !owner.isEmpty && ["install", "uninstall"].contains(command[0])
                    #expect(
                        isOwn ? told.status == .success : told.status == .failure && told.error.contains(role.name),
                        "\(command): \(told.error)")
                    try await role.expectNoPromotion("\(command)")
                }
            }
            await #expect(throws: PostgresError.self) {
                try await role.admin.runScript("BEGIN;\n\(Tracking.installationScript)\nCOMMIT;")
            }
            let database = try await TestDatabase.current.connect()
            await #expect(throws: KindredError.self) { _ = try await database.makeContext().changes(of: "person") }
            await #expect(throws: KindredError.self) {
                _ = try await database.makeContext().changes(of: ["person"], consumer: "index")
            }
            await #expect(throws: KindredError.self) { _ = try await database.makeContext().fetch("person").live() }
            await #expect(throws: KindredError.self) { try await database.tracking.dropConsumer("index") }
            try await role.expectNoPromotion("calls")
        }
    }

    /// The role may drop and replace objects that are put into it.
    @Test func anEmptySchemaOfAnotherRoleIsItsOwn() async throws {
        try await withRole { role in
            try await role.client.query("CREATE SCHEMA kindred")
            #expect(await run(["install"], role.uri).error.contains("the schema kindred belongs to role \(role.name)"))
            try await withFolder { folder in
                #expect(await run(["migrate", folder], role.uri).status == .failure)
            }
            let tables = try await role.admin.query("SELECT FROM pg_class WHERE relnamespace = 'kindred'::regnamespace")
            #expect(tables.isEmpty)
        }
    }

    /// Objects that may stand in place of the table of the files that have run.
    private static let records = [
        """
        CREATE VIEW @schema.@table AS SELECT @schema.trap()::bigint AS number, 'a'::text AS name, 'a'::text AS checksum,
            now() AS started_at, now() AS finished_at
        """,
        """
        CREATE TABLE @schema.@table (number bigint PRIMARY KEY, name text, checksum text,
            started_at timestamptz DEFAULT now(), finished_at timestamptz);
        CREATE TRIGGER fire BEFORE INSERT ON @schema.@table FOR EACH ROW EXECUTE FUNCTION @schema.fire();
        """,
        """
        CREATE TABLE @schema.@table (number bigint PRIMARY KEY, name text, checksum text CHECK (@schema.trap() = 1),
            started_at timestamptz DEFAULT now(), finished_at timestamptz);
        """,
    ]

    @Test(arguments: records)
    func nothingOfAnotherRolesRecordsIsUsed(_ table: String) async throws {
        try await withRole { role in
            for (schema, name) in [("kindred", "migration"), ("tenant", "kindred_migration")] {
                try await role.client.query("CREATE SCHEMA \(identifier: schema)")
                try await role.makeTrap(in: schema)
                let text = table.replacing("@schema", with: schema).replacing("@table", with: name)
                try await role.client.runScript(text)
            }
            try await withFolder { folder in
                for command in [
                    [folder], [folder, "--dry-run"], ["status", folder], ["lint", folder], [folder, "--baseline", "1"],
                    ["resolve", folder, "1", "--done"], [folder, "--tenant", "tenant"],
                    [folder, "--tenant", "tenant", "--dry-run"], [folder, "--tenants"],
                    ["resolve", folder, "1", "--done", "--tenant", "tenant"],
                ] {
                    let told = await run(["migrate"] + command, role.uri)
                    #expect(command.contains("--tenants") || told.status == .failure, "\(command): \(told.error)")
                    try await role.expectNoPromotion("\(command)")
                }
            }
        }
    }

    /// An ordinary role names the role that it trusts; then it works.
    @Test func theNamedRoleIsTrusted() async throws {
        try await withRole { owner in
            try await withRole { other in
                try await owner.admin.query("GRANT \(identifier: owner.name) TO \(identifier: other.name)")
                var configuration = other.client.configuration
                configuration.user = other.name
                try await Tracking(owner.client).install(readers: [other.name])
                await #expect(throws: KindredError.self) { _ = try await Tracking(other.client).status() }
                #expect(try await Tracking(other.client, owner: owner.name).status()?.version == Tracking.version)
                await #expect(throws: KindredError.self) { try await Tracking(other.client).install() }
                try await Tracking(other.client, owner: owner.name).install()
                // A superuser uses what superusers have made.
                await #expect(throws: KindredError.self) { try await Tracking(owner.admin).install() }
                await #expect(throws: KindredError.self) {
                    try await Tracking(owner.admin, owner: owner.name).enable("person")
                }
                try await withFolder { folder in
                    let strict = Migrations(folder: folder)
                    try await strict.apply(to: owner.client)
                    await #expect(throws: MigrationError.self) { _ = try await strict.status(of: other.client) }
                    var trusting = strict
                    trusting.owner = owner.name
                    let states = try await trusting.status(of: other.client)
                    #expect(states.map(\.state) == [.applied])
                }
            }
        }
    }
}
