import EmbeddedPostgres
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The server that this process makes its test databases on.
final class TestServer: Sendable {
    private let uri: String
    /// Keeps the embedded server running, and tells where its programs are.
    private let embedded: EmbeddedPostgres?
    /// Part of every name, so that processes that share a server do not meet.
    private let run = String(String(UInt64.random(in: 0...UInt64.max), radix: 36).suffix(8))
    private let state = Mutex(State())

    private struct State {
        var databaseCount = 0
        var templates: [DatabaseFixture: Task<String, any Error>] = [:]
    }

    private init(uri: String, embedded: EmbeddedPostgres?) {
        self.uri = uri
        self.embedded = embedded
    }

    static func shared() async throws -> TestServer {
        let start = sharedStart.withLock { start in
            if let start { return start }
            let new = Task {
                if let uri = ProcessInfo.processInfo.environment["DATABASE_URL"], !uri.isEmpty {
                    return TestServer(uri: uri, embedded: nil)
                }
                let server = try await EmbeddedPostgres.shared()
                return TestServer(uri: server.uri, embedded: server)
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
            return "kindred_test_\(run)_\(state.databaseCount)"
        }
        _ = try await execute("CREATE DATABASE \(name) TEMPLATE \(template)")
        return TestDatabase(name: name, uri: replacingDatabase(of: uri, by: name), server: self)
    }

    func drop(_ name: String) async throws {
        _ = try await execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// Describes the transactions that are still open in a database, or returns nil.
    func openTransactions(in name: String) async throws -> String? {
        let rows = try await execute(
            "SELECT state || ': ' || query FROM pg_stat_activity WHERE datname = '\(name)' AND state LIKE 'idle in transaction%'"
        )
        return rows.isEmpty ? nil : "The test left a transaction open (\(rows))."
    }

    /// Returns the template of a fixture, made by the first test that asks.
    private func template(for fixture: DatabaseFixture) async throws -> String {
        let task = state.withLock { state in
            if let task = state.templates[fixture] { return task }
            let name = "kindred_template_\(run)_\(state.templates.count + 1)"
            let new = Task { try await makeTemplate(name, fixture) }
            state.templates[fixture] = new
            return new
        }
        return try await task.value
    }

    private func makeTemplate(_ name: String, _ fixture: DatabaseFixture) async throws -> String {
        _ = try await execute("CREATE DATABASE \(name) TEMPLATE template0")
        for script in try fixture.scripts() {
            _ = try await PostgresInstallation.psql(
                replacingDatabase(of: uri, by: name), script: script, in: embedded?.installation.binFolder)
        }
        return name
    }

    private func execute(_ statement: String) async throws -> String {
        try await PostgresInstallation.psql(
            uri, script: statement, in: embedded?.installation.binFolder, singleTransaction: false)
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
