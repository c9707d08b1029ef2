public import KindredPostgres
public import KindredSchema
public import Logging
import Synchronization

extension Database {
    /// Connects, and reads the catalog in one round trip.
    ///
    /// - Parameters:
    ///   - uri: a connection URI such as `postgres://user@host/shop`, which ignores the environment; nil uses
    ///     `DATABASE_URL`, else the `PG*` variables.
    ///   - classes: the typed classes of entities, as `kindred generate` writes them; objects of other entities are
    ///     untyped.
    ///   - overrides: annotations in code: names, keys, delete rules.
    ///   - names: the keys of relationships that the program knows, as `kindred inspect --save` wrote them: a key that leads
    ///     elsewhere now is an error; nil for no check.
    ///   - tracking: how changes of other processes are noticed, where a program follows them.
    ///   - requiredSettings: the settings that every context must be given, by
    ///     ``makeContext(settings:role:loading:tracking:reading:after:)``, so that none is forgotten; `role` stands for the role. A context without them throws `KindredError` `.missingSettings`
    ///     instead of sending anything. SQL of ``query(_:reading:fileID:line:)`` and of `client` is not concerned.
    ///   - tenants: how tenants with tables of their own are kept apart; nil without any.
    ///   - logger: receives statements at trace level, without values. Programming errors that cannot be thrown, such
    ///     as reading an unknown key, are logged as errors; without a logger they go to one labelled `kindred`.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `PostgresError`: `.invalidConfiguration` before anything is sent, `.connectionFailed` naming each
    ///   address tried; `SchemaError` for an annotation whose subject does not exist; `KindredError` `.classMismatch`
    ///   with all differences between the classes and the database, `.keysChanged` with all keys that lead elsewhere than `names`
    ///   says.
    public static func connect(
        _ uri: String? = nil,
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        names: RelationshipNames? = nil,
        tracking: Tracking.Options = Tracking.Options(),
        requiredSettings: [String] = [],
        tenants: Tenants? = nil,
        logger: Logger? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Database {
        let configuration =
            try uri.map { try PostgresConfiguration(uri: $0) } ?? PostgresConfiguration.fromEnvironment()
        return try await connect(
            configuration, classes: classes, overrides: overrides, names: names, tracking: tracking,
            requiredSettings: requiredSettings, tenants: tenants, logger: logger, fileID: fileID, line: line)
    }

    /// Connects with a configuration, and reads the catalog in one round trip.
    public static func connect(
        _ configuration: PostgresConfiguration,
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        names: RelationshipNames? = nil,
        tracking: Tracking.Options = Tracking.Options(),
        requiredSettings: [String] = [],
        tenants: Tenants? = nil,
        logger: Logger? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Database {
        try await connect(
            configuration, servers: [], classes: classes, overrides: overrides, names: names, tracking: tracking,
            requiredSettings: requiredSettings, tenants: tenants, logger: logger,
            at: SourcePlace(fileID: fileID, line: line))
    }

    /// - Parameter servers: the servers to read from; none for a database without replicas.
    static func connect(
        _ configuration: PostgresConfiguration, servers: [PostgresConfiguration], classes: [any TypedObject.Type],
        overrides: [SchemaOverride], names: RelationshipNames?, tracking: Tracking.Options, requiredSettings: [String],
        tenants: Tenants? = nil, logger: Logger?, at place: SourcePlace
    ) async throws -> Database {
        try tracking.choices?.validate()
        // An annotation in code comes before the key that a class was generated with.
        let overrides = classes.compactMap { EntityClass($0).preferredKey } + overrides
        let (client, replicas) = try await PostgresClient.connect(configuration, among: servers, logger: logger)
        do {
            let classes = TypedClasses(classes.map { EntityClass($0) })
            let schemaTenants = tenants.map { SchemaTenants(template: $0.template, classes: classes) }
            let runtime = try await client.called(at: place) {
                if let schemaTenants {
                    return try await schemaTenants.read(from: client, overrides: overrides, names: names)
                }
                let schema = try await SchemaReader.readServing(from: client, overrides: overrides) { found in
                    try found.servingFilters()
                }
                try names?.check(schema)
                return try SchemaRuntime(schema, classes: classes).checked()
            }
            return Database(
                client: client, replicas: replicas, runtime: runtime,
                overrides: overrides, names: names, requiredSettings: requiredSettings, schemaTenants: schemaTenants,
                companion: try tracking.choices?.companion(for: client, replicas: replicas, logger: logger),
                logger: logger)
        } catch {
            await client.close()
            throw error
        }
    }

    /// Reads the catalog again, in one round trip, and returns the new model.
    ///
    /// Existing contexts keep their model. Throws `KindredError` `.classMismatch` if registered classes do not match
    /// the new model, and `.keysChanged` if keys lead elsewhere than the names given to `connect` say; it is discarded then.
    @discardableResult
    public func refreshSchema(fileID: String = #fileID, line: Int = #line) async throws -> DatabaseSchema {
        try await client.called(at: fileID, line) { try await readModel() }
    }

    /// Makes a unit of work; cheap, and sends nothing.
    ///
    /// - Parameters:
    ///   - loading: the effect of the first access to a relationship; by default it loads the relationship for all
    ///     objects fetched together.
    ///   - tracking: whether the context follows committed changes; see ``DatabaseContext/Tracking``.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    public func makeContext(
        loading: RelationshipLoading = .batch, tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil
    ) -> DatabaseContext {
        // Where settings are required the context sends nothing, and so has nothing to follow.
        let feed = requiredSettings.isEmpty ? tracking.feed : nil
        let following = feed.map { ChangeFollowing($0(self, .none)) }
        return ContextCore(
            database: self, model: model.withLock { $0 }, reads: route(reading, after: position), loading: loading,
            following: following
        ).context
    }

    /// Makes a context for the duration of `body`, and discards unsaved changes at the end, also if `body` throws.
    ///
    /// ```swift
    /// try await database.withContext { context in
    ///     let person = try context.add("person", ["surname": "Holloway"])
    ///     try await context.save()
    /// }
    /// ```
    ///
    /// A context and its objects with staged changes reference each other, so that no change is lost with the last
    /// reference to one of them. The end of the scope breaks that cycle, as ``DatabaseContext/rollback()`` does: a
    /// request that fails between staging and saving leaks no memory. Sends nothing itself.
    ///
    /// - Parameters:
    ///   - loading: the effect of the first access to a relationship; by default it loads the relationship for all
    ///     objects fetched together.
    ///   - tracking: whether the context follows committed changes; see ``DatabaseContext/Tracking``.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    ///   - body: uses the context.
    public func withContext<T>(
        loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil,
        _ body: (DatabaseContext) async throws -> T
    ) async rethrows -> T {
        let context = makeContext(loading: loading, tracking: tracking, reading: reading, after: position)
        defer { context.core.rollback() }
        return try await body(context)
    }

    /// Runs raw SQL with bound interpolations: `try await database.query("SELECT … WHERE id = \(id)")`.
    ///
    /// One statement, in the task's transaction if there is one.
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - reading: the servers that may answer it; see ``DatabaseContext/query(_:reading:fileID:line:)``. Without a context there is
    ///     no position that a replica would have to have replayed.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Returns: the rows, and the number of changed rows.
    /// - Throws: as a context's `query` does.
    @discardableResult
    public func query(
        _ sql: SQL, reading: DatabaseContext.Reading = .primary, fileID: String = #fileID, line: Int = #line
    ) async throws -> QueryResult {
        return try await client.called(at: fileID, line) {
            try reading.admit(sql)
            guard reading != .primary, replicas != nil, let reads = route(reading, after: nil) else {
                return try await client.query(sql)
            }
            return try await reads.read(try client.statement(of: sql), over: client, notOnReplica: nil)
        }
    }

    /// Closes the pool: it refuses new work, lets running statements finish until the timeout, and then closes every
    /// connection.
    public func close(timeout: Duration = .seconds(5)) async {
        await companion.withLock { $0 }?.close()
        await client.close(timeout: timeout)
        await replicas?.close()
    }
}
