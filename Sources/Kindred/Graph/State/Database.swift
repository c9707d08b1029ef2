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
    /// The pool as contexts without settings use it.
    private let plainClient: PostgresClient
    /// The servers to read from; nil for a database without replicas.
    let replicas: ReplicaSet?
    /// The settings without which no context sends anything.
    let requiredSettings: [String]
    let model: RankedMutex<SchemaRuntime>
    let tenantModels = RankedMutex(TenantModels(), .leaf)
    /// The tenants with schemas of their own; nil if there are none.
    let schemaTenants: SchemaTenants?
    /// The limits of the connections of tenants that have contexts, which keep them.
    let tenantLimits = RankedMutex(WeakReferences<ContextTenant>(), .leaf)
    package let overrides: [SchemaOverride]
    /// The keys of relationships that the program knows; nil for no check.
    let names: RelationshipNames?
    let registeredHooks = RegisteredHooks()
    package let mistakes: MistakeLog
    /// The companion that a product above has made; nil before it is needed.
    package let companion: RankedMutex<(any DatabaseCompanion)?>

    init(
        client: PostgresClient, replicas: ReplicaSet? = nil, runtime: SchemaRuntime, overrides: [SchemaOverride],
        names: RelationshipNames? = nil, requiredSettings: [String] = [], schemaTenants: SchemaTenants? = nil,
        companion: (any DatabaseCompanion)? = nil, logger: Logger?
    ) {
        self.companion = RankedMutex(companion, .leaf)
        self.schemaTenants = schemaTenants
        mistakes = MistakeLog(logger)
        self.client = client
        self.replicas = replicas
        self.requiredSettings = requiredSettings
        let refusal = KindredError(missingSettings: requiredSettings)
        plainClient = client.with(requiredSettings.isEmpty ? SessionSettings.none : .refused(refusal))
        self.overrides = overrides
        self.names = names
        model = RankedMutex(runtime, .leaf)
    }

    /// The figures of following changes; zeros where nothing follows.
    package var trackingMetrics: Tracking.Metrics { companion.withLock { $0 }?.metrics ?? Tracking.Metrics() }

    /// The model as last read: entities, attributes, relationships.
    public var schema: DatabaseSchema { runtime.schema }

    /// The model as last read, prepared for use.
    package var runtime: SchemaRuntime { model.withLock { $0 } }

    /// Replaces the model for contexts made from now on.
    func replaceRuntime(_ change: (SchemaRuntime) throws -> SchemaRuntime) throws {
        try model.withLock { model in
            let runtime = try change(model)
            if runtime !== model { model = try runtime.checked() }
        }
    }

    /// The pool as a context with some settings uses it; nil stands for a context without settings.
    ///
    /// - Parameter tenant: whose limit of connections holds.
    func contextClient(
        with settings: SessionSettings?, _ reads: ReadRoute? = nil, of tenant: ContextTenant? = nil
    ) -> PostgresClient {
        if settings == nil, reads == nil { return plainClient }
        return client.with(
            settings ?? plainClient.settings, recordingIn: reads?.positions, limit: tenant.flatMap { limit(of: $0) })
    }

    /// The types of the database, which encode values.
    package var types: TypeRegistry { client.types }

    /// The longest time that a task waits for its turn to change a context.
    var turnTimeout: Duration { client.configuration.pool.acquireTimeout }

    /// The time in which replicas show a write; nil where servers tell positions.
    var replicaDelay: Duration? { client.configuration.replicaDelay }
}

extension KindredError {
    /// The error of a context that lacks settings which the database requires; `role` stands for the role.
    init(missingSettings names: [String]) {
        self.init(
            .missingSettings,
            """
            The context has no \(names.joined(separator: ", ")), which the database was connected to require of each: make it \
            by makeContext(settings:role:)
            """)
    }
}

/// A reference that keeps nothing.
package struct WeakReference {
    package weak var object: (any AnyObject & Sendable)?

    /// Nothing is there yet.
    package init() {}

    fileprivate init(_ object: (any AnyObject & Sendable)?) { self.object = object }

    /// The object that is there, or else the given one, which is kept from now on.
    package mutating func first<Object: AnyObject & Sendable>(or made: Object) -> Object {
        if let known = object as? Object { return known }
        object = made
        return made
    }
}

/// References that keep nothing, by a key that contexts have in common, such as their settings or tenant.
package struct WeakReferences<Key: Hashable & Sendable> {
    private var references: [Key: WeakReference] = [:]
    /// The number of references at which references to released objects are removed.
    private var bound = 16

    /// No references.
    package init() {}

    package subscript(key: Key) -> (any AnyObject & Sendable)? {
        get { references[key]?.object }
        set {
            if references.count >= bound {
                references = references.filter { $0.value.object != nil }
                bound = max(16, 2 * references.count)
            }
            references[key] = WeakReference(newValue)
        }
    }

    /// The objects that are not released.
    package var objects: [any AnyObject & Sendable] { references.values.compactMap(\.object) }

    /// The object that is there, or else the given one, which is kept from now on.
    package mutating func first<Object: AnyObject & Sendable>(or made: Object, for key: Key) -> Object {
        if let known = self[key] as? Object { return known }
        self[key] = made
        return made
    }
}
