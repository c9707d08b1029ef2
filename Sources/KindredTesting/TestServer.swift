import EmbeddedPostgres
import Kindred
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The server on which this process creates its test databases.
final class TestServer: Sendable {
    private let uri: String
    private let configuration: PostgresConfiguration
    /// Creates and drops the databases.
    private let client: PostgresClient
    /// Keeps the embedded server running.
    private let embedded: EmbeddedPostgres?
    /// How a database is copied; empty for the server's default.
    private let strategy: String
    /// Part of every name, so that processes that share a server do not collide.
    private let run: TestRun
    private let state = Mutex(State())

    private struct State {
        var databaseCount = 0
        var templates: [DatabaseFixture: Task<String, any Error>] = [:]
    }

    private init(uri: String, embedded: EmbeddedPostgres?) async throws {
        self.uri = uri
        self.embedded = embedded
        strategy = embedded?.copyStrategy ?? ""
        var configuration = try PostgresConfiguration(uri: uri)
        // Parallel tests wait for each other here.
        configuration.pool.acquireTimeout = .seconds(120)
        configuration.pool.maximumConnections = 2
        configuration.statementTimeout = .seconds(120)
        configuration.cancellationGrace = .seconds(60)
        self.configuration = configuration
        client = try await PostgresClient.connect(configuration)
        run = try await TestRun(configuration)
        await TestRun.dropDatabasesOfEndedRuns(over: client)
    }

    static func shared() async throws -> TestServer {
        let start = sharedStart.withLock { start in
            if let start { return start }
            let new = Task {
                if let uri = ProcessInfo.processInfo.environment["DATABASE_URL"], !uri.isEmpty {
                    return try await TestServer(uri: uri, embedded: nil)
                }
                let server = try await EmbeddedPostgres.shared()
                return try await TestServer(uri: server.uri, embedded: server)
            }
            start = new
            return new
        }
        return try await start.value
    }

    private static let sharedStart = Mutex<Task<TestServer, any Error>?>(nil)

    func makeDatabase(_ fixture: DatabaseFixture) async throws -> TestDatabase {
        let template = try await fixture == .empty ? "template0" : self.template(for: fixture)
        let name = state.withLock { state in
            state.databaseCount += 1
            return "kindred_test_\(run.name)_\(state.databaseCount)"
        }
        do {
            try await execute("CREATE DATABASE \(name) TEMPLATE \(template)\(strategy)")
        } catch {
            throw TestDatabaseError(.creationFailed, "The server did not create a database for the test: \(error)")
        }
        return TestDatabase(name: name, uri: replacingDatabase(of: uri, by: name), server: self)
    }

    func drop(_ name: String) async throws {
        try await execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// Describes the transactions that are still open in a database, or returns nil.
    func openTransactions(in name: String) async throws -> String? {
        var queries: [String] = []
        // The session of a connection that was just closed ends a moment later.
        for attempt in 0..<20 {
            if attempt > 0 { try await Task.sleep(for: .milliseconds(100)) }
            let rows = try await client.query(
                """
                SELECT state || ': ' || query FROM pg_stat_activity
                WHERE datname = \(name) AND state LIKE 'idle in transaction%'
                """
            )
            if rows.isEmpty { return nil }
            queries = try rows.map { try $0.decode(0, as: String.self) ?? "" }
        }
        return "The test left a transaction open (\(queries.joined(separator: "; ")))."
    }

    /// Returns the template of a fixture, created for the first test that needs it.
    private func template(for fixture: DatabaseFixture) async throws -> String {
        let task = state.withLock { state in
            if let task = state.templates[fixture] { return task }
            let name = "kindred_template_\(run.name)_\(state.templates.count + 1)"
            let new = Task { try await makeTemplate(name, fixture) }
            state.templates[fixture] = new
            return new
        }
        return try await task.value
    }

    private func makeTemplate(_ name: String, _ fixture: DatabaseFixture) async throws -> String {
        try await execute("CREATE DATABASE \(name) TEMPLATE template0\(strategy)")
        var configuration = configuration
        configuration.database = name
        configuration.pool.maximumConnections = 1
        let filler = try await PostgresClient.connect(configuration)
        let result: Result<Void, any Error>
        do {
            try await fixture.fill(over: filler)
            result = .success(())
        } catch {
            result = .failure(TestDatabaseError(fixture: error))
        }
        // A database with open connections cannot be copied.
        await filler.close()
        if case .failure = result { try? await drop(name) }
        try result.get()
        return name
    }

    /// Runs a statement outside of a transaction; its names are generated, so they need no quotes.
    private func execute(_ statement: String) async throws {
        try await client.query(SQL(unsafeRaw: statement))
    }
}

/// Returns the address of another database on the same server.
private func replacingDatabase(of uri: String, by name: String) -> String {
    let address = uri.prefix { $0 != "?" }
    let query = uri.dropFirst(address.count + 1).split(separator: "&").filter { !$0.hasPrefix("dbname=") }
    let scheme = address.firstRange(of: "://")?.upperBound ?? address.startIndex
    let host = address[scheme...].firstIndex(of: "/") ?? address.endIndex
    return address[..<host] + "/" + name + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
}
