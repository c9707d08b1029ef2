import Kindred
import KindredTesting
import Logging
import Synchronization
import Testing

/// The log's warnings about sessions that are less safe than they could be.
@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct SecurityWarningTests {
    private final class Log: Sendable {
        private struct Handler: LogHandler {
            let log: Log
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.warning
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) { log.lines.withLock { $0.append("\(event.message)") } }
        }

        private let lines = Mutex<[String]>([])
        var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

        func count(_ word: String) -> Int { lines.withLock { $0.count { $0.contains(word) } } }
    }

    /// The log of a database that several connections of a role use.
    private func log(
        role: String? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> Log {
        let log = Log()
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        if let role { configuration.user = role }
        change(&configuration)
        let database = try await Database.connect(configuration, logger: log.logger)
        try await database.client.withConnection { _ in
            try await database.client.withConnection { _ in try await database.refreshSchema() }
            _ = try await Task.detached { try await database.query("SELECT 1") }.value
        }
        await database.close()
        return log
    }

    private func withRole(_ attributes: String, _ body: (String) async throws -> Void) async throws {
        try await withClient { admin in
            let role = "careful_\(UInt32.random(in: 0..<UInt32.max))"
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN \(unsafeRaw: attributes)")
            do {
                try await body(role)
            } catch {
                _ = try? await admin.query("DROP ROLE \(identifier: role)")
                throw error
            }
            try await admin.query("DROP ROLE \(identifier: role)")
        }
    }

    @Test func aSuperuserIsWarnedOfOnceForAClient() async throws {
        try await withRole("SUPERUSER BYPASSRLS") { role in
            let log = try await log(role: role)
            #expect(log.count("superuser") == 1 && log.count("BYPASSRLS") == 0)
        }
    }

    @Test func aRoleThatBypassesRowSecurityIsWarnedOfAndAnOrdinaryOneIsNot() async throws {
        try await withRole("BYPASSRLS") { role in
            let log = try await log(role: role)
            #expect(log.count("BYPASSRLS") == 1 && log.count("superuser") == 0)
        }
        try await withRole("") { role in
            let log = try await log(role: role)
            #expect(log.count("BYPASSRLS") == 0 && log.count("superuser") == 0 && log.count("search path") == 0)
        }
    }

    @Test func aSchemaInWhichEverybodyMayCreateIsWarnedOfUnlessItIsNotInThePath() async throws {
        try await withClient { admin in
            try await admin.runScript("CREATE SCHEMA own; GRANT CREATE ON SCHEMA public TO PUBLIC")
        }
        #expect(try await log().count("search path that can take the place of PostgreSQL's own (public)") == 1)
        #expect(try await log { $0.searchPath = ["own"] }.count("search path") == 0)
    }

    @Test func aPathInWhichPostgreSQLIsNotFirstIsWarnedOf() async throws {
        let log = try await log { $0.settings["search_path"] = "public, pg_catalog" }
        #expect(log.count("pg_catalog is not the first schema") == 1)
    }
}
