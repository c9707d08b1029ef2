// Things that one or two statements make; the server writes the statements.
extension SnapshotQueries {
    private static func operatorName(_ oid: String) -> String {
        """
        (SELECT format('OPERATOR(%I.%s)', qn.nspname, q.oprname) FROM pg_operator AS q
            JOIN pg_namespace AS qn ON qn.oid = q.oprnamespace WHERE q.oid = \(oid))
        """
    }

    static let none = "'{}'::text[]"

    /// Where `definition` is empty, a difference is only named, and `detail` tells the thing from other things.
    static let objects = """
        SELECT o.*, obj_description(o.oid::oid, o.catalog::name) AS comment FROM (
        SELECT 'trigger' AS kind, 'pg_trigger' AS catalog, t.oid::text AS oid, t.tgrelid::text AS relation, NULL::text AS schema,
            t.tgname::text AS name, format('TRIGGER %I ON %I.%I', t.tgname, n.nspname, c.relname) AS target,
            ARRAY[pg_get_triggerdef(t.oid)] AS definition, NULL::text AS detail,
            CASE WHEN t.tgconstraint = 0 THEN 'plain' END AS form, \(none) AS roles, \(none) AS grants
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND \(isNotTrackings("t.tgfoid"))
        UNION ALL
        SELECT 'policy', 'pg_policy', p.oid::text, p.polrelid::text, NULL, p.polname::text,
            format('POLICY %I ON %I.%I', p.polname, n.nspname, c.relname),
            ARRAY[format('CREATE POLICY %I ON %I.%I AS %s FOR %s TO %s', p.polname, n.nspname, c.relname,
                CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
                    ELSE 'ALL' END,
                (SELECT string_agg(COALESCE(quote_ident(r.rolname), 'PUBLIC'), ', ' ORDER BY r.rolname)
                    FROM unnest(p.polroles) AS o LEFT JOIN pg_roles AS r ON r.oid = o))
            || COALESCE(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
            || COALESCE(' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')], NULL, NULL,
            ARRAY(SELECT r.rolname::text FROM pg_roles AS r WHERE r.oid = ANY (p.polroles)), \(none)
        FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        UNION ALL
        SELECT 'rule', 'pg_rewrite', r.oid::text, r.ev_class::text, NULL, r.rulename::text,
            format('RULE %I ON %I.%I', r.rulename, n.nspname, c.relname), ARRAY[rtrim(pg_get_ruledef(r.oid), ';')], NULL, NULL,
            \(none), \(none)
        FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE r.rulename <> '_RETURN' AND r.oid >= 16384
        UNION ALL
        SELECT 'statistics', 'pg_statistic_ext', s.oid::text, s.stxrelid::text, NULL, s.stxname::text,
            format('STATISTICS %I.%I', n.nspname, s.stxname), ARRAY[pg_get_statisticsobjdef(s.oid)], NULL, NULL, \(none), \(none)
        FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = s.stxnamespace
        UNION ALL
        SELECT 'extension', 'pg_extension', e.oid::text, NULL, n.nspname, e.extname::text, format('EXTENSION %I', e.extname),
            \(none), (SELECT e.extversion WHERE NOT EXISTS (SELECT FROM pg_available_extensions() AS v
                WHERE v.name = e.extname AND v.default_version = e.extversion)), NULL, \(none), \(none)
        FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname <> 'plpgsql'
        UNION ALL
        SELECT 'collation', 'pg_collation', l.oid::text, NULL, n.nspname, l.collname::text,
            format('COLLATION %I.%I', n.nspname, l.collname),
            ARRAY[format('CREATE COLLATION %I.%I (', n.nspname, l.collname) || concat_ws(', ',
                'PROVIDER = ' || CASE l.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
                CASE WHEN l.collisdeterministic THEN NULL ELSE 'DETERMINISTIC = false' END,
                CASE WHEN l.collprovider = 'c' THEN 'LC_COLLATE = ' || quote_literal(l.collcollate) || ', LC_CTYPE = '
                    || quote_literal(l.collctype) ELSE 'LOCALE = ' || quote_literal(COALESCE(to_jsonb(l) ->> 'colllocale',
                        to_jsonb(l) ->> 'colliculocale', l.collcollate)) END,
                'RULES = ' || quote_literal(to_jsonb(l) ->> 'collicurules')) || ')'], NULL, NULL, \(none), \(none)
        FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = l.collnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("l.oid", "pg_collation"))
        UNION ALL
        SELECT 'conversion', 'pg_conversion', v.oid::text, NULL, n.nspname, v.conname::text,
            format('CONVERSION %I.%I', n.nspname, v.conname),
            ARRAY[format('CREATE %sCONVERSION %I.%I FOR %L TO %L FROM ', CASE WHEN v.condefault THEN 'DEFAULT ' ELSE '' END,
                n.nspname, v.conname, pg_encoding_to_char(v.conforencoding), pg_encoding_to_char(v.contoencoding))
                || v.conproc::text], NULL, NULL, \(none), \(none)
        FROM pg_conversion AS v JOIN pg_namespace AS n ON n.oid = v.connamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("v.oid", "pg_conversion"))
        UNION ALL
        SELECT 'operator', 'pg_operator', o.oid::text, NULL, n.nspname,
            o.oprname || '(' || CASE WHEN o.oprleft = 0 THEN 'NONE' ELSE format_type(o.oprleft, NULL) END || ', '
                || format_type(o.oprright, NULL) || ')',
            format('OPERATOR %I.%s (', n.nspname, o.oprname) || CASE WHEN o.oprleft = 0 THEN 'NONE'
                ELSE format_type(o.oprleft, NULL) END || ', ' || format_type(o.oprright, NULL) || ')',
            ARRAY[format('CREATE OPERATOR %I.%s (', n.nspname, o.oprname) || concat_ws(', ', 'FUNCTION = ' || o.oprcode::text,
                CASE WHEN o.oprleft <> 0 THEN 'LEFTARG = ' || format_type(o.oprleft, NULL) END,
                'RIGHTARG = ' || format_type(o.oprright, NULL), 'COMMUTATOR = ' || \(operatorName("o.oprcom")),
                'NEGATOR = ' || \(operatorName("o.oprnegate")),
                CASE WHEN o.oprrest <> 0 THEN 'RESTRICT = ' || o.oprrest::text END,
                CASE WHEN o.oprjoin <> 0 THEN 'JOIN = ' || o.oprjoin::text END,
                CASE WHEN o.oprcanhash THEN 'HASHES' END, CASE WHEN o.oprcanmerge THEN 'MERGES' END) || ')'],
            NULL, NULL, \(none), \(none)
        FROM pg_operator AS o JOIN pg_namespace AS n ON n.oid = o.oprnamespace
        WHERE \(isUsers("n")) AND o.oprcode <> 0 AND \(isNotOfExtension("o.oid", "pg_operator"))
        UNION ALL
        SELECT 'cast', 'pg_cast', k.oid::text, NULL, NULL,
            format('(%s AS %s)', format_type(k.castsource, NULL), format_type(k.casttarget, NULL)),
            format('CAST (%s AS %s)', format_type(k.castsource, NULL), format_type(k.casttarget, NULL)),
            ARRAY[format('CREATE CAST (%s AS %s) ', format_type(k.castsource, NULL), format_type(k.casttarget, NULL))
                || CASE k.castmethod WHEN 'b' THEN 'WITHOUT FUNCTION' WHEN 'i' THEN 'WITH INOUT'
                    ELSE 'WITH FUNCTION ' || k.castfunc::regprocedure::text END
                || CASE k.castcontext WHEN 'a' THEN ' AS ASSIGNMENT' WHEN 'i' THEN ' AS IMPLICIT' ELSE '' END],
            NULL, NULL, \(none), \(none)
        FROM pg_cast AS k WHERE k.oid >= 16384 AND \(isNotOfExtension("k.oid", "pg_cast"))
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_cast'::regclass AND d.objid = k.oid
                AND d.deptype = 'i')
        UNION ALL
        SELECT 'text search dictionary', 'pg_ts_dict', d.oid::text, NULL, n.nspname, d.dictname::text,
            format('TEXT SEARCH DICTIONARY %I.%I', n.nspname, d.dictname),
            ARRAY[format('CREATE TEXT SEARCH DICTIONARY %I.%I (TEMPLATE = %I.%I', n.nspname, d.dictname, mn.nspname, m.tmplname)
                || COALESCE(', ' || d.dictinitoption, '') || ')'], NULL, NULL, \(none), \(none)
        FROM pg_ts_dict AS d JOIN pg_namespace AS n ON n.oid = d.dictnamespace JOIN pg_ts_template AS m ON m.oid = d.dicttemplate
        JOIN pg_namespace AS mn ON mn.oid = m.tmplnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("d.oid", "pg_ts_dict"))
        UNION ALL
        SELECT 'text search configuration', 'pg_ts_config', g.oid::text, NULL, n.nspname, g.cfgname::text,
            format('TEXT SEARCH CONFIGURATION %I.%I', n.nspname, g.cfgname),
            ARRAY[format('CREATE TEXT SEARCH CONFIGURATION %I.%I (PARSER = %I.%I)', n.nspname, g.cfgname, rn.nspname, r.prsname)]
                || ARRAY(SELECT format('ALTER TEXT SEARCH CONFIGURATION %I.%I ADD MAPPING FOR %I WITH ', n.nspname, g.cfgname,
                        k.alias) || string_agg(m.mapdict::regdictionary::text, ', ' ORDER BY m.mapseqno)
                    FROM pg_ts_config_map AS m JOIN ts_token_type(r.oid) AS k ON k.tokid = m.maptokentype
                    WHERE m.mapcfg = g.oid GROUP BY k.alias ORDER BY k.alias), NULL, NULL, \(none), \(none)
        FROM pg_ts_config AS g JOIN pg_namespace AS n ON n.oid = g.cfgnamespace JOIN pg_ts_parser AS r ON r.oid = g.cfgparser
        JOIN pg_namespace AS rn ON rn.oid = r.prsnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("g.oid", "pg_ts_config"))
        UNION ALL
        SELECT 'event trigger', 'pg_event_trigger', v.oid::text, NULL, NULL, v.evtname::text,
            format('EVENT TRIGGER %I', v.evtname),
            ARRAY[format('CREATE EVENT TRIGGER %I ON %s', v.evtname, v.evtevent)
                || COALESCE((SELECT ' WHEN TAG IN (' || string_agg(quote_literal(t), ', ' ORDER BY t) || ')'
                    FROM unnest(v.evttags) AS t), '') || ' EXECUTE FUNCTION ' || v.evtfoid::regprocedure::text], NULL, NULL,
            \(none), \(none)
        FROM pg_event_trigger AS v
        WHERE \(isNotTrackings("v.evtfoid")) AND \(isNotOfExtension("v.oid", "pg_event_trigger"))
        UNION ALL
        SELECT 'foreign-data wrapper', 'pg_foreign_data_wrapper', w.oid::text, NULL, NULL, w.fdwname::text,
            format('FOREIGN DATA WRAPPER %I', w.fdwname),
            ARRAY[format('CREATE FOREIGN DATA WRAPPER %I', w.fdwname)
                || CASE WHEN w.fdwhandler <> 0 THEN ' HANDLER ' || w.fdwhandler::regproc::text ELSE '' END
                || CASE WHEN w.fdwvalidator <> 0 THEN ' VALIDATOR ' || w.fdwvalidator::regproc::text ELSE '' END
                || \(foreignOptions("w.fdwoptions"))], NULL, NULL, \(none), \(grants("w.fdwacl", "F", "w.fdwowner"))
        FROM pg_foreign_data_wrapper AS w WHERE \(isNotOfExtension("w.oid", "pg_foreign_data_wrapper"))
        UNION ALL
        SELECT 'server', 'pg_foreign_server', v.oid::text, NULL, NULL, v.srvname::text, format('SERVER %I', v.srvname),
            ARRAY[format('CREATE SERVER %I', v.srvname) || COALESCE(' TYPE ' || quote_literal(v.srvtype), '')
                || COALESCE(' VERSION ' || quote_literal(v.srvversion), '') || format(' FOREIGN DATA WRAPPER %I', w.fdwname)
                || \(foreignOptions("v.srvoptions"))], NULL, NULL, \(none), \(grants("v.srvacl", "S", "v.srvowner"))
        FROM pg_foreign_server AS v JOIN pg_foreign_data_wrapper AS w ON w.oid = v.srvfdw
        WHERE \(isNotOfExtension("v.oid", "pg_foreign_server"))
        UNION ALL
        SELECT 'default privileges', 'pg_default_acl', f.oid::text, NULL, n.nspname,
            format('of %I for %s', r.rolname, k.word),
            format('ALTER DEFAULT PRIVILEGES FOR ROLE %I', r.rolname) || COALESCE(' IN SCHEMA ' || quote_ident(n.nspname), ''),
            \(none), k.word, NULL, ARRAY[r.rolname::text],
            ARRAY(SELECT DISTINCT g.privilege_type || E'\\t' || g.is_grantable::text || E'\\t0\\t' || COALESCE(t.rolname::text, '')
                FROM aclexplode(f.defaclacl) AS g LEFT JOIN pg_roles AS t ON t.oid = g.grantee
                WHERE g.grantee <> f.defaclrole ORDER BY 1)
        FROM pg_default_acl AS f JOIN pg_roles AS r ON r.oid = f.defaclrole LEFT JOIN pg_namespace AS n ON n.oid = f.defaclnamespace
        CROSS JOIN LATERAL (SELECT CASE f.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS'
            WHEN 'T' THEN 'TYPES' WHEN 'n' THEN 'SCHEMAS' ELSE 'LARGE OBJECTS' END AS word) AS k
        WHERE (n.nspname IS NULL OR n.nspname <> 'kindred' AND n.nspname <> 'kindred_ddl')
        UNION ALL \(namedObjects)) AS o
        """
}
