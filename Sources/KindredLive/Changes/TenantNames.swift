import Kindred
import KindredPostgres
import KindredSchema

/// The names of the tables of a tenant that has a schema of its own: models have the template's schema in place of the tenant's.
struct TenantNames: Sendable, Hashable {
    /// The tenant's schema.
    let schema: String
    private let template: String

    /// nil where the settings are of no tenant with a schema of its own.
    init?(_ settings: SessionSettings, in database: Database) {
        guard let schema = settings.schema, let template = database.tenantTemplate else { return nil }
        (self.schema, self.template) = (schema.name, template)
    }

    /// The name that a table of a model has in the database.
    func name(inDatabase name: QualifiedName) -> QualifiedName {
        ServerText(name.schema) == ServerText(template) ? QualifiedName(schema: schema, name: name.name) : name
    }

    /// The name that a table of the database has in models.
    func name(inModel name: QualifiedName) -> QualifiedName {
        ServerText(name.schema) == ServerText(schema) ? QualifiedName(schema: template, name: name.name) : name
    }
}

extension CommittedBatch {
    /// The changes by the names that a tenant's model has for its tables; all of them without a tenant.
    func named(for tenant: TenantNames?) -> CommittedBatch {
        guard let tenant else { return self }
        var batch = CommittedBatch()
        for (name, changes) in changes { batch.changes[tenant.name(inModel: name)] = changes }
        for (name, keys) in passed { batch.passed[tenant.name(inModel: name)] = keys }
        return batch
    }
}
