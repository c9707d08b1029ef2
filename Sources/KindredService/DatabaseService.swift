public import Kindred
public import KindredPostgres
public import ServiceLifecycle

/// A database in a `ServiceGroup`: it is closed when the group shuts down.
///
/// ```swift
/// let database = try await Database.connect()
/// let group = ServiceGroup(
///     services: [DatabaseService(database), server],
///     gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it before the services that use the database: a group shuts down its services in reverse order, so the database
/// stays open for the last requests.
public struct DatabaseService: Service {
    private let client: PostgresClient
    private let closingTimeout: Duration

    /// A service that closes a database.
    ///
    /// - Parameters:
    ///   - database: the connected database.
    ///   - closingTimeout: how long running statements and transactions may take to end on shutdown, in seconds; after
    ///     that their connections are closed.
    public init(_ database: Database, closingTimeout: Duration = .seconds(5)) {
        self.init(database.client, closingTimeout: closingTimeout)
    }

    /// A service that closes a client without objects; parameters as for a database.
    public init(_ client: PostgresClient, closingTimeout: Duration = .seconds(5)) {
        self.client = client
        self.closingTimeout = closingTimeout
    }

    /// Waits until the group shuts down, the task is cancelled, or the client is closed elsewhere; then closes the client.
    ///
    /// Sends nothing, and throws nothing.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await client.waitForClosing() }
        await client.close(timeout: closingTimeout)
    }
}
