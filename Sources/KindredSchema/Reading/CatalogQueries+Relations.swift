import KindredPostgres

// Tables, views and their columns.
extension CatalogQueries {
    /// Tables and views, without system schemas, the helper schema, extensions, and records of migrations.
    ///
    /// `hasInsertTrigger` is a BEFORE INSERT row trigger: ROW, BEFORE and INSERT are the three lowest bits of `tgtype`.
    /// The tables that inherit from the table follow, and the obstacles of writes: row triggers BEFORE (2) or INSTEAD
    /// OF (64), also of partitions and inheriting tables; row-level security; rules. A foreign table may have triggers
    /// that only its server knows. The columns by which it is partitioned come last, 0 for an expression.
    static func relations(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                WITH RECURSIVE obstructed (relation, types) AS (
                    SELECT t.tgrelid, pg_catalog.bit_or(t.tgtype) FROM pg_catalog.pg_trigger AS t
                    WHERE \(within("t.tgrelid", isScoped)) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
                        AND t.tgtype & 1 = 1 AND t.tgtype & 66 <> 0
                    GROUP BY t.tgrelid
                    UNION ALL
                    SELECT f.ftrelid, 28::pg_catalog.int2 FROM pg_catalog.pg_foreign_table AS f
                    UNION
                    SELECT i.inhparent, o.types FROM obstructed AS o
                    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = o.relation
                )
                SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition,
                    pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS may_use,
                    pg_catalog.has_table_privilege(c.oid, 'SELECT') AS may_select,
                    pg_catalog.has_any_column_privilege(c.oid, 'INSERT') AS may_insert,
                    pg_catalog.has_any_column_privilege(c.oid, 'UPDATE') AS may_update,
                    pg_catalog.has_table_privilege(c.oid, 'DELETE') AS may_delete,
                    CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_relation_is_updatable(c.oid, true) & 28 <> 0 ELSE true END
                        AS updatable,
                    c.relhastriggers AND EXISTS (
                        SELECT FROM pg_catalog.pg_trigger AS t
                        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 7 = 7)
                        AS fills_inserts,
                    CASE WHEN c.relkind = ANY ('{r,f}'::pg_catalog."char"[]) AND c.relhassubclass THEN (
                        WITH RECURSIVE below (oid) AS (
                            SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid
                            UNION
                            SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h JOIN below AS b ON h.inhparent = b.oid)
                        SELECT pg_catalog.array_agg(b.oid) FROM below AS b) END AS children,
                    COALESCE(o.types, 0::pg_catalog.int2) AS triggers, c.relrowsecurity,
                    c.relhasrules AND EXISTS (
                        SELECT FROM pg_catalog.pg_rewrite AS r
                        WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN' AND r.ev_enabled <> 'D') AS has_rules,
                    (SELECT p.partattrs::pg_catalog.int2[] FROM pg_catalog.pg_partitioned_table AS p
                    WHERE p.partrelid = c.oid) AS partattrs,
                    CASE WHEN c.relrowsecurity THEN pg_catalog.row_security_active(c.oid) END AS has_policies,
                    CASE WHEN NOT pg_catalog.has_table_privilege(c.oid, 'UPDATE') THEN (
                        SELECT pg_catalog.array_agg(a.attnum) FROM pg_catalog.pg_attribute AS a
                        WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL
                            AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'UPDATE')) END AS may_update_only
                FROM pg_catalog.pg_class AS c
                LEFT JOIN (
                    SELECT relation, pg_catalog.bit_or(types) AS types FROM obstructed GROUP BY relation
                ) AS o ON o.relation = c.oid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                WHERE \(within("c.oid", isScoped)) AND c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
                    AND c.relname <> 'kindred_migration' AND \(isOwn("c", in: "n", of: "pg_class"))
                """
        )
    }

    /// Matches a default that is the time of the insert: functions of the time, in another zone, type or precision, with nothing
    /// added to it.
    private static let insertTime = """
        ^(timezone[(]''[^'']*''::text, )?[(]*\
        ((now|transaction_timestamp|statement_timestamp|clock_timestamp)[(][)]|\
        (CURRENT|LOCAL)_?(DATE|TIMESTAMP|TIME)([(][0-9][)])?)\
        [)]*( AT TIME ZONE ''[^'']*''::text)?[)]*(::[a-z ]+([(][0-9][)])?[a-z ]*[)]*)*$
        """

    /// The columns of possible entities, and of composite types.
    ///
    /// Column privileges are checked only if the column has an access list. Whether a default is the time of the insert is looked
    /// at only in tables with two foreign keys, which may be helpers. From PostgreSQL 18 on, a NOT NULL column may still
    /// have NULLs while its constraint is NOT VALID. The collation is left out where it is the database's, 100.
    static func columns(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod,
                    pg_catalog.format_type(a.atttypid, a.atttypmod) AS type_name,
                    a.attnotnull AND k.conrelid IS NULL AS is_not_null, a.atthasdef, a.attidentity, a.attgenerated,
                    CASE WHEN a.attacl IS NOT NULL THEN pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') END
                        AS may_select,
                    CASE WHEN a.attcollation >= 16384 THEN (
                        SELECT NOT l.collisdeterministic FROM pg_catalog.pg_collation AS l WHERE l.oid = a.attcollation) END AS is_loose,
                    CASE WHEN a.atthasdef AND a.attgenerated = '' AND a.attidentity = ''
                        AND (a.atttypid OPERATOR(pg_catalog.=) ANY ('{1082,1083,1114,1184,1266}'::pg_catalog.oid[])
                            OR a.atttypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid)
                        AND (SELECT pg_catalog.count(*) FROM pg_catalog.pg_constraint AS f
                            WHERE f.conrelid = a.attrelid AND f.contype = 'f') > 1
                    THEN (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) OPERATOR(pg_catalog.~) '\(insertTime)'
                        FROM pg_catalog.pg_attrdef AS d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) END AS has_insert_time,
                    CASE WHEN a.attcollation <> 0 AND a.attcollation <> 100 THEN (
                        SELECT pg_catalog.format('%I.%I'::pg_catalog.text, s.nspname, l.collname)
                        FROM pg_catalog.pg_collation AS l JOIN pg_catalog.pg_namespace AS s ON s.oid = l.collnamespace
                        WHERE l.oid = a.attcollation) END AS collation
                FROM pg_catalog.pg_attribute AS a
                JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
                LEFT JOIN pg_catalog.pg_constraint AS k
                    ON k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated AND a.attnum = ANY (k.conkey)
                WHERE \(within("a.attrelid", isScoped)) AND a.attnum > 0 AND NOT a.attisdropped
                    AND c.oid >= 16384 AND c.relkind = ANY ('{r,p,v,m,f,c}'::pg_catalog."char"[]) AND NOT c.relispartition
                """
        )
    }
}
