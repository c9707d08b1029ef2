import HarmlessText
public import Kindred
import Synchronization

/// The database of one test, created by the trait ``Testing/Trait/database(_:timeLimit:)``.
public final class TestDatabase: Sendable {
    /// The database's name on its server.
    public let name: String

    /// The database's address, for other clients.
    public let uri: String

    private let server: TestServer
    private let opened = Mutex<[Database]>([])

    init(name: String, uri: String, server: TestServer) {
        self.name = name
        self.uri = uri
        self.server = server
    }

    @TaskLocal static var ofTask: TestDatabase?

    /// The database of the current task's test.
    ///
    /// - Throws: ``TestDatabaseError`` with code `noDatabase` outside a test with the trait, and in detached
    ///   tasks, which do not belong to a test.
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

    /// Connects to the database and reads its schema; the connections are closed at the test's end.
    ///
    /// Sends one query, for the catalog. Waits up to a minute for a connection, because parallel tests share the
    /// processors.
    ///
    /// - Parameters:
    ///   - classes: The classes that objects are made of: `KindredModels.all`.
    ///   - overrides: Names and rules of relationships, in addition to the database's own annotations.
    ///   - configure: Changes the configuration before connecting.
    /// - Returns: The database.
    public func connect(
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> Database {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.pool.acquireTimeout = .seconds(60)
        configure(&configuration)
        let database = try await Database.connect(configuration, classes: classes, overrides: overrides)
        opened.withLock { $0.append(database) }
        return database
    }

    /// Drops the database and returns a description of connections and transactions that the test left open, if any.
    func discard() async -> String? {
        do {
            let problem: String?
            do {
                problem = try await server.openTransactions(in: name)
            } catch {
                problem = "Could not check whether the test left a transaction open: \(error)"
            }
            for database in opened.withLock({ $0 }) { await database.close() }
            try await server.drop(name)
            return problem
        } catch {
            return "This test's database could not be dropped: \(error)"
        }
    }
}

/// The reason why a test got no database.
public struct TestDatabaseError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, for `switch` and `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The task does not belong to a test with the trait.
        public static let noDatabase = Code("noDatabase")
        /// A script of the fixture failed or could not be read.
        public static let fixtureFailed = Code("fixtureFailed")
        /// The server refused to create a database.
        public static let creationFailed = Code("creationFailed")
        /// The replica of ``ReplicatedServers`` did not take the place of the primary.
        public static let failoverFailed = Code("failoverFailed")
    }

    /// The kind of failure.
    public let code: Code

    /// One sentence: the failure and its remedy.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.harmless
    }

    /// The error of a fixture's script.
    init(fixture error: any Error) {
        let reason = (error as? PostgresError).map(\.debugDescription) ?? "\(error)"
        self.init(.fixtureFailed, "The fixture's script failed: \(reason)")
    }

    /// The message.
    public var description: String { message }
}
