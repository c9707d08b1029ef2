/// The schema `kindred`, which holds change tracking and the history of migrations, and may have been made by any role that may
/// create schemas in the database.
///
/// A function there runs with the rights of its caller, and so does a trigger of a table, a view in its place, a
/// default or a check. So a caller uses only objects of itself, of a superuser, or of the role that it names; a
/// superuser uses only objects of superusers. Tables must be plain tables, and all code in them must be Kindred's own.
package enum HelperSchema {
    /// Asks for the first object that the role of the session may not use, as a text; no row if there is none.
    ///
    /// Looks up nothing outside of `pg_catalog`, and calls nothing of the schema.
    ///
    /// - Parameters:
    ///   - schema: the schema `kindred`, or the schema of a tenant.
    ///   - pattern: the names of the tables and functions, for `LIKE`.
    ///   - owner: the role that the caller names; nil for none.
    ///   - checksSchema: whether the schema, too, has to belong to such a role.
    package static func foreignObject(
        in schema: String, like pattern: String, owner: String?, checksSchema: Bool = true
    ) -> SQL {
        """
        WITH me AS (
            SELECT r.oid, r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) current_user
        ), known AS (
            SELECT r.oid FROM pg_catalog.pg_roles AS r CROSS JOIN me WHERE r.rolsuper OR r.oid OPERATOR(pg_catalog.=) me.oid
                OR NOT me.rolsuper AND r.rolname OPERATOR(pg_catalog.=) \(owner)::pg_catalog.name
        ), space AS (
            SELECT n.oid, n.nspowner, pg_catalog.quote_ident(n.nspname) AS name FROM pg_catalog.pg_namespace AS n
            WHERE n.nspname OPERATOR(pg_catalog.=) \(schema)::pg_catalog.name
        ), place AS (
            SELECT c.oid, c.relkind, c.relowner, c.relrowsecurity,
                pg_catalog.concat(s.name, '.', pg_catalog.quote_ident(c.relname)) AS name
            FROM pg_catalog.pg_class AS c JOIN space AS s ON s.oid OPERATOR(pg_catalog.=) c.relnamespace
            WHERE c.relname::pg_catalog.text OPERATOR(pg_catalog.~~) \(pattern)::pg_catalog.text
                AND c.relkind OPERATOR(pg_catalog.<>) 'i'
        )
        SELECT f.problem FROM (
            SELECT pg_catalog.concat('the schema ', s.name, ' belongs to role ', pg_catalog.pg_get_userbyid(s.nspowner))
            FROM space AS s WHERE \(checksSchema)
                AND NOT EXISTS (SELECT FROM known AS k WHERE k.oid OPERATOR(pg_catalog.=) s.nspowner)
            UNION ALL
            SELECT pg_catalog.concat(p.name, ' belongs to role ', pg_catalog.pg_get_userbyid(p.relowner))
            FROM place AS p WHERE NOT EXISTS (SELECT FROM known AS k WHERE k.oid OPERATOR(pg_catalog.=) p.relowner)
            UNION ALL
            SELECT pg_catalog.concat('the function ', s.name, '.', pg_catalog.quote_ident(f.proname), ' belongs to role ',
                pg_catalog.pg_get_userbyid(f.proowner))
            FROM pg_catalog.pg_proc AS f JOIN space AS s ON s.oid OPERATOR(pg_catalog.=) f.pronamespace
            WHERE f.proname::pg_catalog.text OPERATOR(pg_catalog.~~) \(pattern)::pg_catalog.text
                AND NOT EXISTS (SELECT FROM known AS k WHERE k.oid OPERATOR(pg_catalog.=) f.proowner)
            UNION ALL
            SELECT pg_catalog.concat(p.name, ' is no plain table, but has ', x.what) FROM place AS p CROSS JOIN LATERAL (
                SELECT 'another kind' WHERE p.relkind OPERATOR(pg_catalog.<>) ALL ('{r,S}'::pg_catalog."char"[])
                UNION ALL
                SELECT 'a policy' WHERE p.relrowsecurity
                UNION ALL
                SELECT 'a trigger' FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid OPERATOR(pg_catalog.=) p.oid
                UNION ALL
                SELECT 'a rule' FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class OPERATOR(pg_catalog.=) p.oid
                UNION ALL
                SELECT 'a parent or child' FROM pg_catalog.pg_inherits AS i
                WHERE i.inhrelid OPERATOR(pg_catalog.=) p.oid OR i.inhparent OPERATOR(pg_catalog.=) p.oid
                UNION ALL
                SELECT 'a column of a user''s type, or one that is generated' FROM pg_catalog.pg_attribute AS a
                WHERE a.attrelid OPERATOR(pg_catalog.=) p.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
                    AND (a.atttypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid OR a.attgenerated OPERATOR(pg_catalog.<>) ''
                        OR a.attidentity OPERATOR(pg_catalog.<>) '')
                UNION ALL
                SELECT 'a default of another' FROM pg_catalog.pg_attrdef AS d WHERE d.adrelid OPERATOR(pg_catalog.=) p.oid
                    AND pg_catalog.replace(pg_catalog.pg_get_expr(d.adbin, d.adrelid), 'pg_catalog.', '')
                        OPERATOR(pg_catalog.<>) ALL (\(defaults)::pg_catalog.text[])
                UNION ALL
                SELECT 'a constraint of another' FROM pg_catalog.pg_constraint AS c WHERE c.conrelid OPERATOR(pg_catalog.=) p.oid
                    AND c.contype OPERATOR(pg_catalog.<>) ALL ('{p,n}'::pg_catalog."char"[])
                    AND pg_catalog.pg_get_constraintdef(c.oid) OPERATOR(pg_catalog.<>) 'CHECK (only_row)'
                UNION ALL
                SELECT 'an index with an expression' FROM pg_catalog.pg_index AS i WHERE i.indrelid OPERATOR(pg_catalog.=) p.oid
                    AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
            ) AS x (what)
        ) AS f (problem) LIMIT 1
        """
    }

    /// The defaults of columns that Kindred has made, in any version.
    private static let defaults = [
        "true", "false", "0", "clock_timestamp()", "gen_random_uuid()", "'01:00:00'::interval", "'30 days'::interval",
        "'1 mon'::interval",
    ]

    /// The remedy behind a problem.
    package static let remedy = """
        What stands there would run with your rights. Connect as the role that made it, or name that role as the owner if you \
        trust it; a superuser uses only what superusers have made
        """
}
