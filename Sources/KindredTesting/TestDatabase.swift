/// The database that belongs to one test, made by the trait ``Testing/Trait/database(_:)``.
public final class TestDatabase: Sendable {
    /// The database's name on its server.
    public let name: String

    /// The database's address, for connecting to it in any way.
    public let uri: String

    private let server: TestServer

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

    /// Drops the database and returns what the test should not have left behind, if anything.
    func discard() async -> String? {
        do {
            let problem = try await server.openTransactions(in: name)
            try await server.drop(name)
            return problem
        } catch {
            return "The database of this test could not be dropped: \(error)"
        }
    }
}
