public import KindredPostgres
import KindredSchema
import Synchronization

// Contexts of tenants that share tables, and contexts that work for all tenants.
extension Database {
    /// Makes a unit of work for one tenant, which reads and writes only this tenant's rows; cheap, and sends nothing.
    ///
    /// ```swift
    /// let context = try database.makeContext(tenant: ["tenant_id": tenant], setting: "app.tenant_id")
    /// let tasks = try await context.fetch("task").all()   // WHERE tenant_id = …
    /// ```
    ///
    /// Every statement for an entity that has the column finds rows with the tenant's value only, and new rows get it.
    /// It is no filter: `unfiltered()` does not take it off. Tables without the column are shared by all tenants. The
    /// column cannot be set. The setting is for policies of row-level security, which are needed for the program's own
    /// SQL: no condition is added to the text of `query(_:)`. With `query(_:as:)` rows of other tenants become no
    /// objects.
    ///
    /// A row of another tenant is not there: `find` gives nil, `get` is `.notFound`. `get` with its ID, a to-one relationship whose
    /// foreign key leads to it, and a use of it as a value are `.otherTenant`, without its values. An upsert that meets its key
    /// is `.constraintViolation` with the SQLSTATE of a unique violation, and has no effect.
    ///
    /// The text of statements is the same for all tenants. Each statement, or its transaction, has the tenant in front
    /// as it has settings: see ``makeContext(settings:role:loading:tracking:reading:after:)``. No statement is added,
    /// except where an ID whose key lacks the column is given for a to-one relationship: one SELECT reads whose row it
    /// is. Upserts that keep rows are a savepoint within a transaction.
    ///
    /// With `pool.maximumConnectionsPerTenant` its contexts together use no more connections at once.
    ///
    /// Live requests show the tenant's rows, and share nothing with other tenants' requests: see
    /// ``makeContext(settings:role:loading:tracking:reading:after:)`` for their cost. A row that comes to another
    /// tenant leaves them. `changes(of:)` and `locks(of:)`, which name the rows of all tenants, throw
    /// `.invalidRequest`.
    ///
    /// - Parameters:
    ///   - tenant: the name of the column, and the value in the tenant's rows.
    ///   - setting: the custom setting that gets the value as text, as the server prints it.
    ///   - settings: further settings of the context.
    ///   - role: the role as which the statements run; nil is the connection's.
    ///   - loading: the effect of the first access to a relationship.
    ///   - tracking: whether the context follows changes of other clients to its tenant's rows; see
    ///     ``DatabaseContext/Tracking``.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    /// - Throws: `KindredError` `.invalidRequest` unless one column is given, and if no entity has it; `.wrongType` and
    ///   `.missingValue` for a value that the column cannot hold; and the errors of
    ///   ``makeContext(settings:role:loading:tracking:reading:after:)``.
    public func makeContext(
        tenant: [String: any PostgresEncodable], setting: String, settings: [String: any PostgresEncodable] = [:],
        role: String? = nil, loading: RelationshipLoading = .batch, tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary, after position: DatabasePosition? = nil
    ) throws -> DatabaseContext {
        guard let (column, given) = tenant.first, tenant.count == 1 else {
            throw KindredError(.invalidRequest, "A tenant is given by the one column that its rows have in common")
        }
        guard let value = try given.postgresValue else {
            throw KindredError(.missingValue, "A tenant has a value for \(column), which is not NULL", key: column)
        }
        let model = try model(ofTenantsBy: column).model(for: role)
        for entity in model.entities {
            guard let position = entity.tenantColumn else { continue }
            var cells = RowCells()
            do {
                try cells.set(value, at: position, of: entity, types)
            } catch let error as KindredError {
                throw KindredError(
                    error.code,
                    """
                    \(entity.name).\(column), of the type \(entity.entity.attributes[position].typeName), cannot hold the \
                    tenant's value. If the rows of this table belong to no tenant, leave it out by the annotation \
                    {"tenant": false}: \(error.message)
                    """,
                    entity: entity.name.description, key: column)
            }
        }
        var all = try texts(of: settings)
        for name in [setting, TenantSetting.name] {
            guard all.updateValue(value.description, forKey: name) == nil else {
                throw KindredError(.invalidRequest, "The setting \(name) is that of the tenant, and is given twice")
            }
        }
        return try makeContext(
            try checked(all, role: role), model, of: ContextTenant(column: column, value: value), loading: loading,
            tracking: tracking, reading: reading, after: position)
    }

    /// Makes a context of a tenant for the duration of `body`, and discards unsaved changes at the end, also if `body` throws.
    ///
    /// As ``makeContext(tenant:setting:settings:role:loading:tracking:reading:after:)``. Sends nothing itself.
    public func withContext<T>(
        tenant: [String: any PostgresEncodable], setting: String, settings: [String: any PostgresEncodable] = [:],
        role: String? = nil, loading: RelationshipLoading = .batch, tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary, after position: DatabasePosition? = nil,
        _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        let context = try makeContext(
            tenant: tenant, setting: setting, settings: settings, role: role, loading: loading, tracking: tracking,
            reading: reading, after: position)
        defer { context.core.rollback() }
        return try await body(context)
    }

    /// Makes a unit of work for the rows of all tenants, for administration: cheap, and sends nothing.
    ///
    /// It needs no settings that the database requires of contexts. Each call is logged as a warning, with its place and the
    /// reason. Policies of row-level security hold for the role all the same.
    ///
    /// - Parameters:
    ///   - reason: why the work is not done for one tenant; for the log.
    ///   - role: the role as which the statements run; nil is the connection's.
    ///   - loading: the effect of the first access to a relationship.
    ///   - tracking: whether the context follows changes of other clients; see ``DatabaseContext/Tracking``.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    ///   - fileID: the file of the call, for the log.
    ///   - line: the line of the call.
    /// - Throws: `PostgresError` `.settingsRefused` for a role that PostgreSQL does not take.
    public func makeContext(
        acrossTenants reason: String, role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil,
        fileID: String = #fileID, line: Int = #line
    ) throws -> DatabaseContext {
        let session = try role.map { try SessionSettings([:], role: $0) } ?? .none
        let model = try model.withLock { $0 }.model(for: role)
        mistakes.warn("A context works across tenants, at \(SourcePlace(fileID: fileID, line: line)): \(reason)")
        return try makeContext(
            session, model, loading: loading, tracking: tracking, reading: reading, after: position)
    }

    /// Makes a context for the rows of all tenants for the duration of `body`, and discards staged changes at the end, also if
    /// `body` throws.
    ///
    /// As ``makeContext(acrossTenants:role:loading:tracking:reading:after:fileID:line:)``. Sends nothing itself.
    public func withContext<T>(
        acrossTenants reason: String, role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil,
        fileID: String = #fileID, line: Int = #line, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        let context = try makeContext(
            acrossTenants: reason, role: role, loading: loading, tracking: tracking, reading: reading, after: position,
            fileID: fileID, line: line)
        defer { context.core.rollback() }
        return try await body(context)
    }
}
