import KindredPostgres
import KindredSchema

// Reading the schemas of tenants. The shared schemas and the template are read when a database connects; the schema of
// a tenant when it is first used, by the names of the template's tables.
extension SchemaTenants {
    /// Reads the shared schemas and the template; gives the model of the database itself, which has the shared tables
    /// only.
    ///
    /// Throws `KindredError` `.invalidRequest` if there is no template, or if it is in the search path; `.classMismatch` if the
    /// classes fit neither of both.
    func read(
        from client: PostgresClient, overrides: [SchemaOverride], names: RelationshipNames?
    ) async throws -> SchemaRuntime {
        let path = try await SchemaReader.searchPath(of: client).filter { !$0.hasPrefix("pg_temp_") }
        try requireOutside(path, template)
        let shared = try await SchemaReader.read(path, besides: [], from: client)
        try client.register(shared.types)
        let own = try DatabaseSchema.serving(
            catalog: shared.catalog, overrides: overrides.filter { $0.isOfTable(in: shared.catalog) },
            types: client.types
        ).servingFilters()
        let part = try await SchemaReader.read([template], besides: path, from: client)
        let catalog = part.catalog.marking(template, as: template)
        let tables = Shared(path: path, part: shared, names: catalog.relations.map(\.name))
        let model = try makeModel(
            of: part, catalog, named: template, besides: tables, for: client, overrides: overrides)
        try names?.check(model.schema)
        let runtime = SchemaRuntime(own, classes: classes.only(in: own))
        begin(tables, template: model, catalog)
        return try runtime.checked()
    }

    /// The tenant of a name, from memory, or by reading its schema in three round trips.
    func find(
        _ name: String, from client: PostgresClient, overrides: [SchemaOverride]
    ) async throws -> KnownTenant {
        if let known = tenant(name) { return known }
        guard let shared else { throw KindredError(.invalidRequest, "The template of the tenants was not read") }
        try requireTenant(name)
        let part = try await SchemaReader.read([name], among: shared.names, besides: shared.path, from: client)
        guard let oid = part.schemas[name] else { throw Self.missing(name) }
        if let key = part.outerKeys.first {
            throw KindredError(
                .invalidRequest,
                """
                The foreign key \(key.name) of \(name).\(key.table) leads to \(key.target), which is neither the tenant's nor \
                shared by all: drop it
                """,
                entity: "\(name).\(key.table)", constraint: key.name)
        }
        let catalog = part.catalog.marking(name, as: template)
        let shape = catalog.shape()
        let known = shape.flatMap(model(for:))
        if let known { client.types.share(Dictionary(known.types.map { ($1, $0) }) { first, _ in first }) }
        let runtime =
            try known?.runtime
            ?? makeModel(of: part, catalog, named: name, besides: shared, for: client, overrides: overrides)
        let schema = try TenantSchema(
            named: name, oid: oid, before: shared.path, types: known?.types ?? [:],
            pathUse: max(part.pathUse, shared.part.pathUse))
        return keep(
            KnownTenant(schema: schema, runtime: runtime), read: shared, newShape: known == nil ? shape : nil)
    }

    /// Makes a model of a schema's tables and the shared tables.
    private func makeModel(
        of part: SchemaPart, _ catalog: Catalog, named name: String, besides shared: Shared, for client: PostgresClient,
        overrides: [SchemaOverride]
    ) throws -> SchemaRuntime {
        guard part.schemas[name] != nil else {
            throw KindredError(
                .invalidRequest, "There is no schema \(name), whose tables would be the tenants' template")
        }
        // The template's types stand for themselves, whatever types stood for them before.
        let types = catalog.types.map { PostgresDataType(rawValue: $0.oid) }
        client.types.share(Dictionary(types.map { ($0, $0) }) { first, _ in first })
        let schema = try DatabaseSchema.serving(
            catalog: catalog.adding(shared.part.catalog), overrides: overrides,
            types: try client.types(with: part.types)
        ).servingFilters()
        let runtime = SchemaRuntime(schema, classes: classes)
        try runtime.requireUsable()
        guard runtime.mismatches.isEmpty else {
            throw KindredError(
                .classMismatch,
                "The schema \(name) does not fit the classes: \(runtime.mismatches.joined(separator: "; ")). Migrate it"
            )
        }
        try client.register(part.types)
        return runtime
    }

    /// Throws for a name that no tenant can have: `.invalidRequest` for the template and shared schemas, `.notFound`
    /// for schemas of the server and of the library.
    func requireTenant(_ name: String) throws {
        try requireOutside((shared?.path ?? []) + [template], name)
        // The name may come from a client.
        guard !TenantSchema.isReserved(name) else { throw Self.missing(name) }
    }

    static func missing(_ name: String) -> KindredError {
        KindredError(
            .notFound,
            TenantSchema.isReserved(name)
                ? "The name \"\(name)\" is that of no tenant: it is none of a schema, or one of the server's or the library's"
                : "There is no schema \(name), which would be a tenant's")
    }

    private func requireOutside(_ path: [String], _ name: String) throws {
        guard path.contains(name) else { return }
        throw KindredError(
            .invalidRequest,
            """
            The schema \(name) is no tenant's: it is the template, or in the search path of the connection, so that all tenants \
            share its tables
            """)
    }
}

extension Database {
    /// The tenants with schemas of their own.
    ///
    /// Throws `KindredError` `.invalidRequest` for a database that was connected without them.
    func requireSchemaTenants() throws -> SchemaTenants {
        if let schemaTenants { return schemaTenants }
        throw KindredError(
            .invalidRequest, "Tenants with schemas of their own need Database.connect(…, tenants: .schemas(template:))")
    }

    /// The schema by whose name models name the tables of tenants; nil where tenants have no schemas of their own.
    package var tenantTemplate: String? { schemaTenants?.template }

    /// The model of a tenant's tables as they were read last; nil if they are read again when the tenant is next used.
    package func knownModel(ofTenant name: String) -> SchemaRuntime? { schemaTenants?.tenant(name)?.runtime }

    /// The model of a tenant's tables, read in three round trips unless it is known.
    ///
    /// Throws as ``tenant(_:fileID:line:)``.
    package func model(ofTenant name: String) async throws -> SchemaRuntime {
        try await requireSchemaTenants().find(name, from: client, overrides: overrides).runtime
    }
}
