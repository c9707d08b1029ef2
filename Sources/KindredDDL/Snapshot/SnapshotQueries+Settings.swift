// Settings that ALTER sets and resets: one row for each that differs from a new thing's.
extension SnapshotQueries {
    private static func state(_ column: String) -> String {
        "CASE \(column) WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END"
    }

    /// ALTER with the relation's name between quotes, as all other statements have it.
    private static func alter(_ only: String) -> String {
        """
        format('ALTER %s "%s"."%s"', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE'
            WHEN 'v' THEN 'VIEW' ELSE 'TABLE\(only)' END, replace(n.nspname, '"', '""'), replace(c.relname, '"', '""'))
        """
    }

    private static func storage(_ letter: String) -> String {
        "CASE \(letter) WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END"
    }

    private static let relation = """
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        """

    /// `reset` is NULL where a difference is only named; `needed` is the index that a property names.
    static let settings = """
        SELECT s.*, (SELECT a.attname::text FROM pg_attribute AS a WHERE s.catalog = 'pg_class' AND a.attrelid = s.oid::oid
            AND a.attnum = s.number::integer AND a.attnum > 0) AS column, false AS is_unknown FROM (
        SELECT 'pg_class' AS catalog, c.oid::text AS oid, '0' AS number, 'row security' AS key,
            \(alter("")) || ' ENABLE ROW LEVEL SECURITY' AS value, \(alter("")) || ' DISABLE ROW LEVEL SECURITY' AS reset, NULL AS needed
        \(relation) WHERE c.relrowsecurity AND \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, '0', 'row security, forced', \(alter("")) || ' FORCE ROW LEVEL SECURITY',
            \(alter("")) || ' NO FORCE ROW LEVEL SECURITY', NULL
        \(relation) WHERE c.relforcerowsecurity AND \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, '0', 'replica identity', \(alter("")) || ' REPLICA IDENTITY '
            || CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' ELSE 'USING INDEX ' || quote_ident(x.relname) END,
            \(alter("")) || ' REPLICA IDENTITY DEFAULT', x.oid::text
        \(relation) LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisreplident AND c.relreplident = 'i'
        LEFT JOIN pg_class AS x ON x.oid = i.indexrelid
        WHERE c.relkind IN ('r', 'p') AND (c.relreplident IN ('f', 'n') OR x.oid IS NOT NULL) AND \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, '0', 'clustering', \(alter("")) || ' CLUSTER ON ' || quote_ident(x.relname),
            \(alter("")) || ' SET WITHOUT CLUSTER', x.oid::text
        \(relation) JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisclustered JOIN pg_class AS x ON x.oid = i.indexrelid
        WHERE \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, '0', k.key, k.value, NULL, NULL
        \(relation) CROSS JOIN LATERAL (VALUES
            ('type of rows', CASE WHEN c.reloftype <> 0 THEN format_type(c.reloftype, NULL) END),
            ('tablespace', (SELECT t.spcname::text FROM pg_tablespace AS t WHERE t.oid = c.reltablespace)),
            ('access method', CASE WHEN c.relkind IN ('r', 'p', 'm') THEN
                (SELECT m.amname::text FROM pg_am AS m WHERE m.oid = c.relam AND m.amname <> 'heap') END)) AS k(key, value)
        WHERE k.value IS NOT NULL AND \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, CASE WHEN c.relkind IN ('i', 'I') THEN '0' ELSE a.attnum::text END,
            'statistics of ' || a.attname, k.target || ' SET STATISTICS ' || a.attstattarget, k.target || ' SET STATISTICS -1',
            CASE WHEN c.relkind IN ('i', 'I') THEN c.oid::text END
        \(relation) JOIN pg_attribute AS a ON a.attrelid = c.oid CROSS JOIN LATERAL (SELECT CASE WHEN c.relkind IN ('i', 'I')
            THEN format('ALTER INDEX %I.%I ALTER COLUMN %s', n.nspname, c.relname, a.attnum)
            ELSE \(alter(" ONLY")) || format(' ALTER COLUMN %I', a.attname) END AS target) AS k
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0 AND c.relkind IN ('r', 'p', 'm', 'f', 'i', 'I')
            AND c.oid >= 16384 AND \(isUsers("n"))
        UNION ALL
        SELECT 'pg_class', c.oid::text, a.attnum::text, k.key || ' of ' || a.attname,
            \(alter(" ONLY")) || format(' ALTER COLUMN %I ', a.attname) || k.value, \(alter(" ONLY")) || format(' ALTER COLUMN %I ', a.attname) || k.reset,
            NULL
        \(relation) JOIN pg_attribute AS a ON a.attrelid = c.oid JOIN pg_type AS t ON t.oid = a.atttypid
        CROSS JOIN LATERAL (
            SELECT 'storage' AS key, 'SET STORAGE ' || \(storage("a.attstorage")) AS value,
                'SET STORAGE ' || \(storage("t.typstorage")) AS reset
            WHERE a.attstorage <> t.typstorage AND c.relkind IN ('r', 'p', 'm', 'f')
            UNION ALL
            SELECT 'compression', 'SET COMPRESSION ' || CASE a.attcompression WHEN 'l' THEN 'lz4' ELSE 'pglz' END,
                'SET COMPRESSION default' WHERE a.attcompression <> '' AND c.relkind IN ('r', 'p', 'm')
            UNION ALL
            SELECT split_part(o, '=', 1), format('SET (%I = %L)', split_part(o, '=', 1), substr(o, strpos(o, '=') + 1)),
                format('RESET (%I)', split_part(o, '=', 1))
            FROM unnest(a.attoptions) AS o WHERE o ~ '^n_distinct' AND c.relkind IN ('r', 'p', 'm', 'f')
            UNION ALL
            SELECT 'default', 'SET DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), 'DROP DEFAULT'
            FROM pg_attrdef AS d WHERE d.adrelid = c.oid AND d.adnum = a.attnum AND c.relkind = 'v') AS k
        WHERE a.attnum > 0 AND NOT a.attisdropped AND c.oid >= 16384 AND \(isUsers("n"))
        UNION ALL
        SELECT CASE WHEN t.tgparentid = 0 THEN 'pg_trigger' ELSE 'pg_class' END,
            CASE WHEN t.tgparentid = 0 THEN t.oid ELSE c.oid END::text, '0', 'state of the trigger ' || t.tgname,
            format('ALTER TABLE %I.%I %s TRIGGER %I', n.nspname, c.relname, \(state("t.tgenabled")), t.tgname),
            format('ALTER TABLE %I.%I %s TRIGGER %I', n.nspname, c.relname, \(state("COALESCE(u.tgenabled, 'O')")), t.tgname), NULL
        FROM pg_trigger AS t LEFT JOIN pg_trigger AS u ON u.oid = t.tgparentid JOIN pg_class AS c ON c.oid = t.tgrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE NOT t.tgisinternal AND t.tgenabled <> COALESCE(u.tgenabled, 'O') AND \(isNotTrackings("t.tgfoid"))
        UNION ALL
        SELECT 'pg_rewrite', r.oid::text, '0', 'state',
            format('ALTER TABLE %I.%I %s RULE %I', n.nspname, c.relname, \(state("r.ev_enabled")), r.rulename),
            format('ALTER TABLE %I.%I ENABLE RULE %I', n.nspname, c.relname, r.rulename), NULL
        FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE r.ev_enabled <> 'O' AND r.oid >= 16384
        UNION ALL
        SELECT 'pg_event_trigger', v.oid::text, '0', 'state', format('ALTER EVENT TRIGGER %I %s', v.evtname, \(state("v.evtenabled"))),
            format('ALTER EVENT TRIGGER %I ENABLE', v.evtname), NULL
        FROM pg_event_trigger AS v WHERE v.evtenabled <> 'O'
        UNION ALL
        SELECT 'pg_statistic_ext', s.oid::text, '0', 'target', format('ALTER STATISTICS %I.%I SET STATISTICS %s', n.nspname,
            s.stxname, s.stxstattarget), format('ALTER STATISTICS %I.%I SET STATISTICS -1', n.nspname, s.stxname), NULL
        FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = s.stxnamespace WHERE s.stxstattarget >= 0
        UNION ALL
        SELECT l.classoid::regclass::text, l.objoid::text, l.objsubid::text, 'security label of ' || l.provider, l.label, NULL, NULL
        FROM pg_seclabel AS l) AS s
        UNION ALL \(unknownColumns)
        ORDER BY catalog, oid, number, key
        """
}
