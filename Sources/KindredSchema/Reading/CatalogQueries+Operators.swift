import KindredPostgres

// The operators and functions of types that are not built in.
extension CatalogQueries {
    /// The operators outside of `pg_catalog` that compare values, and the aggregates `min` and `max` in the schemas of their
    /// arguments' types; no rows in a database without such types.
    ///
    /// An operator's last column is its strategy in the default class of its type: 1 to 5 in that for B-trees (403), 6 for
    /// equality in that for hash tables (405), 0 for none. An aggregate has no number, and its argument's type on the left.
    static func operators(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT o.oid, n.nspname, o.oprname, o.oprleft, o.oprright, o.oprnegate, COALESCE((
                    SELECT pg_catalog.min(
                        CASE WHEN c.opcmethod = 403 THEN p.amopstrategy ELSE 6::pg_catalog.int2 END)
                    FROM pg_catalog.pg_amop AS p
                    JOIN pg_catalog.pg_opclass AS c ON c.opcfamily = p.amopfamily AND c.opcintype = p.amoplefttype
                    WHERE p.amopopr = o.oid AND p.amoplefttype = o.oprleft AND p.amoprighttype = o.oprleft
                        AND c.opcdefault AND c.opcmethod = ANY ('{403,405}'::pg_catalog.oid[])), 0::pg_catalog.int2) AS strategy
                FROM pg_catalog.pg_operator AS o JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
                WHERE o.oid >= 16384 AND o.oprresult = 16 \(isScoped ? "AND o.oprleft = ANY ($1)" : "AND o.oprleft > 0")
                UNION ALL
                SELECT 0::pg_catalog.oid, n.nspname, p.proname, t.oid, 0::pg_catalog.oid, 0::pg_catalog.oid, 0::pg_catalog.int2
                FROM pg_catalog.pg_proc AS p
                JOIN pg_catalog.pg_type AS t ON t.oid = p.proargtypes[0] AND t.typnamespace = p.pronamespace
                JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
                WHERE p.oid >= 16384 AND p.proname = ANY ('{min,max}'::pg_catalog.name[]) AND p.prokind = 'a'::pg_catalog."char"
                    AND p.pronargs = 1 AND \(within("t.oid", isScoped))
                """
        )
    }
}
