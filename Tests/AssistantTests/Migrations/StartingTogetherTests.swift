import Kindred
import KindredLive
import KindredMigrations
import KindredTesting
import Testing

private let schema = """
    CREATE SCHEMA template;
    CREATE TYPE mood AS ENUM ('calm');
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    CREATE TABLE reading (id integer PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE reading_1 PARTITION OF reading FOR VALUES FROM (0) TO (1000);
    CREATE TABLE reading_2 PARTITION OF reading FOR VALUES FROM (1000) TO (2000);
    CREATE TABLE document (id integer PRIMARY KEY);
    CREATE TABLE letter (address text, PRIMARY KEY (id)) INHERITS (document);
    """

/// The replicas of a server that start at the same moment make the same calls.
@Suite(.database(.sql(schema), timeLimit: .seconds(300))) struct StartingTogetherTests {
    private static let tables = ["person", "reading", "document"]

    /// Makes a call in four programs at once, which have connected before; returns what each of them threw.
    private func together(_ call: @escaping @Sendable (Database, Int) async throws -> Void) async throws -> [any Error]
    {
        try await withThrowingTaskGroup(of: (any Error)?.self) { group in
            let start = AsyncStream.makeStream(of: Void.self)
            var databases: [Database] = []
            for _ in 0..<4 {
                let configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
                databases.append(try await Database.connect(configuration, tenants: .schemas(template: "template")))
            }
            for (number, database) in databases.enumerated() {
                group.addTask {
                    for await _ in start.stream {}
                    do {
                        try await call(database, number)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            start.continuation.finish()
            var errors: [any Error] = []
            for try await error in group { if let error { errors.append(error) } }
            for database in databases { await database.close() }
            return errors
        }
    }

    private func value(of client: PostgresClient, _ sql: SQL) async throws -> Int64? {
        try await client.query(sql).first?.decode(0, as: Int64.self)
    }

    private func expectAll(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ call: @escaping @Sendable (Database, Int) async throws -> Void
    ) async throws {
        let errors = try await together(call)
        #expect(errors.isEmpty, "\(name): \(errors)", sourceLocation: sourceLocation)
    }

    @Test("of 24 calls by four programs that start together, 13 failed, and a program died at its start")
    func tracking() async throws {
        let other = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        for round in 1...3 {
            try await expectAll("install \(round)") { database, _ in try await database.tracking.install() }
            try await expectAll("enable \(round)") { database, number in
                // Each in an order of its own.
                let tables = Self.tables.indices.map { Self.tables[($0 + number) % Self.tables.count] }
                try await database.tracking.enable(tables)
            }
            let triggers = try await value(
                of: other,
                "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'kindred_tracking_%'")
            #expect(triggers == 24)
            let status = try await value(
                of: other,
                "SELECT count(*) FROM kindred.tracking_tables() WHERE fault IS NULL")
            #expect(status == 6)
            try await expectAll("install and enable \(round)") { database, number in
                if number.isMultiple(of: 2) { try await database.tracking.install() }
                try await database.tracking.enable(Self.tables)
            }
            try await expectAll("disable \(round)") { database, _ in try await database.tracking.disable(Self.tables) }
            #expect(try await value(of: other, "SELECT count(*) FROM kindred.tracking_table") == 0)
            if round == 2 {
                try await expectAll("uninstall") { database, number in
                    if number == 0 { try await database.tracking.uninstall() }
                }
            }
        }
        try await expectAll("all at once") { database, _ in
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
        }
        await other.close()
    }

    @Test func migrationsAndTypes() async throws {
        let files = [
            "1_song.sql": "CREATE TABLE song (id integer PRIMARY KEY)", "2_song.sql": "INSERT INTO song VALUES (1)",
        ]
        try await MigrationFolder.with(files) { folder in
            let migrations = folder.migrations
            try await expectAll("migrate") { database, _ in try await migrations.apply(to: database.client) }
            try await expectAll("migrate tenants") { database, _ in
                try await migrations.apply(toTenants: ["template"], of: database.client)
            }
            try await expectAll("register") { database, _ in
                try await database.client.register(
                    PostgresCodec {
                        .string($0.text ?? "")
                    } encode: {
                        Array($0.description.utf8)
                    }, forTypeNamed: "mood")
            }
            // A tenant is made once; every program that asks for it afterwards has it.
            let errors = try await together { database, _ in
                try await database.createTenant("acme", migrations: migrations)
            }
            #expect(errors.count == 3 && errors.allSatisfy { ($0 as? MigrationError)?.code == .exists }, "\(errors)")
            try await expectAll("tenant") { database, _ in _ = try await database.tenant("acme") }
        }
    }
}
