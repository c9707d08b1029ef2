public import Kindred
import Synchronization

/// The database that belongs to one test, made by the trait ``Testing/Trait/database(_:)``.
public final class TestDatabase: Sendable {
    /// The database's name on its server.
    public let name: String

    /// The database's address, for connecting to it in any way.
    public let uri: String

    private let server: TestServer
    private let opened = Mutex<[Database]>([])

    init(name: String, uri: String, server: TestServer) {
        self.name = name
        self.uri = uri
        self.server = server
    }

    @TaskLocal static var ofTask: TestDatabase?

    /// The database of the test that the current task belongs to.
    ///
    /// - Throws: ``TestDatabaseError`` with code `noDatabase` outside a test that has the trait, and in
    ///   detached tasks, which have no part in a test.
    public static var current: TestDatabase {
        get throws {
            guard let database = ofTask else {
                throw TestDatabaseError(
                    .noDatabase,
                    "This task has no test database: add the trait .database to the test or its suite, and do not "
                        + "ask from a detached task.")
            }
            return database
        }
    }

    /// Connects to the database and reads its schema; the connections are closed when the test is over.
    ///
    /// Sends one query, for the catalog. Waits for a connection as long as a minute, because tests that run side by side
    /// share the processors.
    ///
    /// - Parameters:
    ///   - overrides: Names and rules of relationships, in addition to the database's own annotations.
    ///   - configure: Changes the configuration before it is used.
    /// - Returns: The database.
    public func connect(
        overrides: [SchemaOverride] = [],
        configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> Database {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.pool.acquireTimeout = .seconds(60)
        configure(&configuration)
        let database = try await Database.connect(configuration, overrides: overrides)
        opened.withLock { $0.append(database) }
        return database
    }

    /// Drops the database and returns what the test should not have left behind, if anything.
    func discard() async -> String? {
        do {
            let problem: String?
            do {
                problem = try await server.openTransactions(in: name)
            } catch {
                problem = "Nobody knows whether the test left a transaction open: \(error)"
            }
            for database in opened.withLock({ $0 }) { await database.close() }
            try await server.drop(name)
            return problem
        } catch {
            return "The database of this test could not be dropped: \(error)"
        }
    }
}
