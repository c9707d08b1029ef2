public import Logging

/// A pool of connections to a PostgreSQL database.
///
/// Statements of many tasks share connections: each is sent by the task that makes it, answered in turn, and has its own
/// fate. A transaction has a connection of its own and is bound to its task.
///
/// ```swift
/// let client = try await PostgresClient.connect(try PostgresConfiguration(uri: "postgres://localhost/shop"))
/// let rows = try await client.query("SELECT name FROM person WHERE id = \(id)")
/// ```
public final class PostgresClient: Sendable {
    /// What the client was made with.
    public let configuration: PostgresConfiguration
    /// What is known of the database's own types.
    package let types = TypeRegistry()
    let pool: ConnectionPool
    let formats = ResultFormats()
    let logger: Logger?
    let observers = StatementObservers()
    let listener: PostgresListener
    let closing = ClosingSignal()

    /// Connects with the first statement.
    init(_ configuration: PostgresConfiguration, _ logger: Logger?) throws {
        try configuration.validate()
        self.configuration = configuration
        self.logger = logger
        listener = try PostgresListener(configuration, logger: logger)
        pool = try ConnectionPool(ConnectionContext(configuration: configuration, types: types, logger: logger))
    }

    deinit {
        pool.abandon()
    }

    /// Opens a first connection, so that a wrong address or password is found out here.
    ///
    /// Throws `PostgresError` `.invalidConfiguration` before anything is sent, `.connectionFailed` with a reason for each
    /// address tried, `.passwordUnavailable` if the configuration's provider gives no password.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and as whom to connect.
    ///   - logger: where connections and statements are logged, without values; nil logs nothing.
    public static func connect(
        _ configuration: PostgresConfiguration,
        logger: Logger? = nil
    ) async throws -> PostgresClient {
        let client = try PostgresClient(configuration, logger)
        try await client.pool.openFirst()
        return client
    }

    /// What the pool holds now, and what it has done so far.
    public var metrics: PoolMetrics { pool.metrics }

    /// Replaces every connection that is open now: idle ones at once, others when they come back.
    ///
    /// For a password or a role's settings that have changed, and for a server that has moved. Nobody is interrupted;
    /// transactions and leases go on with the connection they have. Returns at once and sends nothing of its own.
    public func renewConnections() { pool.renew() }

    /// Takes no more work, lets running statements and transactions finish until the timeout, and closes every connection.
    ///
    /// What is asked of the client afterwards fails with `PostgresError` `.closed`.
    public func close(timeout: Duration = .seconds(5)) async {
        closing.send()
        listener.close()
        await pool.close(timeout: timeout)
        pool.context.notices.finish()
        pool.context.parameterChanges.finish()
    }
}
