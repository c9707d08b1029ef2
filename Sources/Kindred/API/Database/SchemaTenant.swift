public import KindredPostgres
import KindredSchema

/// A tenant whose tables are in a schema of its own.
///
/// ```swift
/// let database = try await Database.connect(uri, tenants: .schemas(template: "tenant_template"))
/// let context = try await database.tenant("acme").makeContext()
/// let people = try await context.fetch("person").all()   // SELECT … FROM "acme"."person"
/// ```
public struct SchemaTenant: Sendable {
    /// The database whose connections it uses.
    public let database: Database
    let tenant: KnownTenant

    /// The schema's name.
    public var name: String { tenant.schema.name }

    /// Makes a unit of work for the tenant; cheap, and sends nothing.
    ///
    /// A name such as `person` means the tenant's table, or else a shared table. The library's statements name the
    /// schema, and send no search path. SQL of ``DatabaseContext/query(_:reading:fileID:line:)`` runs with the tenant's
    /// search path, which is set in front of it as a setting is: see
    /// ``Database/makeContext(settings:role:loading:tracking:reading:after:)``. So do all statements of a transaction,
    /// and writes whose triggers, defaults or checks call functions without a search path of their own; reads, too,
    /// where policies or views do.
    ///
    /// One transaction belongs to one tenant: a statement of another tenant's context throws `PostgresError`
    /// `.settingsDiffer`. Objects and IDs of other tenants are `KindredError` `.otherTenant`. Live requests and contexts that track
    /// changes follow the tenant's tables, which have to be enabled by the names that they have in its schema, such as `acme.person`.
    /// `changes(of:)` and `locks(of:)` throw `.invalidRequest`, and so does a lock that is announced.
    ///
    /// - Parameters:
    ///   - loading: the effect of the first access to a relationship.
    ///   - tracking: whether objects follow the committed changes of other clients.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    public func makeContext(
        loading: RelationshipLoading = .batch, tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil
    ) -> DatabaseContext {
        makeContext(tenant.runtime, loading: loading, tracking: tracking, reading: reading, after: position) {
            try database.checked([:], role: nil)
        }
    }

    /// Makes a unit of work for the tenant whose statements run with settings, and with a role; cheap, and sends nothing.
    ///
    /// As ``makeContext(loading:tracking:reading:after:)``.
    ///
    /// - Parameters:
    ///   - settings: further settings of the context.
    ///   - role: the role as which the statements run; nil is the connection's.
    ///   - loading: the effect of the first access to a relationship.
    ///   - tracking: whether objects follow the committed changes of other clients.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    /// - Throws: The errors of ``Database/makeContext(settings:role:loading:tracking:reading:after:)``.
    public func makeContext(
        settings: [String: any PostgresEncodable], role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil
    ) throws -> DatabaseContext {
        let session = try database.checked(try database.texts(of: settings), role: role)
        if tracking != .none { try session.requireFollowable() }
        return makeContext(
            try tenant.runtime.model(for: role), loading: loading, tracking: tracking, reading: reading, after: position
        ) { session }
    }

    /// - Parameter session: the settings; a context without them throws its error instead of sending anything.
    private func makeContext(
        _ model: SchemaRuntime, loading: RelationshipLoading, tracking: DatabaseContext.Tracking,
        reading: DatabaseContext.Reading, after position: DatabasePosition?, with session: () throws -> SessionSettings
    ) -> DatabaseContext {
        let reads = database.route(reading, after: position)
        let settings: SessionSettings
        // A context that is refused sends nothing, and so has nothing to follow.
        var feed = tracking.feed
        do {
            settings = try session().of(tenant.schema)
        } catch {
            (settings, feed) = (.refused(error), nil)
        }
        return ContextCore(
            database: database, model: model, client: database.contextClient(with: settings, reads), reads: reads,
            loading: loading, following: feed.map { ChangeFollowing($0(database, settings)) }
        ).context
    }

    /// Makes a context of the tenant for the duration of `body`, and discards unsaved changes at the end, also if `body` throws.
    ///
    /// As ``makeContext(loading:tracking:reading:after:)``. Sends nothing itself.
    public func withContext<T>(
        loading: RelationshipLoading = .batch, tracking: DatabaseContext.Tracking = .none,
        reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async rethrows -> T {
        let context = makeContext(loading: loading, tracking: tracking, reading: reading, after: position)
        defer { context.core.rollback() }
        return try await body(context)
    }

    /// Makes a context of the tenant with settings for the duration of `body`, and discards unsaved changes at the end, also if
    /// `body` throws.
    ///
    /// As ``makeContext(settings:role:loading:tracking:reading:after:)``. Sends nothing itself.
    public func withContext<T>(
        settings: [String: any PostgresEncodable], role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        let context = try makeContext(
            settings: settings, role: role, loading: loading, tracking: tracking, reading: reading, after: position)
        defer { context.core.rollback() }
        return try await body(context)
    }

    /// The tenant's model: its tables, under the template's schema, and the shared tables.
    ///
    /// Tenants of the same shape share it.
    public var schema: DatabaseSchema { tenant.runtime.schema }
}

