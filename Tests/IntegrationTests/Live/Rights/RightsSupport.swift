import Kindred
import KindredLive
import KindredTesting
import Testing

/// A role that means harm, and a connection of its own.
struct HostileRole {
    let name: String
    let client: PostgresClient
    /// A superuser's connection.
    let admin: PostgresClient

    /// Lends a role that may do what every role may, and drops it with all that it owns.
    static func lend(_ body: (HostileRole) async throws -> Void) async throws {
        let name = "k_\(UInt32.random(in: 0..<UInt32.max))"
        let admin = try await PostgresClient.connect(try configuration())
        try await admin.query("CREATE ROLE \(identifier: name) LOGIN")
        var configuration = try configuration()
        configuration.user = name
        let client = try await PostgresClient.connect(configuration)
        let result: Result<Void, any Error>
        do {
            try await body(HostileRole(name: name, client: client, admin: admin))
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

    private static func configuration() throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        return configuration
    }

    /// Lets the role make schemas in the database.
    func allowCreating() async throws {
        let database = try await admin.query("SELECT current_database()")[0].decode(0, as: String.self) ?? ""
        try await admin.query("GRANT CREATE ON DATABASE \(identifier: database) TO \(identifier: name)")
    }

    /// A statement that makes the role a superuser, if a superuser runs it.
    var promotion: String { "ALTER ROLE \(name) SUPERUSER" }

    /// Expects that the role has got nothing.
    func expectNoPromotion(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(
            try await admin.value("SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = \(name)") == .bool(false),
            sourceLocation: sourceLocation)
    }
}

/// Runs `body` with the database of a role that may read changes, and that policies apply to.
func withReader(
    of database: Database, _ other: PostgresClient, _ body: (Database) async throws -> Void
) async throws {
    let role = "live_\(UInt32.random(in: 0..<UInt32.max))"
    try await other.query("CREATE ROLE \(identifier: role) LOGIN")
    try await database.tracking.install(readers: [role])
    var configuration = other.configuration
    configuration.user = role
    let theirs = try await Database.connect(configuration)
    do {
        try await body(theirs)
    } catch {
        await theirs.close(timeout: .zero)
        _ = try? await other.query("DROP OWNED BY \(identifier: role)")
        _ = try? await other.query("DROP ROLE \(identifier: role)")
        throw error
    }
    await theirs.close()
    try await other.query("DROP OWNED BY \(identifier: role)")
    try await other.query("DROP ROLE \(identifier: role)")
}
