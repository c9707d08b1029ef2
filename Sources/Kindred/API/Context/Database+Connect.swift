public import KindredPostgres
public import KindredSchema
public import Logging
import Synchronization

extension Database {
    /// Connects, and reads the catalog in one round trip.
    ///
    /// - Parameters:
    ///   - uri: a connection URI such as `postgres://user@host/shop`, which takes nothing from the environment; nil takes
    ///     `DATABASE_URL` from the environment, else the `PG*` variables.
    ///   - classes: the typed classes of entities, as `kindred generate` writes them; other entities have plain objects.
    ///   - overrides: annotations given in code: names, keys, delete rules.
    ///   - logger: where statements are logged, at trace level, without values. Mistakes of the program that nothing can be
    ///     thrown for, such as reading by a wrong key, are logged as errors: without a logger by one labelled `kindred`.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `PostgresError`: `.invalidConfiguration` before anything is sent, `.connectionFailed` naming each address
    ///   tried; `SchemaError` for an annotation that names nothing; `KindredError` `.classMismatch` with everything in
    ///   which the classes and the database differ.
    public static func connect(
        _ uri: String? = nil,
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        logger: Logger? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Database {
        let configuration =
            try uri.map { try PostgresConfiguration(uri: $0) } ?? PostgresConfiguration.fromEnvironment()
        return try await connect(
            configuration, classes: classes, overrides: overrides, logger: logger, fileID: fileID, line: line)
    }

    /// Connects with a configuration, and reads the catalog in one round trip.
    public static func connect(
        _ configuration: PostgresConfiguration,
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        logger: Logger? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Database {
        let client = try await PostgresClient.connect(configuration, logger: logger)
        do {
            let schema = try await client.called(at: fileID, line) {
                try await SchemaReader.read(from: client, overrides: overrides)
            }
            let runtime = try SchemaRuntime(schema, classes: TypedClasses(classes)).checked()
            return Database(client: client, runtime: runtime, overrides: overrides, logger: logger)
        } catch {
            await client.close()
            throw error
        }
    }

    /// Reads the catalog again, in one round trip, and returns the new model.
    ///
    /// Contexts that exist keep the model they were made with. Throws `KindredError` `.classMismatch` where registered
    /// classes do not fit the new model, which is then not taken over.
    @discardableResult
    public func refreshSchema(fileID: String = #fileID, line: Int = #line) async throws -> DatabaseSchema {
        try await client.called(at: fileID, line) {
            try await SchemaReader.read(from: client, overrides: overrides) { schema in
                try replaceRuntime { SchemaRuntime(schema, classes: $0.registered) }
                return schema
            }
        }
    }

    /// Makes a unit of work; cheap, and sends nothing.
    ///
    /// - Parameter faulting: what the first access to a relationship does; by default it loads it for all objects that were
    ///   read together.
    public func makeContext(faulting: FaultingMode = .batch) -> DatabaseContext {
        ContextCore(database: self, runtime: runtime.withLock { $0 }, faulting: faulting).context
    }

    /// Runs raw SQL with bound interpolations: `try await database.query("SELECT … WHERE id = \(id)")`.
    ///
    /// One statement, in the task's transaction if there is one.
    @discardableResult
    public func query(_ sql: SQL, fileID: String = #fileID, line: Int = #line) async throws -> QueryResult {
        return try await client.called(at: fileID, line) {
            try await client.query(sql)
        }
    }

    /// Closes the pool: no new work is taken, running statements may finish until the timeout, then every connection is
    /// closed.
    public func close(timeout: Duration = .seconds(5)) async {
        await client.close(timeout: timeout)
    }
}