extension Database {
    /// How the tenants of a database are kept apart, where each has tables of its own.
    public struct Tenants: Sendable, Hashable {
        let template: String

        /// Each tenant has a schema with the tables of a template.
        ///
        /// The database itself has the tables of the search path only, which all tenants share: neither the template's nor a tenant's
        /// are entities of it. See ``Database/tenant(_:fileID:line:)``.
        ///
        /// - Parameter template: the schema whose tables the typed classes and annotations fit. It is not in the search path.
        public static func schemas(template: String) -> Tenants { Tenants(template: template) }
    }

    /// The tenant that has a schema of its own.
    ///
    /// Its first use reads the schema, in three round trips: the tables that the template has, with all of their columns. It may have
    /// more columns, tables and indexes than the template. Later uses send nothing, until ``refreshSchema(fileID:line:)`` reads shared
    /// tables and template again; tenants and contexts that are held keep their model. Not in a transaction, where nothing else
    /// than the transaction's connection could be used.
    ///
    /// - Parameters:
    ///   - name: the schema's name.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `KindredError` `.notFound` if there is no such schema, or if it belongs to PostgreSQL or Kindred;
    ///   `.classMismatch` with all differences if it does not fit the classes; `.invalidRequest` for the template, for
    ///   a schema in the search path, for a schema with a foreign key to another tenant's table, which is named, in a
    ///   transaction before the first use, and where the database was connected without tenants; and the errors of a
    ///   query.
    public func tenant(_ name: String, fileID: String = #fileID, line: Int = #line) async throws -> SchemaTenant {
        let tenants = try requireSchemaTenants()
        if let known = tenants.tenant(name) { return SchemaTenant(database: self, tenant: known) }
        guard !client.isInTransaction else {
            throw KindredError(
                .invalidRequest, "A tenant is first used outside of a transaction, since its schema is read")
        }
        return try await client.called(at: fileID, line) {
            SchemaTenant(database: self, tenant: try await tenants.find(name, from: client, overrides: overrides))
        }
    }

    /// Drops a tenant's schema with everything in it, and forgets the tenant in this process.
    ///
    /// ```swift
    /// try await database.dropTenant("acme")   // DROP SCHEMA "acme" CASCADE
    /// ```
    ///
    /// Objects elsewhere that depend on it are dropped as well, such as a view of its tables in another schema.
    /// Contexts of the tenant that are held, here and in other processes, get the errors of the server from then on.
    /// Does not look whether the schema fits the template, so that a schema that does not fit can be dropped.
    ///
    /// One statement. In a transaction it takes part in it: the tenant is forgotten at once, and read again if it is
    /// rolled back.
    ///
    /// - Parameters:
    ///   - name: the schema's name.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `KindredError` `.invalidRequest` for the template, for a schema in the search path, and where the database was
    ///   connected without tenants; `.notFound` if there is no such schema, or if it belongs to PostgreSQL or Kindred;
    ///   and `PostgresError` where the server refuses it.
    public func dropTenant(_ name: String, fileID: String = #fileID, line: Int = #line) async throws {
        let tenants = try requireSchemaTenants()
        try tenants.requireTenant(name)
        do {
            try await client.called(at: fileID, line) {
                _ = try await client.query("DROP SCHEMA \(identifier: name) CASCADE")
            }
        } catch let error as PostgresError where error.sqlState?.rawValue == "3F000" {
            tenants.forget(name)
            throw SchemaTenants.missing(name)
        }
        tenants.forget(name)
    }

    /// The schemas that come behind a new tenant's schema in its search path.
    ///
    /// Throws as ``tenant(_:fileID:line:)`` for a name that no tenant can have, and `.invalidRequest` for `public`,
    /// whose tables sessions with the server's own search path would take for shared tables.
    package func sharedPath(besidesTenant name: String) throws -> [String] {
        let tenants = try requireSchemaTenants()
        try tenants.requireTenant(name)
        guard name != "public" else {
            throw KindredError(
                .invalidRequest, "The schema public is no tenant's: sessions have it in their search path")
        }
        return tenants.shared?.path ?? []
    }
}
