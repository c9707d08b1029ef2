import KindredPostgres
import KindredSchema

/// The statements that read the rules' further facts, beside the model; all of them together take one round trip.
///
/// As with the model's own, schemas of the search path have no say in them: see `StatementText(catalog:)`.
enum DoctorQueries {
    /// In the order in which `DoctorCatalog` takes their answers.
    static let all = [
        settings, relations, columns, indexes, constraints, families, searchOperators, sequences, functions, policies,
        viewTables, looseCalls, comments, columnUses, extensions,
    ].map { Statement(text: $0, resultFormat: .binary) }

    private static let settings = StatementText(
        catalog: """
            SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version,
                pg_catalog.pg_is_in_recovery() AS is_standby,
                pg_catalog.current_setting('track_counts')::pg_catalog.bool AS counts,
                pg_catalog.date_part('epoch', pg_catalog.age(pg_catalog.now(), COALESCE(
                    pg_catalog.pg_stat_get_db_stat_reset_time(d.oid), pg_catalog.pg_postmaster_start_time())
                ))::pg_catalog.int8 AS age,
                (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) AS rolsuper
            FROM pg_catalog.pg_database AS d
            WHERE d.datname = pg_catalog.current_database() AND \(CatalogQueries.withoutCompiler)
            """
    )

    /// Tables, partitions and views.
    ///
    /// Tables that were never analyzed are measured by their files.
    private static let relations = StatementText(
        catalog: """
            SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition,
                ARRAY (
                    SELECT h.inhparent FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = c.oid ORDER BY h.inhseqno)
                    AS parents,
                c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid) AS live,
                CASE WHEN c.relkind = 'r' AND c.reltuples = '-1'::pg_catalog.float4 THEN
                    pg_catalog.pg_relation_size(c.oid) END AS size,
                c.relrowsecurity,
                EXISTS (
                    SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS o
                    WHERE o.option_name = 'security_invoker' AND o.option_value::pg_catalog.bool) AS is_invoker,
                c.relhastriggers AND EXISTS (
                    SELECT FROM pg_catalog.pg_trigger AS t
                    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 16 <> 0
                        AND NOT t.tgfoid = ANY (
                            SELECT p.oid FROM pg_catalog.pg_proc AS p
                            JOIN pg_catalog.pg_namespace AS k ON k.oid = p.pronamespace WHERE k.nspname = 'kindred')) AS has_trigger,
                pg_catalog.pg_stat_get_tuples_deleted(c.oid) AS deletes, pg_catalog.pg_stat_get_tuples_updated(c.oid) AS updates,
                c.reloftype <> '0'::pg_catalog.oid AS is_typed, c.relpersistence = 'u' AS is_unlogged
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[]) AND c.relname <> 'kindred_migration'
                AND \(CatalogQueries.isOwn("c", in: "n", of: "pg_class"))
            """
    )

    /// The columns of all relations, including partitions.
    private static let columns = StatementText(
        catalog: """
            SELECT a.attrelid, a.attnum, a.attname, a.atttypid, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type_name,
                a.attcollation, l.collname, ln.nspname AS collschema, a.attnotnull AND k.conrelid IS NULL AS is_not_null,
                a.atthasdef, a.attidentity, a.attgenerated, a.attinhcount <> 0 AS is_inherited,
                c.relkind = 'p' AND EXISTS (
                    SELECT FROM pg_catalog.pg_depend AS d
                    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = a.attrelid
                        AND d.objsubid = a.attnum AND d.refobjid = a.attrelid AND d.refobjsubid = 0
                        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.deptype = 'i') AS is_key
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

    /// All indexes, with the constraint that each belongs to.
    private static let indexes = StatementText(
        catalog: """
            SELECT i.*, x.relname, x.relkind, m.amname, x.relpages, k.oid AS constraint_id, k.conname, k.condeferrable,
                CASE WHEN i.indexprs IS NOT NULL THEN pg_catalog.pg_get_expr(i.indexprs, i.indrelid) END AS expressions,
                CASE WHEN i.indpred IS NOT NULL THEN pg_catalog.pg_get_expr(i.indpred, i.indrelid) END AS predicate,
                CASE WHEN x.relispartition THEN (
                    SELECT h.inhparent FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = i.indexrelid LIMIT 1) END AS parent,
                pg_catalog.pg_stat_get_numscans(i.indexrelid) AS scans,
                CASE WHEN i.indexprs IS NOT NULL OR i.indpred IS NOT NULL THEN ARRAY (
                    SELECT d.refobjsubid::pg_catalog.int2 FROM pg_catalog.pg_depend AS d
                    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = i.indexrelid
                        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = i.indrelid
                        AND d.refobjsubid > 0) END AS named
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
            JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
            LEFT JOIN pg_catalog.pg_constraint AS k
                ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
                    AND k.contype = ANY ('{p,u,x}'::pg_catalog."char"[])
            WHERE i.indrelid >= 16384
            """
    )

    /// All constraints, the parts of partitioned tables' keys too, with the conditions of the checks that hold for every row.
    private static let constraints = StatementText(
        catalog: """
            SELECT k.*,
                CASE WHEN k.contype = 'c' AND k.convalidated THEN pg_catalog.pg_get_expr(k.conbin, k.conrelid) END AS condition
            FROM pg_catalog.pg_constraint AS k WHERE k.conrelid >= 16384
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
                CASE WHEN o.may THEN pg_catalog.pg_sequence_last_value(c.oid) END AS last_value
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
