public import KindredPostgres

/// Reads a database's catalog and makes its model.
public enum SchemaReader {
    /// Reads the model.
    ///
    /// Takes one round trip, and another with Citus, whose own tables it asks: a read-only REPEATABLE READ transaction
    /// whose statements are sent together, so that all see one snapshot of the catalog. Inside the task's transaction
    /// it sees that transaction's snapshot. Any role may call it, and sees the relations that it may read. The client
    /// also learns the database's enums, domains and arrays.
    ///
    /// - Throws: `PostgresError` for errors of the server; ``SchemaError`` with the code `invalidAnnotation` for an invalid
    ///   annotation or override.
    public static func read(
        from client: PostgresClient,
        overrides: [SchemaOverride] = []
    ) async throws -> DatabaseSchema {
        let (catalog, types) = try await readCatalogAndTypes(from: client)
        let schema = try DatabaseSchema(
            catalog: catalog, overrides: overrides, types: try client.types(with: types))
        try client.register(types)
        return schema
    }

    /// Reads the model for a program that may refuse it, as ``DatabaseSchema/serving(catalog:overrides:types:)`` makes it; the
    /// client learns the types only if the program accepts.
    ///
    /// Values in memory are decoded by the client's registry, which must not change for a refused model.
    package static func readServing<T>(
        from client: PostgresClient,
        overrides: [SchemaOverride],
        _ accept: (DatabaseSchema) throws -> T
    ) async throws -> T {
        let (catalog, types) = try await readCatalogAndTypes(from: client)
        let known = try client.types(with: types)
        let result = try accept(try DatabaseSchema.serving(catalog: catalog, overrides: overrides, types: known))
        try client.register(types)
        return result
    }

    /// Reads the model without the annotations that are invalid, for tools that look at a database and use none of its
    /// rows; returns the problem of each.
    package static func readDiagnosed(
        from client: PostgresClient
    ) async throws -> (schema: DatabaseSchema, problems: [AnnotationProblem]) {
        let (catalog, types) = try await readCatalogAndTypes(from: client)
        let result = DatabaseSchema.diagnosed(catalog: catalog, types: try client.types(with: types))
        try client.register(types)
        return result
    }

    /// Reads only the catalog's rows.
    ///
    /// - Parameter isAlone: whether the task's transaction has only statements that read the catalog: none of its
    ///   queries is compiled from then on.
    package static func readCatalog(from client: PostgresClient, isAlone: Bool = false) async throws -> Catalog {
        try await readCatalogAndTypes(from: client, isAlone: isAlone).catalog
    }

    private static func readCatalogAndTypes(
        from client: PostgresClient, isAlone: Bool = false
    ) async throws -> (catalog: Catalog, types: QueryResult) {
        // With the user's own search path, so that names are qualified as the user may write them.
        let path = try client.ownPathStatement.map { [$0] } ?? []
        var answers = try await client.readCatalog(
            path + CatalogQueries.all + [PostgresClient.typeCatalog], isAlone: isAlone)
        for _ in path { _ = try answers.next("the search path") }
        var catalog = try Catalog(&answers)
        let types = try answers.next("types")
        if catalog.isDistributed {
            var columns: [UInt32: String] = [:]
            let result = try await client.execute(CatalogQueries.distribution)
            try CatalogRows(result, about: "distributed tables").forEach { columns[$0["relation"]] = $0["column"] }
            catalog.distribute(columns)
        }
        warn(client, of: catalog)
        return (catalog, types)
    }

    /// Logs security risks of the session, once for each client.
    private static func warn(_ client: PostgresClient, of catalog: Catalog) {
        if catalog.bypassesRowSecurity { client.warn(of: .bypassesRowSecurity) }
        if !catalog.openSchemas.isEmpty { client.warn(of: .openSchemas(catalog.openSchemas)) }
        if let place = catalog.searchPath.firstIndex(of: "pg_catalog"), place > 0 { client.warn(of: .lateCatalog) }
    }
}

/// The catalog of some schemas, and further facts for a tenant.
package struct SchemaPart: Sendable {
    /// A foreign key to a schema that was not read.
    package struct OuterKey: Sendable {
        package let name: String
        package let table: String
        package let target: QualifiedName
    }

    package let catalog: Catalog
    /// The answer about types, for a client to register.
    package let types: QueryResult
    /// The numbers of the schemas that are there.
    package let schemas: [ServerText: UInt32]
    /// The foreign keys that lead elsewhere.
    package let outerKeys: [OuterKey]
    /// The statements for which the search path matters.
    package let pathUse: TenantSchema.PathUse
}

extension SchemaReader {
    /// The schemas of the program's search path that are there, in its order.
    package static func searchPath(of client: PostgresClient) async throws -> [String] {
        let result = try await client.withOwnPath {
            try await client.execute(Statement(text: searchPathText, resultFormat: .binary))
        }
        return try result.first?.decode(0) ?? []
    }

    private static let searchPathText = StatementText("SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]")

    /// Reads some schemas, in a transaction of its own, so that all statements see one snapshot.
    ///
    /// - Parameters:
    ///   - names: the names of relations, by which they are found without reading all; nil for all.
    ///   - others: the further schemas to which foreign keys may lead.
    package static func read(
        _ schemas: [String], among names: [String]? = nil, besides others: [String], from client: PostgresClient
    ) async throws -> SchemaPart {
        let isAlone = !client.isInTransaction
        return try await client.withTransaction(isolation: .repeatableRead, readOnly: true) { _ in
            var found = try await client.readCatalog(
                [try CatalogScope.statement(for: schemas, among: names)], isAlone: isAlone)
            let scope = try CatalogScope(try found.rows("schemas"))
            let queries =
                try CatalogQueries.scoped(to: scope) + [
                    PostgresClient.typeCatalog(of: scope.types), scope.outerKeys(besides: schemas + others),
                    scope.pathUse(),
                ]
            var answers = try await client.readCatalog(queries, isAlone: isAlone)
            let catalog = try Catalog(&answers)
            warn(client, of: catalog)
            let types = try answers.next("types")
            let keys = try answers.rows("foreign keys").map { row in
                SchemaPart.OuterKey(
                    name: row["conname"], table: row["relname"],
                    target: QualifiedName(schema: row["target_schema"], name: row["target"]))
            }
            let uses: [TenantSchema.PathUse] = try answers.rows("functions").map { row in
                row["reads"] ? .all : row["calls"] ? .writes : TenantSchema.PathUse.none
            }
            return SchemaPart(
                catalog: catalog, types: types, schemas: scope.schemas, outerKeys: keys, pathUse: uses.first ?? .none)
        }
    }
}
