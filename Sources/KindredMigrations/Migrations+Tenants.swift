public import KindredPostgres

// Runs the same files in the schema of each tenant; names without a schema mean the tenant's tables.
extension Migrations {
    /// The schemas of tenants in which files have run: the schemas that hold a table of records.
    ///
    /// One statement.
    ///
    /// - Parameter client: The database's client.
    /// - Returns: Their names, sorted.
    public func tenants(of client: PostgresClient) async throws -> [String] {
        let rows = try await client.query(
            """
            SELECT n.nspname::pg_catalog.text FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
            WHERE c.relname OPERATOR(pg_catalog.=) \(MigrationRecords.nameInTenants)
                AND c.relkind OPERATOR(pg_catalog.=) 'r' ORDER BY n.nspname
            """)
        return try rows.map { try $0.decode(0, as: String.self) ?? "" }
    }

    /// Runs the files that have not run yet in the schemas of tenants.
    ///
    /// ```swift
    /// let outcomes = try await Migrations(folder: "Tenants").apply(toTenants: nil, of: client)
    /// for outcome in outcomes { print(outcome.schema, outcome.state, outcome.error?.message ?? "") }
    /// ```
    ///
    /// The files run in each schema as ``apply(to:)`` runs them in the database, over a connection of its own whose
    /// search path is the schema, then the client's: `CREATE TABLE person` makes the tenant's. Statements that name a
    /// schema are the same for all tenants. The files that have run are recorded in the table `kindred_migration` of
    /// the schema, which is no entity. A tenant that is done is not touched, so that a call which ended early goes on
    /// when it is repeated. A tenant that fails stops no other. The template is a tenant here: migrate it with them.
    ///
    /// Two statements for all, or one where names are given; then two for each tenant, or one if nothing has ever run
    /// there. For each tenant with files to run, a connection and the statements of ``apply(to:)`` without the
    /// statement that makes a schema.
    ///
    /// - Parameters:
    ///   - schemas: The names of the schemas; nil for the result of ``tenants(of:)``. Give them the first time.
    ///   - client: The database's client; the connections have its configuration. Not in a transaction.
    ///   - limit: How many tenants are migrated at a time, each over a connection; at least one.
    /// - Returns: The outcome of each tenant, in the order of the names.
    /// - Throws: ``MigrationError``, before anything runs: `.invalidFolder`, `.invalidFile`, and `.noTenant` for a
    ///   schema that is not there or is on the client's search path; `PostgresError` if the schemas cannot be read;
    ///   `CancellationError`, once the running files have come to their end.
    @discardableResult
    public func apply(
        toTenants schemas: [String]?, of client: PostgresClient, limit: Int = 4
    ) async throws -> [TenantMigration] {
        guard !client.isInTransaction else {
            throw PostgresError(
                .invalidParameter, "Migrations make transactions of their own; apply them outside of one")
        }
        let migrations = try read()
        return try await migrations.each(schemas, of: client, limit: limit) { schema, path in
            guard
                try await !migrations.pending(by: MigrationRecords(client, ofTenant: schema, owner: migrations.owner))
                    .isEmpty
            else {
                return TenantMigration(schema: schema, state: .skipped, files: [], error: nil)
            }
            var files: [MigrationFile] = []
            do {
                try await client.withTenant(schema, before: path) { own in
                    try await migrations.apply(to: MigrationRecords(own, ofTenant: schema, owner: migrations.owner)) {
                        files.append($0)
                    }
                }
            } catch {
                return TenantMigration(
                    schema: schema, state: .failed, files: files, error: try MigrationError.of(error))
            }
            // Another process may have run them meanwhile.
            return TenantMigration(schema: schema, state: files.isEmpty ? .skipped : .applied, files: files, error: nil)
        }
    }

