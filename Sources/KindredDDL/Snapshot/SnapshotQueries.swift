import KindredPostgres

/// The statements that read what is compared; all of them together take one round trip.
///
/// The search path and the settings that decide how the server writes expressions are fixed, so that two servers write
/// the same thing in the same way.
enum SnapshotQueries {
    static let all = [
        version, schemas, relations, columns, constraints, indexes, types, functions, others, dependencies, casts,
    ]

    static let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    static let settings = """
        SELECT set_config('search_path', 'pg_catalog, pg_temp', true), set_config('DateStyle', 'ISO, YMD', true),
            set_config('IntervalStyle', 'postgres', true), set_config('TimeZone', 'UTC', true),
            set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true),
            set_config('quote_all_identifiers', 'off', true), set_config('lc_monetary', 'C', true),
            set_config('standard_conforming_strings', 'on', true)
        """

    private static let version = "SELECT current_setting('server_version_num')"

    /// Schemas of users.
    private static func isUsers(_ schema: String) -> String {
        "\(schema).nspname !~ '^pg_' AND \(schema).nspname <> 'information_schema' AND \(schema).nspname <> 'kindred'"
    }

    /// Triggers that call the helper schema belong to change tracking.
    private static func isNotTrackings(_ function: String) -> String {
        """
        NOT EXISTS (SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE p.oid = \(function) AND n.nspname = 'kindred')
        """
    }

    private static func isNotOfExtension(_ oid: String, _ table: String) -> String {
        """
        NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = '\(table)'::regclass AND e.objid = \(oid)
            AND e.deptype = 'e')
        """
    }

