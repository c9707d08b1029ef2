public import Kindred
public import KindredPostgres
public import ServiceLifecycle

/// A database in a `ServiceGroup`: it is there as long as the group runs, and closed when the group shuts down.
///
/// ```swift
/// let database = try await Database.connect()
/// let group = ServiceGroup(
///     services: [DatabaseService(database), server],
///     gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// Name it before the services that use the database: a group shuts its services down from the last to the first, so that
/// requests which are still answered find the database open.
public struct DatabaseService: Service {
    private let client: PostgresClient
    private let closingTimeout: Duration

    /// A service that closes a database.
    ///
    /// - Parameters:
    ///   - database: the database, connected already.
    ///   - closingTimeout: how long running statements and transactions may take to end when the group shuts down, in
    ///     seconds as the literal says; after that their connections are closed.
    public init(_ database: Database, closingTimeout: Duration = .seconds(5)) {
        self.init(database.client, closingTimeout: closingTimeout)
    }

    /// A service that closes a client without objects; parameters as for a database.
    public init(_ client: PostgresClient, closingTimeout: Duration = .seconds(5)) {
        self.client = client
        self.closingTimeout = closingTimeout
    }

    /// Waits until the group shuts down, its task is cancelled, or the client is closed otherwise, and closes the client.
    ///
    /// Sends nothing by itself, and throws nothing.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await client.waitForClosing() }
        await client.close(timeout: closingTimeout)
    }
}
