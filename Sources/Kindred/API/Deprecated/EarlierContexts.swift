public import KindredPostgres

// The argument `faulting` is `loading`.
extension Database {
    /// Makes a unit of work, with an argument under its earlier name.
    @available(*, deprecated, renamed: "makeContext(loading:tracking:reading:after:)")
    public func makeContext(
        faulting: RelationshipLoading, tracking: ContextTracking = .none, reading: ContextReading = .primary,
        after position: DatabasePosition? = nil
    ) -> DatabaseContext {
        makeContext(loading: faulting, tracking: tracking, reading: reading, after: position)
    }

    /// Makes a context for the duration of `body`, with an argument under its earlier name.
    @available(*, deprecated, renamed: "withContext(loading:tracking:reading:after:_:)")
    public func withContext<T>(
        faulting: RelationshipLoading, tracking: ContextTracking = .none, reading: ContextReading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async rethrows -> T {
        try await withContext(loading: faulting, tracking: tracking, reading: reading, after: position, body)
    }

    /// Makes a unit of work with settings, with an argument under its earlier name.
    @available(*, deprecated, renamed: "makeContext(settings:role:loading:tracking:reading:after:)")
    public func makeContext(
        settings: [String: any PostgresEncodable], role: String? = nil, faulting: RelationshipLoading,
        tracking: ContextTracking = .none, reading: ContextReading = .primary, after position: DatabasePosition? = nil
    ) throws -> DatabaseContext {
        try makeContext(
            settings: settings, role: role, loading: faulting, tracking: tracking, reading: reading, after: position)
    }

    /// Makes a context with settings for the duration of `body`, with an argument under its earlier name.
    @available(*, deprecated, renamed: "withContext(settings:role:loading:tracking:reading:after:_:)")
    public func withContext<T>(
        settings: [String: any PostgresEncodable], role: String? = nil, faulting: RelationshipLoading,
        tracking: ContextTracking = .none, reading: ContextReading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        try await withContext(
            settings: settings, role: role, loading: faulting, tracking: tracking, reading: reading, after: position,
            body)
    }

    /// Makes a unit of work for one tenant, with an argument under its earlier name.
    @available(*, deprecated, renamed: "makeContext(tenant:setting:settings:role:loading:tracking:reading:after:)")
    public func makeContext(
        tenant: [String: any PostgresEncodable], setting: String, settings: [String: any PostgresEncodable] = [:],
        role: String? = nil, faulting: RelationshipLoading, reading: ContextReading = .primary,
        after position: DatabasePosition? = nil
    ) throws -> DatabaseContext {
        try makeContext(
            tenant: tenant, setting: setting, settings: settings, role: role, loading: faulting, reading: reading,
            after: position)
    }

    /// Makes a context of a tenant for the duration of `body`, with an argument under its earlier name.
    @available(*, deprecated, renamed: "withContext(tenant:setting:settings:role:loading:tracking:reading:after:_:)")
    public func withContext<T>(
        tenant: [String: any PostgresEncodable], setting: String, settings: [String: any PostgresEncodable] = [:],
        role: String? = nil, faulting: RelationshipLoading, reading: ContextReading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        try await withContext(
            tenant: tenant, setting: setting, settings: settings, role: role, loading: faulting, reading: reading,
            after: position, body)
    }

    /// Makes a unit of work for the rows of all tenants, with an argument under its earlier name.
    @available(*, deprecated, renamed: "makeContext(acrossTenants:role:loading:tracking:reading:after:fileID:line:)")
    public func makeContext(
        acrossTenants reason: String, role: String? = nil, faulting: RelationshipLoading, fileID: String = #fileID,
        line: Int = #line
    ) throws -> DatabaseContext {
        try makeContext(acrossTenants: reason, role: role, loading: faulting, fileID: fileID, line: line)
    }
}

/// A tenant with a schema of its own, under its earlier name.
@available(*, deprecated, renamed: "SchemaTenant")
public typealias DatabaseTenant = SchemaTenant

/// How tenants are kept apart, under its earlier name.
@available(*, deprecated, renamed: "Database.Tenants")
public typealias DatabaseTenants = Database.Tenants

extension SchemaTenant {
    /// Makes a unit of work for the tenant, with an argument under its earlier name.
    @available(*, deprecated, renamed: "makeContext(settings:role:loading:tracking:reading:after:)")
    public func makeContext(
        settings: [String: any PostgresEncodable] = [:], role: String? = nil, faulting: RelationshipLoading
    ) throws -> DatabaseContext {
        try makeContext(settings: settings, role: role, loading: faulting)
    }

    /// Makes a unit of work for the tenant whose statements run with a role; settings are named now.
    @available(*, deprecated, message: "write makeContext(settings: [:], role: …)")
    public func makeContext(role: String?, loading: RelationshipLoading = .batch) throws -> DatabaseContext {
        try makeContext(settings: [:], role: role, loading: loading)
    }

    /// Makes a context of the tenant for the duration of `body`, with an argument under its earlier name.
    @available(*, deprecated, renamed: "withContext(settings:role:loading:tracking:reading:after:_:)")
    public func withContext<T>(
        settings: [String: any PostgresEncodable] = [:], role: String? = nil, faulting: RelationshipLoading,
        _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        try await withContext(settings: settings, role: role, loading: faulting, body)
    }

    /// Makes a context of the tenant for the duration of `body` whose statements run with a role; settings are named now.
    @available(*, deprecated, message: "write withContext(settings: [:], role: …)")
    public func withContext<T>(
        role: String?, loading: RelationshipLoading = .batch, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        try await withContext(settings: [:], role: role, loading: loading, body)
    }
}
