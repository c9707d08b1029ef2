/// The queries that read the catalog, to be sent together under one snapshot.
///
/// Every query numbers its columns as its reader expects them. They need no rights beyond those of any role, and leave
/// out what belongs to the system, to extensions and to Kindred's own helper schema.
enum CatalogQueries {
    static let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    static let commit = "COMMIT"

    static let session = "SELECT current_user::text, pg_catalog.current_schemas(false)::text[]"

    private static let schemas = """
        SELECT n.oid FROM pg_catalog.pg_namespace AS n \
        WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'kindred')
        """

    /// The OIDs of everything that can hold rows, and of composite types.
    private static let relationOIDs = """
        SELECT c.oid FROM pg_catalog.pg_class AS c \
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND c.relnamespace IN (\(schemas)) \
        AND c.relpersistence <> 't' AND c.oid NOT IN (SELECT objid FROM pg_catalog.pg_depend \
        WHERE classid = 'pg_catalog.pg_class'::regclass AND deptype = 'e')
        """

    static let relations = """
        SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relispartition, \
        pg_catalog.has_table_privilege(c.oid, 'SELECT'), pg_catalog.has_schema_privilege(n.oid, 'USAGE'), \
        pg_catalog.has_table_privilege(c.oid, 'INSERT') OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT'), \
        pg_catalog.has_table_privilege(c.oid, 'UPDATE') OR pg_catalog.has_any_column_privilege(c.oid, 'UPDATE'), \
        pg_catalog.has_table_privilege(c.oid, 'DELETE'), \
        c.relkind NOT IN ('v', 'm', 'f') OR pg_catalog.pg_relation_is_updatable(c.oid, true) & 28 = 28 \
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE c.oid IN (\(relationOIDs))
        """

    static let columns = """
        SELECT a.attrelid, a.attnum, a.attname::text, a.atttypid, a.atttypmod, \
        pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef, a.attidentity::text, \
        a.attgenerated::text, a.attacl IS NOT NULL AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') \
        FROM pg_catalog.pg_attribute AS a \
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (\(relationOIDs))
        """

    /// Columns that newer servers have are asked for through the row's JSON, so that one text serves all.
    static let constraints = """
        SELECT k.oid, k.conrelid, k.conname::text, k.contype::text, k.conkey, k.confrelid, k.confkey, \
        k.confdeltype::text, (pg_catalog.to_jsonb(k) -> 'confdelsetcols')::text, k.conparentid, \
        COALESCE((pg_catalog.to_jsonb(k) ->> 'conenforced')::boolean, true), \
        COALESCE((pg_catalog.to_jsonb(k) ->> 'conperiod')::boolean, false), k.confmatchtype::text \
        FROM pg_catalog.pg_constraint AS k WHERE k.contype IN ('p', 'u', 'f') AND k.conrelid IN (\(relationOIDs))
        """

    static let indexes = """
        SELECT i.indrelid, i.indkey::int2[], i.indnkeyatts, i.indisvalid, i.indexprs IS NOT NULL, \
        CASE WHEN i.indpred IS NOT NULL THEN pg_catalog.pg_get_expr(i.indpred, i.indrelid) END \
        FROM pg_catalog.pg_index AS i WHERE i.indisunique AND NOT i.indisprimary AND i.indrelid IN (\(relationOIDs)) \
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype = 'u')
        """

    static let types = """
        SELECT t.oid, n.nspname::text, t.typname::text, t.typtype::text, t.typcategory::text, t.typbasetype, \
        t.typtypmod, CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END, t.typarray, t.typrelid, t.typnotnull, \
        t.typdefault IS NOT NULL \
        FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace \
        WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_toast' \
        AND (t.typrelid = 0 OR t.typrelid IN (SELECT c.oid FROM pg_catalog.pg_class AS c WHERE c.relkind = 'c')) \
        AND (t.typcategory <> 'A' OR t.typelem IN (SELECT e.oid FROM pg_catalog.pg_type AS e WHERE e.typtype <> 'c'))
        """

    static let enumLabels = "SELECT e.enumtypid, e.enumsortorder, e.enumlabel::text FROM pg_catalog.pg_enum AS e"

    static let comments = """
        SELECT d.objoid, d.objsubid, d.description, NULL::text, 0::oid \
        FROM pg_catalog.pg_description AS d \
        WHERE d.classoid = 'pg_catalog.pg_class'::regclass AND d.objoid IN (\(relationOIDs)) \
        UNION ALL \
        SELECT d.objoid, 0, d.description, k.conname::text, k.conrelid \
        FROM pg_catalog.pg_description AS d JOIN pg_catalog.pg_constraint AS k ON k.oid = d.objoid \
        WHERE d.classoid = 'pg_catalog.pg_constraint'::regclass AND d.description LIKE '@kindred%' \
        AND k.conrelid IN (\(relationOIDs))
        """

    /// The definitions of views that show each row of their table at most once: no grouping, no set operation.
    static let views = """
        SELECT c.oid, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class AS c \
        WHERE c.relkind IN ('v', 'm') AND c.oid IN (\(relationOIDs))
        """
}