    /// What roles other than the owner may do.
    private static func grants(_ list: String, _ kind: String, _ owner: String) -> String {
        """
        ARRAY(SELECT COALESCE(r.rolname::text, '') || E'\\t' || g.privilege_type || E'\\t' || g.is_grantable::text
            FROM aclexplode(COALESCE(\(list), acldefault('\(kind)', \(owner)))) AS g
            LEFT JOIN pg_roles AS r ON r.oid = g.grantee WHERE g.grantee <> \(owner) ORDER BY 1)
        """
    }

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
        SELECT n.nspname::text, obj_description(n.oid, 'pg_namespace'), \(grants("n.nspacl", "n", "n.nspowner"))
        FROM pg_namespace AS n WHERE \(isUsers("n")) AND \(isNotOfExtension("n.oid", "pg_namespace"))
        """

    private static let relations = """
        SELECT c.oid::text, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text,
            ARRAY(SELECT o FROM unnest(c.reloptions) AS o ORDER BY 1),
            CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END,
            CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END,
            ARRAY(SELECT i.inhparent::text FROM pg_inherits AS i WHERE i.inhrelid = c.oid ORDER BY i.inhseqno),
            CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
            CASE WHEN c.relkind = 'c' THEN obj_description(c.reltype, 'pg_type') ELSE obj_description(c.oid, 'pg_class') END,
            \(grants("c.relacl", "r", "c.relowner")),
            CASE WHEN c.relrowsecurity THEN 'row security' || CASE WHEN c.relforcerowsecurity THEN ' forced' ELSE '' END END,
            c.reltype::text, (SELECT t.typarray::text FROM pg_type AS t WHERE t.oid = c.reltype),
            format_type(s.seqtypid, NULL), CASE WHEN s.seqrelid IS NOT NULL THEN \(options("s")) ELSE '{}' END,
            (SELECT d.refobjid::text || '/' || d.refobjsubid::text FROM pg_depend AS d
                WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'a'
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0 AND c.relkind = 'S')
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
        SELECT a.attrelid::text, a.attnum::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
            a.attnotnull::text, pg_get_expr(d.adbin, d.adrelid), a.attidentity::text, a.attgenerated::text,
            \(collation("a.attcollation", "t")), (a.attislocal AND NOT c.relispartition)::text,
            col_description(a.attrelid, a.attnum),
            COALESCE((SELECT \(options("s")) FROM pg_depend AS q JOIN pg_sequence AS s ON s.seqrelid = q.objid
                WHERE q.classid = 'pg_class'::regclass AND q.refclassid = 'pg_class'::regclass AND q.refobjid = a.attrelid
                    AND q.refobjsubid = a.attnum AND q.deptype = 'i' AND a.attidentity <> ''), '{}'),
            format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL), (t.typcategory = 'S')::text
        FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_type AS t ON t.oid = a.atttypid
        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'c')
        ORDER BY a.attrelid, a.attnum
        """

    /// Those of partitions and children that came with their parents' are no things of their own, and NOT NULL is a
    /// property of its column.
    private static let constraints = """
        SELECT k.oid::text, k.conrelid::text, k.contypid::text, k.conname::text, k.contype::text,
            pg_get_constraintdef(k.oid), k.convalidated::text, obj_description(k.oid, 'pg_constraint'),
            CASE WHEN k.contype IN ('p', 'u') THEN pg_get_indexdef(k.conindid) END, k.conindid::text,
            CASE WHEN k.condeferrable THEN ' DEFERRABLE' ELSE '' END
                || CASE WHEN k.condeferred THEN ' INITIALLY DEFERRED' ELSE '' END, quote_ident(k.conname)
        FROM pg_constraint AS k
        WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND k.conparentid = 0 AND k.conislocal AND k.oid >= 16384
        """

    private static let indexes = """
        SELECT i.indexrelid::text, i.indrelid::text, n.nspname::text, c.relname::text, pg_get_indexdef(i.indexrelid),
            (i.indisvalid OR c.relkind = 'I')::text, obj_description(i.indexrelid, 'pg_class'), quote_ident(c.relname)
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE i.indexrelid >= 16384 AND NOT c.relispartition AND \(isUsers("n"))
            AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
        """

    private static let types = """
        SELECT t.oid::text, n.nspname::text, t.typname::text, t.typtype::text, t.typarray::text,
            ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder),
            CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END, t.typnotnull::text,
            CASE WHEN t.typtype = 'd' THEN pg_get_expr(t.typdefaultbin, 'pg_type'::regclass) END,
            \(collation("t.typcollation", "b")), obj_description(t.oid, 'pg_type'),
            \(grants("t.typacl", "T", "t.typowner")),
            (SELECT format_type(r.rngsubtype, NULL) FROM pg_range AS r WHERE r.rngtypid = t.oid)
        FROM pg_type AS t
        JOIN pg_namespace AS n ON n.oid = t.typnamespace
        LEFT JOIN pg_type AS b ON b.oid = t.typbasetype
        WHERE t.typtype IN ('e', 'd', 'r') AND \(isUsers("n")) AND \(isNotOfExtension("t.oid", "pg_type"))
        """

    private static let functions = """
        SELECT p.oid::text, n.nspname::text, p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
            CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid)
                ELSE (SELECT 'aggregate ' || a.aggtransfn || ' ' || a.aggfinalfn || ' ' || COALESCE(a.agginitval, '')
                    FROM pg_aggregate AS a WHERE a.aggfnoid = p.oid) END,
            (p.prokind = 'a')::text, \(grants("p.proacl", "f", "p.proowner"))
        FROM pg_proc AS p
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("p.oid", "pg_proc"))
        """

    /// What is compared and not changed: kind, catalog, oid, relation, name, definition.
    private static let others = """
        SELECT 'trigger', 'pg_trigger', t.oid::text, t.tgrelid::text, '', t.tgname::text,
            pg_get_triggerdef(t.oid) || CASE t.tgenabled WHEN 'O' THEN '' ELSE ' /* ' || t.tgenabled::text || ' */' END,
            '{}'::text[]
        FROM pg_trigger AS t WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND \(isNotTrackings("t.tgfoid"))
        UNION ALL
        SELECT 'policy', 'pg_policy', p.oid::text, p.polrelid::text, '', p.polname::text,
            format('CREATE POLICY %I ON %I.%I AS %s FOR %s TO %s', p.polname, n.nspname, c.relname,
                CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
                    ELSE 'ALL' END,
                (SELECT string_agg(COALESCE(quote_ident(r.rolname), 'PUBLIC'), ', ' ORDER BY r.rolname)
                    FROM unnest(p.polroles) AS o LEFT JOIN pg_roles AS r ON r.oid = o))
            || COALESCE(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
            || COALESCE(' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', ''),
            ARRAY(SELECT r.rolname::text FROM pg_roles AS r WHERE r.oid = ANY (p.polroles))
        FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        UNION ALL
        SELECT 'rule', 'pg_rewrite', r.oid::text, r.ev_class::text, '', r.rulename::text, pg_get_ruledef(r.oid), '{}'
        FROM pg_rewrite AS r WHERE r.rulename <> '_RETURN' AND r.oid >= 16384
        UNION ALL
        SELECT 'extension', 'pg_extension', e.oid::text, NULL, n.nspname, e.extname::text, e.extversion, '{}'
        FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname <> 'plpgsql'
        UNION ALL
        SELECT 'statistics', 'pg_statistic_ext', s.oid::text, s.stxrelid::text, '', s.stxname::text,
            pg_get_statisticsobjdef(s.oid), '{}'
        FROM pg_statistic_ext AS s
        UNION ALL
        SELECT 'collation', 'pg_collation', l.oid::text, NULL, n.nspname, l.collname::text,
            l.collprovider::text || ' ' || COALESCE(l.collcollate, '') || ' ' || l.collisdeterministic::text, '{}'
        FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = l.collnamespace WHERE \(isUsers("n")) AND l.oid >= 16384
        UNION ALL
        SELECT 'operator', 'pg_operator', o.oid::text, NULL, n.nspname,
            o.oprname || '(' || format_type(o.oprleft, NULL) || ', ' || format_type(o.oprright, NULL) || ')', o.oprcode::text, '{}'
        FROM pg_operator AS o JOIN pg_namespace AS n ON n.oid = o.oprnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("o.oid", "pg_operator"))
        UNION ALL
        SELECT 'event trigger', 'pg_event_trigger', v.oid::text, NULL, '', v.evtname::text,
            v.evtevent || ' ' || v.evtfoid::regproc::text, '{}'
        FROM pg_event_trigger AS v WHERE \(isNotTrackings("v.evtfoid"))
        UNION ALL
        SELECT 'publication', 'pg_publication', b.oid::text, NULL, '', b.pubname::text, b.puballtables::text, '{}'
        FROM pg_publication AS b
        """

    /// Who depends on whom; a default stands for its column, and a view's rule for the view.
    private static let dependencies = """
        SELECT CASE WHEN a.oid IS NOT NULL OR r.oid IS NOT NULL THEN 'pg_class' ELSE d.classid::regclass::text END,
            COALESCE(a.adrelid, r.ev_class, d.objid)::text, COALESCE(a.adnum::integer, d.objsubid)::text,
            d.refclassid::regclass::text, d.refobjid::text, d.refobjsubid::text
        FROM pg_depend AS d
        LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
        LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
        WHERE d.objid >= 16384 AND d.refobjid >= 16384 AND d.deptype IN ('n', 'a', 'i', 'P', 'S')
        """

    private static let casts = """
        SELECT format_type(k.castsource, NULL) || '>' || format_type(k.casttarget, NULL), (k.castcontext <> 'e')::text
        FROM pg_cast AS k
        """
}
