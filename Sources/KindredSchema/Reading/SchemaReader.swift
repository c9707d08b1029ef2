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
        let catalog = try await readCatalog(from: client)
        register(catalog.types, in: client.types)
        return try DatabaseSchema(catalog: catalog, overrides: overrides)
    }

    /// Reads the catalog's rows alone.
    package static func readCatalog(from client: PostgresClient) async throws -> Catalog {
        if client.isInTransaction {
            return try await CatalogDecoder(client.executeBatch(CatalogQueries.all)[...]).catalog
        }
        let statements = [CatalogQueries.begin] + CatalogQueries.all + [CatalogQueries.commit]
        // A connection of its own for the moment: if a statement fails, nobody else finds the failed transaction.
        let results = try await client.withConnection { _ in
            try await client.executeBatch(statements)
        }
        return try CatalogDecoder(results.dropFirst().dropLast()).catalog
    }

    /// Tells the client how the values of the database's own types are written.
    private static func register(_ types: [Catalog.TypeRow], in registry: TypeRegistry) {
        for row in types {
            let type = PostgresDataType(rawValue: row.oid)
            switch row.kind {
            case UInt8(ascii: "e"): registry.register(type, as: .textLike)
            case UInt8(ascii: "d"): registry.register(type, as: .domain(base: PostgresDataType(rawValue: row.base)))
            case UInt8(ascii: "b") where row.category == UInt8(ascii: "A") && row.element != 0:
                registry.register(type, as: .array(element: PostgresDataType(rawValue: row.element)))
            case UInt8(ascii: "b") where row.category == UInt8(ascii: "S"): registry.register(type, as: .textLike)
            default: break
            }
        }
    }
}
