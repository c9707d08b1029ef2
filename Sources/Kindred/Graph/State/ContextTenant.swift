import KindredPostgres
import KindredSchema
import Synchronization

/// The tenant of a context, whose rows alone it reads and writes.
package struct ContextTenant: Sendable, Hashable {
    /// The column by which rows are the tenant's, in every table that has it.
    package let column: String
    package let value: PostgresValue

    /// Whether a value of the column is the tenant's.
    func owns(_ value: PostgresValue?) -> Bool {
        value == self.value || value?.description == self.value.description
    }
}

/// The models of contexts with tenants, by the name of the column: all tenants share one.
struct TenantModels: Sendable {
    /// The model from which they were made.
    private var base: SchemaRuntime?
    private var models: [ServerText: SchemaRuntime] = [:]

    func model(_ column: String, of runtime: SchemaRuntime) -> SchemaRuntime? {
        base === runtime ? models[column] : nil
    }

    /// Keeps a model, unless another task has made it first.
    mutating func keep(_ model: SchemaRuntime, _ column: String, of runtime: SchemaRuntime) -> SchemaRuntime {
        if base !== runtime { (base, models) = (runtime, [:]) }
        if let known = models[column] { return known }
        models[column] = model
        return model
    }
}

extension Database {
    /// The limit of a tenant's connections; nil if there is none.
    func limit(of tenant: ContextTenant) -> ConnectionLimit? {
        guard client.configuration.pool.maximumConnectionsPerTenant != nil else { return nil }
        if let known = tenantLimits.withLock({ $0[tenant] }) as? ConnectionLimit { return known }
        guard let made = client.tenantLimit() else { return nil }
        return tenantLimits.withLock { $0.first(or: made, for: tenant) }
    }

    /// The model as last read for contexts of tenants, made on first use.
    ///
    /// Throws `KindredError` `.invalidRequest` if no table has the column.
    func model(ofTenantsBy column: String) throws -> SchemaRuntime {
        try model(ofTenantsBy: column, in: runtime)
    }

    /// A model for contexts of tenants, which is kept as long as it is asked for.
    fileprivate func model(ofTenantsBy column: String, in base: SchemaRuntime) throws -> SchemaRuntime {
        if let known = tenantModels.withLock({ $0.model(column, of: base) }) { return known }
        guard base.schema.entities.contains(where: { $0.belongsToTenants && $0.attribute(named: column) != nil }) else {
            throw KindredError(
                .invalidRequest, "No entity has the column \(column), by which rows would be a tenant's", key: column)
        }
        var schema = base.schema
        schema.tenantColumn = column
        let made = try SchemaRuntime(schema, classes: base.registered).checked(asIn: base)
        return tenantModels.withLock { $0.keep(made, column, of: base) }
    }
}

extension SchemaRuntime {
    /// The model that a context has that is made from this one, with the tenant and role of a context of a former model.
    package func model(as former: ContextCore) throws -> SchemaRuntime {
        let base = try former.tenant.map { try former.database.model(ofTenantsBy: $0.column, in: self) } ?? self
        let hasRole = former.settings.missing(among: ["role"]).isEmpty
        return try base.model(for: hasRole ? "" : nil)
    }
}

extension ContextCore {
    /// The schema of the context's tenant; nil unless the tenant has tables of its own.
    package var tenantSchema: TenantSchema? { client.settings?.schema }

    /// Whether objects of another context are the same tenant's.
    func hasTenant(of other: ContextCore) -> Bool {
        tenant == other.tenant && tenantSchema?.name == other.tenantSchema?.name
    }

    /// The entity that an ID names; nil if there is none.
    ///
    /// IDs have the schemas of tenants. Throws `.otherTenant` for the ID of another one's object.
    package func entity(named name: QualifiedName) throws -> EntityRuntime? {
        guard let tenantSchema else { return runtime[name] }
        if let shared = runtime[name], !shared.name.isTenants { return shared }
        guard let template = runtime.schema.searchPath.first,
            let own = runtime[QualifiedName(schema: template, name: name.name)]
        else { return nil }
        guard name.schema == tenantSchema.name else { throw otherTenant(own) }
        return own
    }

    /// Throws if a value names another tenant in the column of an entity that says whose a row is.
    func requireTenant(_ value: PostgresValue?, in column: Int, of entity: EntityRuntime, key: String?) throws {
        guard let tenant, column == entity.tenantColumn, !tenant.owns(value) else { return }
        throw otherTenant(entity, key: key)
    }

    /// Throws if an ID names another tenant.
    func requireTenant(of id: ObjectID, _ entity: EntityRuntime) throws {
        guard let column = entity.tenantColumn, entity.key.contains(column) else { return }
        let value = try id.attributeValue(named: entity.entity.attributes[column].name)
        try requireTenant(value, in: column, of: entity, key: nil)
    }

    /// The error for a row that the context's tenant does not have; it does not tell whether there is such a row.
    func otherTenant(_ entity: EntityRuntime, key: String? = nil) -> KindredError {
        KindredError(
            .otherTenant, "The row of \(entity.name) is that of another tenant than the context's, or is gone",
            entity: entity.name.description, key: key)
    }
}

extension ContextCore {
    /// Throws for a context of a tenant, for a question that is answered for all tenants together.
    package func requireNoTenant(for what: String) throws {
        guard tenant != nil || tenantSchema != nil else { return }
        throw KindredError(
            .invalidRequest,
            "The context of a tenant does not show what is that of all tenants: make one without a tenant for \(what)")
    }
}
