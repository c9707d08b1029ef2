import KindredPostgres
import KindredSchema
import Synchronization

/// A tenant with a schema of its own, and the model that it shares with tenants whose schemas have the same shape.
struct KnownTenant: Sendable {
    let schema: TenantSchema
    let runtime: SchemaRuntime
}

/// The tenants with schemas of their own that a database has used, and their models: one for each shape.
///
/// A shape is a catalog without OIDs and without the schema's name. Models name tables by the template's schema.
final class SchemaTenants: Sendable {
    /// The tables and names that all tenants share, as read at one time.
    final class Shared: Sendable {
        /// The schemas behind the tenant's in the search path, and their tables.
        let path: [String]
        let part: SchemaPart
        /// The names of the template's relations, by which the tenants' relations are found.
        let names: [String]

        init(path: [String], part: SchemaPart, names: [String]) {
            (self.path, self.part, self.names) = (path, part, names)
        }
    }

    /// A model, and its types in the order of the shape.
    private struct Model {
        let runtime: SchemaRuntime
        let types: [UInt32]
    }

    private struct State {
        var shared: Shared?
        var template: SchemaRuntime?
        var models: [Catalog: Model] = [:]
        var tenants: [ServerText: KnownTenant] = [:]
    }

    /// The schema whose tables have the shape of the tenants'.
    let template: String
    let classes: TypedClasses
    private let state = RankedMutex(State(), .leaf)

    init(template: String, classes: TypedClasses) { (self.template, self.classes) = (template, classes) }

    var shared: Shared? { state.withLock { $0.shared } }

    /// The model of the template.
    var templateModel: SchemaRuntime? { state.withLock { $0.template } }

    func tenant(_ name: String) -> KnownTenant? { state.withLock { $0.tenants[name] } }

    /// Forgets a tenant: its schema is read again when it is next used.
    func forget(_ name: String) { state.withLock { $0.tenants[name] = nil } }

    /// Forgets all tenants, and begins with the template: the schemas of tenants are read again when they are next used.
    func begin(_ shared: Shared, template: SchemaRuntime, _ catalog: Catalog) {
        let shape = catalog.shape()
        state.withLock { state in
            state = State(shared: shared, template: template)
            if let shape { state.models[shape.catalog] = Model(runtime: template, types: shape.types) }
        }
    }

    /// The model for a shape, and the tenant's types by the model's types, where they differ.
    func model(
        for shape: (catalog: Catalog, types: [UInt32])
    ) -> (runtime: SchemaRuntime, types: [PostgresDataType: PostgresDataType])? {
        guard let model = state.withLock({ $0.models[shape.catalog] }) else { return nil }
        let pairs = zip(model.types, shape.types).lazy.filter { $0 != $1 }
        return (
            model.runtime,
            Dictionary(
                pairs.map { (PostgresDataType(rawValue: $0), PostgresDataType(rawValue: $1)) },
                uniquingKeysWith: { first, _ in first })
        )
    }

    /// Keeps a tenant, unless another task has read it first, or all were read again meanwhile.
    ///
    /// - Parameter shape: the shape of a new model; nil for a model that is known, or that is not shared.
    func keep(
        _ tenant: KnownTenant, read shared: Shared, newShape shape: (catalog: Catalog, types: [UInt32])?
    ) -> KnownTenant {
        state.withLock { state in
            guard state.shared === shared else { return tenant }
            if let known = state.tenants[tenant.schema.name] { return known }
            if let shape, state.models[shape.catalog] == nil {
                state.models[shape.catalog] = Model(runtime: tenant.runtime, types: shape.types)
            }
            state.tenants[tenant.schema.name] = tenant
            return tenant
        }
    }
}

extension SchemaRuntime {
    /// The name in the model of a table that the server names: a tenant's has the template's schema here.
    func name(ofServers name: QualifiedName) -> QualifiedName {
        if self[name]?.name.isTenants == false { return name }
        guard let schema = schema.searchPath.first,
            let own = self[QualifiedName(schema: schema, name: name.name)]?.name, own.isTenants
        else { return name }
        return own
    }
}