    /// The files that `apply` would run in the schemas of tenants; changes nothing.
    ///
    /// Sends as ``apply(toTenants:of:limit:)`` does where nothing is to run. Throws as it does.
    ///
    /// - Parameters:
    ///   - schemas: The names of the schemas; nil for the result of ``tenants(of:)``.
    ///   - client: The database's client.
    ///   - limit: How many tenants are asked about at a time; at least one.
    /// - Returns: The outcome that `apply` would have for each tenant, in the order of the names.
    public func pending(
        forTenants schemas: [String]?, of client: PostgresClient, limit: Int = 4
    ) async throws -> [TenantMigration] {
        let migrations = try read()
        return try await migrations.each(schemas, of: client, limit: limit) { schema, _ in
            let files = try await migrations.pending(
                by: MigrationRecords(client, ofTenant: schema, owner: migrations.owner))
            return TenantMigration(
                schema: schema, state: files.isEmpty ? .skipped : .pending, files: files, error: nil)
        }
    }

    private func each(
        _ schemas: [String]?, of client: PostgresClient, limit: Int,
        _ body: @escaping @Sendable (_ schema: String, _ path: [String]) async throws -> TenantMigration
    ) async throws -> [TenantMigration] {
        _ = try files()
        let given = if let schemas { schemas } else { try await tenants(of: client) }
        var seen: Set<ServerText> = []
        let names = given.filter { seen.insert($0) }
        let path = try await Self.sharedPath(of: client, besides: names)
        var outcomes: [ServerText: TenantMigration] = [:]
        await withTaskGroup(of: TenantMigration?.self) { group in
            var rest = names[...]
            func begin() {
                guard !Task.isCancelled, let schema = rest.popFirst() else { return }
                group.addTask {
                    do {
                        return try await body(schema, path)
                    } catch {
                        guard let error = try? MigrationError.of(error) else { return nil }
                        return TenantMigration(schema: schema, state: .failed, files: [], error: error)
                    }
                }
            }
            for _ in 0..<max(limit, 1) { begin() }
            while let outcome = await group.next() {
                if let outcome { outcomes[outcome.schema] = outcome }
                begin()
            }
        }
        try Task.checkCancellation()
        return names.compactMap { outcomes[$0] }
    }

    /// The schemas of a client's search path that are there, which all tenants share.
    ///
    /// Throws `.noTenant` for a name that is not there, or is among them.
    private static func sharedPath(of client: PostgresClient, besides names: [String]) async throws -> [String] {
        let question: SQL = """
            SELECT p.name::pg_catalog.text, NULL FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS p (name)
            UNION ALL SELECT NULL, t.name FROM pg_catalog.unnest(\(names)) AS t (name)
            WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) t.name)
            """
        let rows = try await client.withOwnPath { try await client.query(question) }
        let path = try rows.compactMap { try $0.decode(0, as: String.self) }.filter { !$0.hasPrefix("pg_temp_") }
        if let missing = try rows.compactMap({ try $0.decode(1, as: String.self) }).first {
            throw MigrationError(.noTenant, "There is no schema \(missing), which would be a tenant's.")
        }
        if let shared = names.first(where: { path.contains($0) || TenantSchema.isReserved($0) }) {
            throw MigrationError(
                .noTenant, "The schema \(shared) is no tenant's: all share it, or it belongs to PostgreSQL or Kindred.")
        }
        return path
    }
}

extension PostgresClient {
    /// Lends a client of one connection, on whose search path a tenant's schema comes first, and closes it.
    func withTenant<T>(
        _ schema: String, before path: [String], _ body: (PostgresClient) async throws -> T
    ) async throws -> T {
        var configuration = configuration
        if configuration.ownPath != nil {
            let names = try ([schema] + path).map { try SQLIdentifier.quote($0) } + ["pg_temp"]
            configuration = configuration.catalogOnly(ownPath: names.joined(separator: ", "))
        } else {
            configuration.searchPath = [schema] + path
            configuration.settings = configuration.settings.filter { $0.key.lowercased() != "search_path" }
        }
        configuration.pool.minimumConnections = 0
        configuration.pool.maximumConnections = 1
        return try await PostgresClient.connect(configuration).lend(body)
    }
}

extension MigrationError {
    /// Any failure as one of a migration; throws a cancellation.
    static func of(_ error: any Error) throws -> MigrationError {
        switch error {
        case let error as MigrationError: error
        case let error as PostgresError: MigrationError(.failed, error.message, server: error.server)
        case is CancellationError: throw error
        default: MigrationError(.failed, "\(error)")
        }
    }
}
