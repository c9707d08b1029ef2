import KindredPostgres

// What the model of a tenant's schema needs besides the catalog.
extension CatalogScope {
    /// The foreign keys that lead to other schemas than some.
    func outerKeys(besides schemas: [String]) throws -> Statement {
        var bindings = try bindings(of: .relations)
        try bindings.appendArray(schemas.map { .string($0) }, of: .text)
        return Statement(text: Self.outerKeysText, bindings: bindings, resultFormat: .binary)
    }

    private static let outerKeysText = StatementText(
        catalog: """
            SELECT k.conname::pg_catalog.text, c.relname::pg_catalog.text, n.nspname::pg_catalog.text,
                t.relname::pg_catalog.text
            FROM pg_catalog.pg_constraint AS k
            JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
            JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
            WHERE k.conrelid = ANY ($1) AND k.contype = 'f'::pg_catalog."char" AND NOT n.nspname = ANY ($2::pg_catalog.name[])
            ORDER BY 1
            """)

    /// Whether reads, and whether writes, run functions without a search path of their own, which rest on that of the session.
    ///
    /// Functions of C need none. Reads run those of policies and views, writes also those of triggers, defaults, checks, index
    /// expressions, generated columns and rules.
    func pathUse() throws -> Statement {
        Statement(text: Self.pathUseText, bindings: try bindings(of: .relations), resultFormat: .binary)
    }

    private static let pathUseText = StatementText(
        catalog: """
            WITH loose (oid) AS (
                SELECT p.oid FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
                WHERE p.oid >= 16384 AND NOT l.lanname = ANY ('{internal,c}'::pg_catalog.name[])
                    AND NOT EXISTS (
                        SELECT FROM pg_catalog.unnest(p.proconfig) AS s (text)
                        WHERE s.text ~~ 'search_path=%'::pg_catalog.text)
            ), uses (class, object, reads) AS (
                SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, d.oid, false FROM pg_catalog.pg_attrdef AS d
                WHERE d.adrelid = ANY ($1)
                UNION ALL SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid, false FROM pg_catalog.pg_trigger AS t
                WHERE t.tgrelid = ANY ($1) AND NOT t.tgisinternal
                UNION ALL SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, false
                FROM pg_catalog.pg_constraint AS k WHERE k.conrelid = ANY ($1) AND k.contype = 'c'::pg_catalog."char"
                UNION ALL SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid, false
                FROM pg_catalog.pg_index AS i WHERE i.indrelid = ANY ($1)
                UNION ALL SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, r.oid, r.rulename = '_RETURN'
                FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = ANY ($1)
                UNION ALL SELECT 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, true
                FROM pg_catalog.pg_policy AS p WHERE p.polrelid = ANY ($1)
            ), found (reads) AS (
                SELECT u.reads FROM uses AS u
                JOIN pg_catalog.pg_depend AS d ON d.classid = u.class AND d.objid = u.object
                WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.refobjid = ANY (
                    SELECT l.oid FROM loose AS l)
                UNION ALL SELECT true FROM pg_catalog.pg_attribute AS a
                JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid AND t.typtype = 'd'::pg_catalog."char"
                JOIN pg_catalog.pg_constraint AS k ON k.contypid = t.oid
                JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid = k.oid
                WHERE a.attrelid = ANY ($1) AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                    AND d.refobjid = ANY (SELECT l.oid FROM loose AS l)
            )
            SELECT COALESCE(pg_catalog.bool_or(f.reads), false), pg_catalog.count(*) FROM found AS f
            """)
}
