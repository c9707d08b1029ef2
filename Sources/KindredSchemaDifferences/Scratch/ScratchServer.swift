import EmbeddedPostgres
package import KindredPostgres
import Synchronization

/// Databases on the process's embedded server that live as long as a closure.
package struct ScratchServer {
    private let server: EmbeddedPostgres
    private let maintenance: PostgresClient

    /// Starts the server, or throws why there is none.
    package static func withServer<T>(_ body: (ScratchServer) async throws -> T) async throws -> T {
        let server: EmbeddedPostgres
        do {
            server = try await EmbeddedPostgres.shared()
        } catch let error as EmbeddedPostgresError {
            throw SchemaDifferencesError(.noServer, error.message)
        }
        return try await connect(server.uri).lend {
            try await body(ScratchServer(server: server, maintenance: $0))
        }
    }

    /// Lends a new, empty database.
    package func withDatabase<T>(_ body: (PostgresClient) async throws -> T) async throws -> T {
        let name = "kindred_scratch_\(UInt64.random(in: 0...UInt64.max))"
        try await run("CREATE DATABASE \(name) TEMPLATE template0", on: maintenance)
        let result: Result<T, any Error>
        do {
            result = .success(try await Self.connect(server.uri(database: name)).lend(body))
        } catch {
            result = .failure(error)
        }
        // A task of its own, so that a cancelled comparison cleans up too.
        let maintenance = maintenance
        await Task { _ = try? await ScratchServer.run("DROP DATABASE \(name) WITH (FORCE)", on: maintenance) }.value
        return try result.get()
    }

    private static func connect(_ uri: String) async throws -> PostgresClient {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.pool.maximumConnections = 2
        configuration.pool.acquireTimeout = .seconds(60)
        return try await PostgresClient.connect(configuration)
    }

    private func run(_ statement: String, on client: PostgresClient) async throws {
        try await Self.run(statement, on: client)
    }

    /// Runs a statement that is sent once.
    package static func run(_ statement: String, on client: PostgresClient) async throws {
        let effect: StatementText.Effect = client.isInTransaction ? .plain : .lasting
        try await client.execute(
            Statement(
                text: StatementText(oneTime: statement, effect: effect, mayChangeSession: true), resultFormat: .text))
    }

    /// Prints the schema of a scratch database by the server's own `pg_dump`; nil where there is none.
    func dump(of client: PostgresClient) async throws -> SchemaDump.Text? {
        guard let database = client.configuration.database else { return nil }
        return try await server.schemaDump(of: database).map(SchemaDump.Text.init)
    }

    /// Makes a role that a script, a grant or a policy names.
    package func makeRole(_ name: String) async throws {
        do {
            try await run("CREATE ROLE \(try SQLIdentifier.quote(name)) NOLOGIN", on: maintenance)
        } catch let error as PostgresError where ["42710", "23505"].contains(error.sqlState?.rawValue) {
            // Another comparison has made it, or has made it meanwhile.
        }
    }
}
