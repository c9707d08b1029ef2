import KindredPostgres
import KindredSchema

/// The statements that read the compared parts of a schema; together they take one round trip.
///
/// The search path and the settings that decide how the server writes expressions are fixed, so that two servers write
/// the same thing in the same way.
enum SnapshotQueries {
    /// Beside the session, in the order in which `SnapshotReader` takes their answers.
    static let all = [
        schemas, types, relations, columns, constraints, indexes, functions, objects, settings, dependencies, casts,
    ].map { Statement(text: StatementText($0), resultFormat: .binary) }

    static let session = Statement(
        text: StatementText(
            catalog: """
                SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                    pg_catalog.set_config('DateStyle', 'ISO, YMD', true),
                    pg_catalog.set_config('IntervalStyle', 'postgres', true),
                    pg_catalog.set_config('TimeZone', 'UTC', true), pg_catalog.set_config('extra_float_digits', '1', true),
                    pg_catalog.set_config('bytea_output', 'hex', true),
                    pg_catalog.set_config('quote_all_identifiers', 'off', true),
                    pg_catalog.set_config('lc_monetary', 'C', true),
                    pg_catalog.set_config('standard_conforming_strings', 'on', true),
                    pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version
                WHERE \(CatalogQueries.withoutCompiler)
                """),
        resultFormat: .binary)

    /// Schemas of users.
    static func isUsers(_ schema: String) -> String {
        """
        \(schema).nspname !~ '^pg_' AND \(schema).nspname <> 'information_schema' AND \(schema).nspname <> 'kindred' \
        AND \(schema).nspname <> 'kindred_ddl'
        """
    }

    /// Leaves out the triggers of change tracking, which call the helper schema.
    static func isNotTrackings(_ function: String) -> String {
        """
        NOT EXISTS (SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE p.oid = \(function) AND (n.nspname = 'kindred' OR n.nspname = 'kindred_ddl'))
        """
    }

    static func isNotOfExtension(_ oid: String, _ table: String) -> String {
        """
        NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = '\(table)'::regclass AND e.objid = \(oid)
            AND e.deptype = 'e')
        """
    }

    /// The privileges of roles other than the owner: privilege, whether it can be passed on, and the role.
    static func grants(_ list: String, _ kind: String, _ owner: String) -> String {
        """
        ARRAY(SELECT DISTINCT g.privilege_type || E'\\t' || g.is_grantable::text || E'\\t0\\t' || COALESCE(r.rolname::text, '')
            FROM aclexplode(COALESCE(\(list), acldefault('\(kind)', \(owner)))) AS g
            LEFT JOIN pg_roles AS r ON r.oid = g.grantee WHERE g.grantee <> \(owner) ORDER BY 1)
        """
    }

    /// The privileges on a relation's columns; before the role stand the length of the column's name, and the name.
    private static let columnGrants = """
        ARRAY(SELECT DISTINCT g.privilege_type || E'\\t' || g.is_grantable::text || E'\\t' || length(a.attname::text) || E'\\t'
                || a.attname::text || COALESCE(r.rolname::text, '')
            FROM pg_attribute AS a CROSS JOIN aclexplode(a.attacl) AS g LEFT JOIN pg_roles AS r ON r.oid = g.grantee
            WHERE a.attrelid = c.oid AND NOT a.attisdropped AND g.grantee <> c.relowner ORDER BY 1)
        """

    private static func options(_ sequence: String) -> String {
        """
        ARRAY['INCREMENT BY ' || \(sequence).seqincrement, 'MINVALUE ' || \(sequence).seqmin,
            'MAXVALUE ' || \(sequence).seqmax, 'START WITH ' || \(sequence).seqstart, 'CACHE ' || \(sequence).seqcache,
            CASE WHEN \(sequence).seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END]
        """
    }

    private static func collation(_ collation: String, _ type: String) -> String {
        """
        (SELECT quote_ident(ln.nspname) || '.' || quote_ident(l.collname) FROM pg_collation AS l
            JOIN pg_namespace AS ln ON ln.oid = l.collnamespace
            WHERE l.oid = \(collation) AND \(collation) <> \(type).typcollation)
        """
    }

    private static let schemas = """
        SELECT n.nspname::text AS name, obj_description(n.oid, 'pg_namespace') AS comment,
            \(grants("n.nspacl", "n", "n.nspowner")) AS grants
        FROM pg_namespace AS n WHERE \(isUsers("n")) AND \(isNotOfExtension("n.oid", "pg_namespace"))
        """

