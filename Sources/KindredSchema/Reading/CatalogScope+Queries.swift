import KindredPostgres

// Facts that the model of a tenant's schema needs besides the catalog.
extension CatalogScope {
    /// The foreign keys that lead to other schemas than some.
    func outerKeys(besides schemas: [String]) throws -> Statement {
        var bindings = try bindings(of: .relations)
        try bindings.appendArray(schemas.map { .string($0) }, of: .text)
        return Statement(text: Self.outerKeysText, bindings: bindings, resultFormat: .binary)
    }

    private static let outerKeysText = StatementText(
        catalog: """
            SELECT k.conname, c.relname, n.nspname AS target_schema, t.relname AS target
            FROM pg_catalog.pg_constraint AS k
            JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
            JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
            WHERE k.conrelid = ANY ($1) AND k.contype = 'f'::pg_catalog."char" AND NOT n.nspname = ANY ($2::pg_catalog.name[])
            ORDER BY 1
            """)

    /// Whether reads, and whether writes, run functions without a search path of their own, which depend on the
    /// session's.
    func pathUse() throws -> Statement {
        Statement(text: Self.pathUseText, bindings: try bindings(of: .relations), resultFormat: .binary)
    }

    private static let pathUseText = StatementText(
        catalog: """
            \(LooseFunctions.query(within: { "\($0) = ANY ($1)" }))
            SELECT COALESCE(pg_catalog.bool_or(f.reads), false) AS reads, pg_catalog.count(*) > 0 AS calls FROM found AS f
            """)
}
