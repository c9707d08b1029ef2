public import KindredPostgres

/// Reads a database's catalog and makes its model.
public enum SchemaReader {
    /// Reads the model.
    ///
    /// Takes one round trip: a read-only REPEATABLE READ transaction whose statements are sent together, so that all of
    /// them see the catalog of one moment. Inside a transaction of the task it sees what that transaction sees. Any role
    /// may do it, and sees what it may read. The client learns the database's enums, domains and arrays on the way.
    ///
    /// - Throws: `PostgresError` if the server does, ``SchemaError`` with the code `invalidAnnotation` if an annotation in
    ///   a comment or an override does not fit.
    public static func read(
        from client: PostgresClient,
        overrides: [SchemaOverride] = []
    ) async throws -> DatabaseSchema {
        try await read(from: client, overrides: overrides) { $0 }
    }

    /// Reads the model for somebody who may refuse it; the client learns the types of a model that is not refused.
    ///
    /// Values that are in memory are read by what the client knows of their types.
    package static func read<T>(
        from client: PostgresClient,
        overrides: [SchemaOverride],
        _ accept: (DatabaseSchema) throws -> T
    ) async throws -> T {
        let (catalog, types) = try await readCatalogAndTypes(from: client)
        let known = try client.types(with: types)
        let result = try accept(try DatabaseSchema(catalog: catalog, overrides: overrides, types: known))
        try client.register(types)
        return result
    }

    /// Reads the catalog's rows alone.
    package static func readCatalog(from client: PostgresClient) async throws -> Catalog {
        try await readCatalogAndTypes(from: client).catalog
    }

    private static func readCatalogAndTypes(
        from client: PostgresClient
    ) async throws -> (catalog: Catalog, types: QueryResult) {
        let queries = CatalogQueries.all + [PostgresClient.typeCatalog]
        var results: ArraySlice<QueryResult>
        if client.isInTransaction {
            results = try await client.executeBatch(queries)[...]
        } else {
            let statements = [CatalogQueries.begin] + queries + [CatalogQueries.commit]
            // A connection of its own for the moment: if a statement fails, nobody else finds the failed transaction.
            results = try await client.withConnection { _ in
                try await client.executeBatch(statements)
            }.dropFirst().dropLast()
        }
        guard let types = results.popLast() else {
            throw SchemaError(.unreadableCatalog, "The server's answer about types has an unexpected shape")
        }
        let catalog = try CatalogDecoder(results).catalog
        warn(client, of: catalog)
        return (catalog, types)
    }

    /// Logs, once for each client, what makes the statements of everybody who uses the database unsafe.
    private static func warn(_ client: PostgresClient, of catalog: Catalog) {
        if catalog.bypassesRowSecurity { client.warn(of: .bypassesRowSecurity) }
        if !catalog.openSchemas.isEmpty { client.warn(of: .openSchemas(catalog.openSchemas)) }
        if let place = catalog.searchPath.firstIndex(of: "pg_catalog"), place > 0 { client.warn(of: .lateCatalog) }
    }
}