    private static let relations = """
        SELECT c.oid::text AS oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
            (c.relpersistence = 'u') AS is_unlogged,
            ARRAY(SELECT o FROM unnest(c.reloptions) AS o UNION ALL
                SELECT 'toast.' || o FROM pg_class AS f CROSS JOIN unnest(f.reloptions) AS o
                WHERE f.oid = c.reltoastrelid ORDER BY 1) AS options,
            CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END AS partition_key,
            CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END AS bound,
            ARRAY(SELECT i.inhparent::text FROM pg_inherits AS i WHERE i.inhrelid = c.oid ORDER BY i.inhseqno) AS parents,
            CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) WHEN c.relkind = 'f' THEN \(foreignTable) END
                AS definition,
            CASE WHEN c.relkind = 'c' THEN obj_description(c.reltype, 'pg_type') ELSE obj_description(c.oid, 'pg_class') END
                AS comment,
            CASE WHEN c.relkind = 'c'
                THEN (SELECT \(grants("t.typacl", "T", "t.typowner")) FROM pg_type AS t WHERE t.oid = c.reltype)
                ELSE \(grants("c.relacl", "r", "c.relowner")) || \(columnGrants) END AS grants,
            c.reltype::text AS type, (SELECT t.typarray::text FROM pg_type AS t WHERE t.oid = c.reltype) AS array_type,
            format_type(s.seqtypid, NULL) AS sequence_type,
            CASE WHEN s.seqrelid IS NOT NULL THEN \(options("s")) ELSE '{}' END AS sequence_options,
            (SELECT d.refobjid::text || '/' || d.refobjsubid::text FROM pg_depend AS d
                WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'a'
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0 AND c.relkind = 'S') AS owned_by
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        LEFT JOIN pg_sequence AS s ON s.seqrelid = c.oid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'c', 'f') AND \(isUsers("n")) AND c.relpersistence <> 't'
            AND c.relname <> 'kindred_migration'
            AND \(isNotOfExtension("c.oid", "pg_class"))
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                AND d.deptype = 'i' AND d.refclassid = 'pg_class'::regclass AND c.relkind = 'S')
        """

    private static let columns = """
        SELECT a.attrelid::text AS relation, a.attnum::text AS number, a.attname::text AS name,
            format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS is_not_null,
            pg_get_expr(d.adbin, d.adrelid) AS expression, a.attidentity::text AS identity, a.attgenerated::text AS generation,
            \(collation("a.attcollation", "t")) AS collation, (a.attislocal AND NOT c.relispartition) AS is_own,
            col_description(a.attrelid, a.attnum) AS comment,
            COALESCE((SELECT \(options("s")) FROM pg_depend AS q JOIN pg_sequence AS s ON s.seqrelid = q.objid
                WHERE q.classid = 'pg_class'::regclass AND q.refclassid = 'pg_class'::regclass AND q.refobjid = a.attrelid
                    AND q.refobjsubid = a.attnum AND q.deptype = 'i' AND a.attidentity <> ''), '{}') AS identity_options,
            format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS base,
            (t.typcategory = 'S') AS is_text
        FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_type AS t ON t.oid = a.atttypid
        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'c', 'f')
        ORDER BY a.attrelid, a.attnum
        """

    /// Constraints that partitions and children have from their parents are no things of their own, and NOT NULL is a
    /// property of its column.
    private static let constraints = """
        SELECT k.oid::text AS oid, k.conrelid::text AS relation, k.contypid::text AS domain, k.conname::text AS name,
            k.contype::text AS kind, pg_get_constraintdef(k.oid) AS definition, k.convalidated AS is_valid,
            obj_description(k.oid, 'pg_constraint') AS comment,
            CASE WHEN k.contype IN ('p', 'u') THEN pg_get_indexdef(k.conindid) END AS index, k.conindid::text AS index_oid,
            CASE WHEN k.condeferrable THEN ' DEFERRABLE' ELSE '' END
                || CASE WHEN k.condeferred THEN ' INITIALLY DEFERRED' ELSE '' END AS deferral,
            quote_ident(k.conname) AS quoted_name
        FROM pg_constraint AS k
        WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND k.conparentid = 0 AND k.conislocal AND k.oid >= 16384
        """

