import KindredPostgres

/// The statements that read the rules' further facts, beside the model; all of them together take one round trip.
///
/// As with the model's own, schemas of the search path have no say in them: see `StatementText(catalog:)`.
enum DoctorQueries {
    /// In the order in which `DoctorCatalogDecoder` takes their results.
    static let all = [
        settings, relations, columns, indexes, foreignKeys, families, searchOperators, sequences, functions, policies,
        viewTables, looseCalls, comments, constraints, columnUses, extensions,
    ].map { Statement(text: $0, resultFormat: .binary) }

    private static let settings = StatementText(
        catalog: """
            SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4, pg_catalog.pg_is_in_recovery(),
                pg_catalog.current_setting('track_counts')::pg_catalog.bool,
                pg_catalog.date_part('epoch', pg_catalog.age(pg_catalog.now(), COALESCE(
                    pg_catalog.pg_stat_get_db_stat_reset_time(d.oid), pg_catalog.pg_postmaster_start_time())
                ))::pg_catalog.int8,
                (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user)
            FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()
            """
    )

    /// The condition that something is the user's: not the system's schemas, not the helper schema, not an extension's
    /// object.
    static func isOwn(_ relation: String, _ schema: String, _ catalog: String) -> String {
        """
        \(relation).oid >= 16384 AND \(schema).nspname <> 'information_schema' AND \(schema).nspname <> 'kindred'
            AND \(schema).nspname <> 'kindred_ddl'
            AND \(schema).nspname !~~ 'pg\\_%'::pg_catalog.text
            AND NOT \(relation).oid = ANY (
                SELECT e.objid FROM pg_catalog.pg_depend AS e
                WHERE e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND e.deptype = 'e'
                    AND e.classid = 'pg_catalog.\(catalog)'::pg_catalog.regclass)
            AND NOT \(schema).oid = ANY (
                SELECT e.objid FROM pg_catalog.pg_depend AS e
                WHERE e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND e.deptype = 'e'
                    AND e.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass)
        """
    }

    /// Tables, partitions and views.
    ///
    /// Tables that were never analyzed are measured by their files.
    private static let relations = StatementText(
        catalog: """
            SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition,
                ARRAY (
                    SELECT h.inhparent FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = c.oid ORDER BY h.inhseqno),
                c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid),
                CASE WHEN c.relkind = 'r' AND c.reltuples = '-1'::pg_catalog.float4 THEN
                    pg_catalog.pg_relation_size(c.oid) END,
                c.relrowsecurity,
                EXISTS (
                    SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS o
                    WHERE o.option_name = 'security_invoker' AND o.option_value::pg_catalog.bool),
                c.relhastriggers AND EXISTS (
                    SELECT FROM pg_catalog.pg_trigger AS t
                    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 16 <> 0
                        AND NOT t.tgfoid = ANY (
                            SELECT p.oid FROM pg_catalog.pg_proc AS p
                            JOIN pg_catalog.pg_namespace AS k ON k.oid = p.pronamespace WHERE k.nspname = 'kindred')),
                pg_catalog.pg_stat_get_tuples_deleted(c.oid), pg_catalog.pg_stat_get_tuples_updated(c.oid),
                c.reloftype <> '0'::pg_catalog.oid, c.relpersistence = 'u'
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[]) AND c.relname <> 'kindred_migration'
                AND \(isOwn("c", "n", "pg_class"))
            """
    )

    /// The columns of all relations, including partitions.
    private static let columns = StatementText(
        catalog: """
            SELECT a.attrelid, a.attnum, a.attname, a.atttypid, pg_catalog.format_type(a.atttypid, a.atttypmod),
                a.attcollation, l.collname, ln.nspname, a.attnotnull AND k.conrelid IS NULL, a.atthasdef,
                a.attidentity, a.attgenerated, a.attinhcount <> 0,
                c.relkind = 'p' AND EXISTS (
                    SELECT FROM pg_catalog.pg_depend AS d
                    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = a.attrelid
                        AND d.objsubid = a.attnum AND d.refobjid = a.attrelid AND d.refobjsubid = 0
                        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype = 'i')
            FROM pg_catalog.pg_attribute AS a
            JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
            JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
            LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation AND a.attcollation <> t.typcollation
            LEFT JOIN pg_catalog.pg_namespace AS ln ON ln.oid = l.collnamespace
            LEFT JOIN pg_catalog.pg_constraint AS k
                ON k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated AND a.attnum = ANY (k.conkey)
            WHERE a.attrelid >= 16384 AND a.attnum > 0 AND NOT a.attisdropped
                AND c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
            """
    )

