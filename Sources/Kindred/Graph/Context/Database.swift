public import KindredPostgres
public import KindredSchema
import Logging
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
    let runtime: RankedMutex<SchemaRuntime>
    let overrides: [SchemaOverride]
    let registeredHooks = RegisteredHooks()
    let mistakes: MistakeLog

    init(client: PostgresClient, runtime: SchemaRuntime, overrides: [SchemaOverride], logger: Logger?) {
        mistakes = MistakeLog(logger)
        self.client = client
        self.overrides = overrides
        self.runtime = RankedMutex(runtime, .leaf)
    }

    /// The model as last read: entities, attributes, relationships.
    public var schema: DatabaseSchema { runtime.withLock { $0.schema } }

    /// Replaces the model for contexts made from now on.
    func replaceRuntime(_ change: (SchemaRuntime) throws -> SchemaRuntime) throws {
        try runtime.withLock { $0 = try change($0).checked() }
    }

    /// The types of the database, which encode values.
    var types: TypeRegistry { client.types }

    /// The longest time that a task waits for its turn to change a context.
    var turnTimeout: Duration { client.configuration.pool.acquireTimeout }
}
