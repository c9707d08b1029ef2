public import KindredPostgres
public import KindredSchema
public import Logging
import Synchronization

/// A PostgreSQL database: a pool of connections, and the model read from its catalog.
///
/// ```swift
/// let database = try await Database.connect("postgres://localhost/shop")
/// let context = database.makeContext()
/// ```
public final class Database: Sendable {
    /// The pool of connections, for everything below objects: raw SQL, exclusive connections, metrics.
    public let client: PostgresClient
    private let runtime: Mutex<SchemaRuntime>
    private let overrides: [SchemaOverride]
    let deletionHooks = DeletionHooks()

    private init(client: PostgresClient, schema: DatabaseSchema, overrides: [SchemaOverride]) {
        self.client = client
        self.overrides = overrides
        runtime = Mutex(SchemaRuntime(schema))
    }

    /// Connects, and reads the catalog in one round trip.
    ///
    /// - Parameters:
    ///   - uri: a connection URI such as `postgres://user@host/shop`, which takes nothing from the environment; nil takes
    ///     `DATABASE_URL` from the environment, else the `PG*` variables.
    ///   - overrides: annotations given in code: names, keys, delete rules.
    ///   - logger: where statements are logged, at trace level, without values.
    /// - Throws: `PostgresError`: `.invalidConfiguration` before anything is sent, `.connectionFailed` naming each address
    ///   tried; `SchemaError` for an annotation that names nothing.
    public static func connect(
        _ uri: String? = nil,
        overrides: [SchemaOverride] = [],
        logger: Logger? = nil
    ) async throws -> Database {
        let configuration =
            try uri.map { try PostgresConfiguration(uri: $0) } ?? PostgresConfiguration.fromEnvironment()
        return try await connect(configuration, overrides: overrides, logger: logger)
    }

    /// Connects with a configuration, and reads the catalog in one round trip.
    public static func connect(
        _ configuration: PostgresConfiguration,
        overrides: [SchemaOverride] = [],
        logger: Logger? = nil
    ) async throws -> Database {
        let client = try await PostgresClient.connect(configuration, logger: logger)
        do {
            let schema = try await SchemaReader.read(from: client, overrides: overrides)
            return Database(client: client, schema: schema, overrides: overrides)
        } catch {
            await client.close()
            throw error
        }
    }

    /// The model as last read: entities, attributes, relationships.
    public var schema: DatabaseSchema { runtime.withLock { $0.schema } }

    /// Reads the catalog again, in one round trip, and returns the new model.
    ///
    /// Contexts that exist keep the model they were made with.
    @discardableResult
    public func refreshSchema() async throws -> DatabaseSchema {
        let schema = try await SchemaReader.read(from: client, overrides: overrides)
        let made = SchemaRuntime(schema)
        runtime.withLock { $0 = made }
        return schema
    }

    /// Makes a unit of work; cheap, and sends nothing.
    public func makeContext() -> DatabaseContext {
        DatabaseContext(database: self, runtime: runtime.withLock { $0 })
    }

    /// Runs raw SQL with bound interpolations: `try await database.query("SELECT … WHERE id = \(id)")`.
    ///
    /// One statement, in the task's transaction if there is one.
    @discardableResult
    public func query(_ sql: SQL) async throws -> QueryResult {
        try await client.query(sql)
    }

    /// Closes the pool: no new work is taken, running statements may finish until the timeout, then every connection is
    /// closed.
    public func close(timeout: Duration = .seconds(5)) async {
        await client.close(timeout: timeout)
    }
}