    /// All indexes, with the constraint that each belongs to; `indnullsnotdistinct` came with PostgreSQL 15.
    private static let indexes = StatementText(
        catalog: """
            SELECT i.* FROM (SELECT false AS indnullsnotdistinct) AS missing
            CROSS JOIN LATERAL (
                SELECT indexrelid, indrelid, x.relname, m.amname, indkey::pg_catalog.int2[], indnkeyatts, indisunique,
                    indisprimary, indisexclusion, indisvalid, indisready, indislive, indnullsnotdistinct, indisreplident,
                    x.relkind = 'I', indclass::pg_catalog.oid[], indcollation::pg_catalog.oid[],
                    indoption::pg_catalog.int2[],
                    CASE WHEN indexprs IS NOT NULL THEN pg_catalog.pg_get_expr(indexprs, indrelid) END,
                    CASE WHEN indpred IS NOT NULL THEN pg_catalog.pg_get_expr(indpred, indrelid) END,
                    k.oid, k.conname, k.condeferrable,
                    CASE WHEN x.relispartition THEN (
                        SELECT h.inhparent FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = indexrelid LIMIT 1) END,
                    pg_catalog.pg_stat_get_numscans(indexrelid), x.relpages,
                    CASE WHEN indexprs IS NOT NULL OR indpred IS NOT NULL THEN ARRAY (
                        SELECT d.refobjsubid::pg_catalog.int2 FROM pg_catalog.pg_depend AS d
                        WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = indexrelid
                            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = indrelid
                            AND d.refobjsubid > 0) END
                FROM pg_catalog.pg_index
                JOIN pg_catalog.pg_class AS x ON x.oid = indexrelid
                JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
                LEFT JOIN pg_catalog.pg_constraint AS k
                    ON k.conindid = indexrelid AND k.conrelid = indrelid
                        AND k.contype = ANY ('{p,u,x}'::pg_catalog."char"[])
                WHERE indrelid >= 16384
            ) AS i
            """
    )

    /// Foreign keys, the parts of partitioned tables' keys too.
    ///
    /// `conenforced` and `conperiod` came with PostgreSQL 18, `confdelsetcols` with 15.
    private static let foreignKeys = StatementText(
        catalog: """
            SELECT k.* FROM (
                SELECT true AS conenforced, false AS conperiod, NULL::pg_catalog.int2[] AS confdelsetcols
            ) AS missing
            CROSS JOIN LATERAL (
                SELECT oid, conrelid, conname, conkey, confrelid, confkey, confdeltype, confupdtype, confdelsetcols,
                    confmatchtype, conparentid, convalidated, condeferrable, condeferred, conenforced, conperiod,
                    conffeqop, conindid
                FROM pg_catalog.pg_constraint
                WHERE contype = 'f' AND conrelid >= 16384
            ) AS k
            """
    )

    private static let families = StatementText(
        catalog: "SELECT o.oid, o.opcfamily FROM pg_catalog.pg_opclass AS o"
    )

    /// The index searches that can look for the equality which a foreign key means.
    private static let searchOperators = StatementText(
        catalog: """
            SELECT o.amopfamily, o.amopopr FROM pg_catalog.pg_amop AS o
            WHERE o.amoppurpose = 's' AND o.amopopr = ANY (
                SELECT u.operator FROM pg_catalog.pg_constraint AS k
                CROSS JOIN LATERAL pg_catalog.unnest(k.conffeqop) AS u (operator)
                WHERE k.contype = 'f')
            """
    )

    /// Sequences of identity columns, of serial columns, and sequences that defaults call.
    private static let sequences = {
        func select(_ source: String) -> String {
            """
            SELECT c.oid, n.nspname, c.relname, o.relation, o.number, s.seqmax, s.seqincrement, o.may,
                CASE WHEN o.may THEN pg_catalog.pg_sequence_last_value(c.oid) END
            FROM pg_catalog.pg_sequence AS s
            JOIN pg_catalog.pg_class AS c ON c.oid = s.seqrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            CROSS JOIN LATERAL (\(source)) AS o (relation, number, may)
            WHERE c.oid >= 16384
            """
        }
        let may = "pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT')"
        return StatementText(
            catalog: select(
                """
                SELECT d.refobjid, d.refobjsubid::pg_catalog.int2, \(may) FROM pg_catalog.pg_depend AS d
                WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid
                    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjsubid > 0
                    AND d.deptype = ANY ('{a,i}'::pg_catalog."char"[])
                """)
                + " UNION ALL "
                + select(
                    """
                    SELECT f.adrelid, f.adnum, \(may) FROM pg_catalog.pg_depend AS d
                    JOIN pg_catalog.pg_attrdef AS f ON f.oid = d.objid
                    WHERE d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.refobjid = c.oid
                        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                    """))
    }()
}
