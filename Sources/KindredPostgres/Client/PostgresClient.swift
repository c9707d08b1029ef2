public import Logging
import Synchronization

/// A pool of connections to a PostgreSQL database.
///
/// Statements of many tasks share connections; each is sent by its own task and succeeds or fails alone. A transaction
/// has a connection to itself and is bound to its task.
///
/// ```swift
/// let client = try await PostgresClient.connect(try PostgresConfiguration(uri: "postgres://localhost/shop"))
/// let rows = try await client.query("SELECT name FROM person WHERE id = \(id)")
/// ```
public final class PostgresClient: Sendable {
    /// The configuration that the client was made with.
    public let configuration: PostgresConfiguration
    /// The database's own types, as far as they were loaded.
    package let types: TypeRegistry
    let pool: ConnectionPool
    let formats: ResultFormats
    let logger: Logger?
    let observers: StatementObservers
    let listener: PostgresListener
    let closing: AsyncLatch
    /// The features of the server, once it was asked; of the client that has the connections.
    let knownCapabilities = RankedMutex<ServerCapabilities?>(nil, .leaf)
    /// The way of its statements.
    let route: StatementRoute
    /// The client that owns the pool; nil for the owner itself.
    private let owner: PostgresClient?

    /// Connects with the first statement.
    init(_ configuration: PostgresConfiguration, _ logger: Logger?) throws {
        try configuration.validate()
        self.configuration = configuration
        self.logger = logger
        (types, formats, observers, closing) = (TypeRegistry(), ResultFormats(), StatementObservers(), AsyncLatch())
        owner = nil
        listener = try PostgresListener(configuration, logger: logger)
        pool = try ConnectionPool(
            ConnectionContext(
                configuration: configuration, types: types, logger: logger,
                primary: listener.startupRequirements.primary))
        route = StatementRoute(pool)
    }

    /// Uses the connections of another client, for statements that run with settings, or whose positions are asked for.
    private init(
        _ owner: PostgresClient, _ settings: SessionSettings?, recordingIn positions: PositionRecord?,
        limit: ConnectionLimit?
    ) {
        self.owner = owner
        route = StatementRoute(owner.pool, settings: settings, positions: positions, limit: limit)
        (configuration, types, logger) = (owner.configuration, owner.types, owner.logger)
        (pool, formats, observers) = (owner.pool, owner.formats, owner.observers)
        (listener, closing) = (owner.listener, owner.closing)
    }

    /// Connects to another server of the same database with the first statement; its types are the same, and observers see its
    /// statements too.
    private init(_ configuration: PostgresConfiguration, besides other: PostgresClient) throws {
        try configuration.validate()
        self.configuration = configuration
        owner = nil
        (types, formats, observers, logger) = (other.types, other.formats, other.observers, other.logger)
        closing = AsyncLatch()
        listener = try PostgresListener(configuration, logger: logger)
        pool = try ConnectionPool(
            ConnectionContext(configuration: configuration, types: types, logger: logger, isForReads: true))
        route = StatementRoute(pool)
    }

    deinit {
        if owner == nil { pool.abandon() }
    }

    /// The client whose every statement runs with the given settings, over the same connections and in the same transactions.
    ///
    /// - Parameters:
    ///   - settings: nil, as for the program's own SQL, stands for the settings of the transaction around a statement.
    ///   - positions: takes the positions of the client's writes; nil asks for none.
    ///   - limit: the limit of connections that it may use at once, together with all clients that have the same limit.
    package func with(
        _ settings: SessionSettings?, recordingIn positions: PositionRecord? = nil, limit: ConnectionLimit? = nil
    ) -> PostgresClient {
        PostgresClient(origin, settings, recordingIn: positions, limit: limit)
    }

    /// A client for another server of the database, such as a replica; it connects with its first statement.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    func reader(_ configuration: PostgresConfiguration) throws -> PostgresClient {
        try PostgresClient(configuration, besides: origin)
    }

    /// The client that has the connections; transactions and leases are looked up by it, for all clients that use its
    /// connections.
    var origin: PostgresClient { owner ?? self }

    /// Connects once, so that a wrong address or password fails here.
    ///
    /// Throws `PostgresError` `.invalidConfiguration` before anything is sent, `.connectionFailed` with a reason for each
    /// address tried, `.passwordUnavailable` if the configuration's provider gives no password.
    ///
    /// - Parameters:
    ///   - configuration: the servers, the role and the options.
    ///   - logger: where connections and statements are logged, without values; nil logs nothing.
    public static func connect(
        _ configuration: PostgresConfiguration,
        logger: Logger? = nil
    ) async throws -> PostgresClient {
        let client = try PostgresClient(configuration, logger)
        try await client.pool.openFirst()
        return client
    }

    /// Connects to the primary among several servers, while samples are taken of all.
    ///
    /// - Parameter servers: all servers, for reads; without any there are no samples.
    package static func connect(
        _ configuration: PostgresConfiguration, among servers: [PostgresConfiguration], logger: Logger?
    ) async throws -> (PostgresClient, ReplicaSet?) {
        let client = try PostgresClient(configuration, logger)
        do {
            // Before the first connection, which may find two primaries: the samples say when there is one again.
            let replicas = servers.isEmpty ? nil : try ReplicaSet(servers, of: client)
            try await client.pool.openFirst()
            return (client, replicas)
        } catch {
            await client.close(timeout: .zero)
            throw error
        }
    }

    /// Lends the client to `body`, and closes it afterwards, also where `body` throws.
    package func lend<T>(_ body: (PostgresClient) async throws -> T) async throws -> T {
        do {
            let result = try await body(self)
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    /// The pooler before the server: as configured, or as found so far; never `.automatic`.
    public var pooler: PostgresConfiguration.Pooler { pool.context.pooler }

    /// The pool's gauges and counters.
    public var metrics: PoolMetrics { pool.metrics }

    /// Replaces every open connection: idle connections at once, others when they are given back.
    ///
    /// For a changed password, changed settings of a role, or a server that has moved. Open transactions and leases
    /// keep their connection. Returns at once and sends nothing.
    public func renewConnections() { pool.renew() }

    /// Refuses new work, lets running statements and transactions finish until the timeout, and closes every
    /// connection.
    ///
    /// Later calls fail with `PostgresError` `.closed`.
    public func close(timeout: Duration = .seconds(5)) async {
        closing.open()
        listener.close()
        await pool.close(timeout: timeout)
        pool.context.notices.finish()
        pool.context.parameterChanges.finish()
    }

    /// Waits until the client is closed or the task is cancelled, then closes the client.
    ///
    /// Optional; for a task of the program's own. In a `ServiceGroup` use `DatabaseService` of `KindredService`: this
    /// method does not notice a graceful shutdown.
    public func run() async throws {
        await waitForClosing()
        await close()
    }

    /// Waits until the client is closed or the task is cancelled.
    package func waitForClosing() async {
        try? await closing.wait()
    }
}