    private static let indexes = """
        SELECT i.indexrelid::text AS oid, i.indrelid::text AS relation, n.nspname::text AS schema, c.relname::text AS name,
            pg_get_indexdef(i.indexrelid) AS definition, (i.indisvalid OR c.relkind = 'I') AS is_valid,
            obj_description(i.indexrelid, 'pg_class') AS comment, quote_ident(c.relname) AS quoted_name
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE i.indexrelid >= 16384 AND NOT c.relispartition AND \(isUsers("n"))
            AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
        """

    /// Enums, domains and ranges; base types and shells are only named.
    private static let types = """
        SELECT t.oid::text AS oid, n.nspname::text AS schema, t.typname::text AS name,
            CASE WHEN r.rngcanonical <> 0 THEN 'b' ELSE t.typtype::text END AS kind, t.typarray::text AS array_type,
            ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder) AS labels,
            CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END AS base,
            t.typnotnull AS is_not_null,
            CASE WHEN t.typtype = 'd' THEN pg_get_expr(t.typdefaultbin, 'pg_type'::regclass) END AS default_text,
            \(collation("t.typcollation", "b")) AS collation, obj_description(t.oid, 'pg_type') AS comment,
            \(grants("t.typacl", "T", "t.typowner")) AS grants,
            COALESCE('SUBTYPE = ' || format_type(r.rngsubtype, NULL) || (SELECT format(', SUBTYPE_OPCLASS = %I.%I', on_.nspname,
                    o.opcname) FROM pg_opclass AS o JOIN pg_namespace AS on_ ON on_.oid = o.opcnamespace WHERE o.oid = r.rngsubopc)
                || COALESCE((SELECT format(', COLLATION = %I.%I', ln.nspname, l.collname) FROM pg_collation AS l
                    JOIN pg_namespace AS ln ON ln.oid = l.collnamespace WHERE l.oid = r.rngcollation), '')
                || CASE WHEN r.rngsubdiff <> 0 THEN ', SUBTYPE_DIFF = ' || r.rngsubdiff::text ELSE '' END
                || COALESCE((SELECT format(', MULTIRANGE_TYPE_NAME = %I.%I', mn.nspname, m.typname) FROM pg_type AS m
                    JOIN pg_namespace AS mn ON mn.oid = m.typnamespace
                    WHERE m.oid::text = to_jsonb(r) ->> 'rngmultitypid'), ''), t.typinput::text) AS definition,
            to_jsonb(r) ->> 'rngmultitypid' AS multirange
        FROM pg_type AS t
        JOIN pg_namespace AS n ON n.oid = t.typnamespace
        LEFT JOIN pg_type AS b ON b.oid = t.typbasetype
        LEFT JOIN pg_range AS r ON r.rngtypid = t.oid
        WHERE (t.typtype IN ('e', 'd', 'r') OR t.typtype IN ('b', 'p') AND t.typelem = 0) AND \(isUsers("n"))
            AND \(isNotOfExtension("t.oid", "pg_type"))
        """

    /// Dependencies; a default stands for its column, a view's rule for the view, and an array's type for its elements'
    /// type where the query looks for the extension that owns it.
    private static let dependencies = """
        SELECT CASE WHEN a.oid IS NOT NULL OR r.oid IS NOT NULL THEN 'pg_class' ELSE d.classid::regclass::text END AS catalog,
            COALESCE(a.adrelid, r.ev_class, d.objid)::text AS oid, COALESCE(a.adnum::integer, d.objsubid)::text AS number,
            d.refclassid::regclass::text AS needed_catalog, d.refobjid::text AS needed_oid,
            d.refobjsubid::text AS needed_number,
            (SELECT x.extname::text FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                WHERE e.classid = d.refclassid AND e.objid IN (d.refobjid, y.typelem) AND e.deptype = 'e'
                LIMIT 1) AS extension
        FROM pg_depend AS d
        LEFT JOIN pg_type AS y ON d.refclassid = 'pg_type'::regclass AND y.oid = d.refobjid AND y.typelem <> 0
        LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
        LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
        WHERE d.objid >= 16384 AND d.refobjid >= 16384 AND d.deptype IN ('n', 'a', 'i', 'P', 'S')
        """

    private static let casts = """
        SELECT format_type(k.castsource, NULL) || '>' || format_type(k.casttarget, NULL) AS types,
            (k.castcontext <> 'e') AS is_assignment
        FROM pg_cast AS k
        """
}
