// Functions and everything else that one or two statements make: the statements are written here, by the server.
extension SnapshotQueries {
    /// Options of foreign-data wrappers, servers, foreign tables and their columns.
    private static func foreignOptions(_ list: String) -> String {
        """
        COALESCE((SELECT ' OPTIONS (' || string_agg(quote_ident(f.option_name) || ' ' || quote_literal(f.option_value), ', '
            ORDER BY f.option_name) || ')' FROM pg_options_to_table(\(list)) AS f), '')
        """
    }

    /// CREATE FOREIGN TABLE, with its columns and checks.
    static let foreignTable = """
        (SELECT format('CREATE FOREIGN TABLE %I.%I', n.nspname, c.relname)
            || CASE WHEN c.relispartition
                THEN (SELECT ' PARTITION OF ' || i.inhparent::regclass::text FROM pg_inherits AS i WHERE i.inhrelid = c.oid)
                    || ' ' || pg_get_expr(c.relpartbound, c.oid)
                ELSE ' (' || COALESCE((SELECT string_agg(part, ', ' ORDER BY place, part) FROM (
                    SELECT a.attnum::integer AS place, quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
                        || \(foreignOptions("a.attfdwoptions"))
                        || COALESCE((SELECT format(' COLLATE %I.%I', ln.nspname, l.collname) FROM pg_collation AS l
                            JOIN pg_namespace AS ln ON ln.oid = l.collnamespace
                            JOIN pg_type AS ct ON ct.oid = a.atttypid AND ct.typcollation <> l.oid
                            WHERE l.oid = a.attcollation), '')
                        || CASE WHEN d.oid IS NULL THEN '' WHEN a.attgenerated = ''
                            THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)
                            ELSE ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' END
                        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END AS part
                    FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attislocal
                    UNION ALL
                    SELECT 100000, format('CONSTRAINT %I ', k.conname) || replace(pg_get_constraintdef(k.oid), ' NOT VALID', '')
                    FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.conislocal AND k.contype = 'c') AS parts), '') || ')'
                    || COALESCE((SELECT ' INHERITS (' || string_agg(i.inhparent::regclass::text, ', ' ORDER BY i.inhseqno) || ')'
                        FROM pg_inherits AS i WHERE i.inhrelid = c.oid), '') END
            || ' SERVER ' || quote_ident(v.srvname) || \(foreignOptions("t.ftoptions"))
        FROM pg_foreign_table AS t JOIN pg_foreign_server AS v ON v.oid = t.ftserver WHERE t.ftrelid = c.oid)
        """

    /// Functions are known by the types of their arguments; `form` is what CREATE OR REPLACE cannot change.
    static let functions = """
        SELECT p.oid::text AS oid, n.nspname::text AS schema,
            p.proname || '(' || COALESCE((SELECT string_agg(format_type(a.type, NULL), ', ' ORDER BY a.place)
                FROM unnest(p.proargtypes) WITH ORDINALITY AS a(type, place)), '') || ')' AS name,
            (p.prokind = 'a')::text AS is_aggregate,
            CASE p.prokind WHEN 'a' THEN 'AGGREGATE' WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END
                || format(' %I.%I(', n.nspname, p.proname) || CASE WHEN p.prokind = 'a' AND p.pronargs = 0 THEN '*'
                    ELSE pg_get_function_identity_arguments(p.oid) END || ')' AS target,
            CASE WHEN p.prokind <> 'a' THEN rtrim(pg_get_functiondef(p.oid), E'\\n') ELSE \(aggregate) END AS definition,
            CASE WHEN p.prokind <> 'a' THEN p.prokind::text || ' (' || pg_get_function_arguments(p.oid) || ') '
                || COALESCE(pg_get_function_result(p.oid), '') END AS form,
            obj_description(p.oid, 'pg_proc') AS comment, \(grants("p.proacl", "f", "p.proowner")) AS grants,
            (SELECT d.refobjid::text FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                AND d.refclassid = 'pg_type'::regclass AND d.deptype = 'i') AS type
        FROM pg_proc AS p
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("p.oid", "pg_proc"))
        """

    private static let aggregate = """
        (SELECT format('CREATE AGGREGATE %I.%I(', n.nspname, p.proname)
            || CASE WHEN p.pronargs = 0 THEN '*' ELSE pg_get_function_arguments(p.oid) END || ') (SFUNC = ' || a.aggtransfn::text
            || ', STYPE = ' || format_type(a.aggtranstype, NULL)
            || CASE WHEN a.aggtransspace > 0 THEN ', SSPACE = ' || a.aggtransspace ELSE '' END
            || CASE WHEN a.aggfinalfn <> 0 THEN ', FINALFUNC = ' || a.aggfinalfn::text ELSE '' END
            || CASE WHEN a.aggfinalextra THEN ', FINALFUNC_EXTRA' ELSE '' END
            || CASE WHEN a.aggfinalfn = 0 THEN '' WHEN a.aggfinalmodify = 'r' THEN ', FINALFUNC_MODIFY = READ_ONLY'
                WHEN a.aggfinalmodify = 's' THEN ', FINALFUNC_MODIFY = SHAREABLE' ELSE ', FINALFUNC_MODIFY = READ_WRITE' END
            || CASE WHEN a.aggcombinefn <> 0 THEN ', COMBINEFUNC = ' || a.aggcombinefn::text ELSE '' END
            || CASE WHEN a.aggserialfn <> 0 THEN ', SERIALFUNC = ' || a.aggserialfn::text ELSE '' END
            || CASE WHEN a.aggdeserialfn <> 0 THEN ', DESERIALFUNC = ' || a.aggdeserialfn::text ELSE '' END
            || COALESCE(', INITCOND = ' || quote_literal(a.agginitval), '')
            || CASE WHEN a.aggmtransfn <> 0 THEN ', MSFUNC = ' || a.aggmtransfn::text || ', MINVFUNC = ' || a.aggminvtransfn::text
                || ', MSTYPE = ' || format_type(a.aggmtranstype, NULL) ELSE '' END
            || CASE WHEN a.aggmtransspace > 0 THEN ', MSSPACE = ' || a.aggmtransspace ELSE '' END
            || CASE WHEN a.aggmfinalfn <> 0 THEN ', MFINALFUNC = ' || a.aggmfinalfn::text ELSE '' END
            || CASE WHEN a.aggmfinalextra THEN ', MFINALFUNC_EXTRA' ELSE '' END
            || CASE WHEN a.aggmfinalfn = 0 THEN '' WHEN a.aggmfinalmodify = 'r' THEN ', MFINALFUNC_MODIFY = READ_ONLY'
                WHEN a.aggmfinalmodify = 's' THEN ', MFINALFUNC_MODIFY = SHAREABLE' ELSE ', MFINALFUNC_MODIFY = READ_WRITE' END
            || COALESCE(', MINITCOND = ' || quote_literal(a.aggminitval), '')
            || CASE WHEN a.aggsortop <> 0 THEN (SELECT format(', SORTOP = OPERATOR(%I.%s)', sn.nspname, o.oprname)
                FROM pg_operator AS o JOIN pg_namespace AS sn ON sn.oid = o.oprnamespace WHERE o.oid = a.aggsortop) ELSE '' END
            || CASE p.proparallel WHEN 's' THEN ', PARALLEL = SAFE' WHEN 'r' THEN ', PARALLEL = RESTRICTED' ELSE '' END
            || CASE WHEN a.aggkind = 'h' THEN ', HYPOTHETICAL' ELSE '' END || ')'
        FROM pg_aggregate AS a WHERE a.aggfnoid = p.oid)
        """

    private static func operatorName(_ oid: String) -> String {
        """
        (SELECT format('OPERATOR(%I.%s)', qn.nspname, q.oprname) FROM pg_operator AS q
            JOIN pg_namespace AS qn ON qn.oid = q.oprnamespace WHERE q.oid = \(oid))
        """
    }

    private static let none = "'{}'::text[]"

    /// Where `definition` is empty, a difference is only named, and `detail` tells the thing from others.
    static let objects = """
        SELECT o.*, obj_description(o.oid::oid, o.catalog::name) AS comment FROM (
        SELECT 'trigger' AS kind, 'pg_trigger' AS catalog, t.oid::text AS oid, t.tgrelid::text AS relation, NULL AS schema,
            t.tgname::text AS name, format('TRIGGER %I ON %I.%I', t.tgname, n.nspname, c.relname) AS target,
            ARRAY[pg_get_triggerdef(t.oid)] AS definition, NULL AS detail,
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
        WHERE n.nspname IS DISTINCT FROM 'kindred'
        UNION ALL \(namedObjects)) AS o
        """

    /// Objects whose differences are named only: they are an operator's, hold secrets, or need code in C.
    private static let namedObjects = """
        SELECT 'publication', 'pg_publication', b.oid::text, NULL, NULL, b.pubname::text, NULL, \(none),
            (to_jsonb(b) - 'oid' - 'pubowner')::text || COALESCE((SELECT string_agg((to_jsonb(t))::text, ' '
                ORDER BY t.schemaname, t.tablename)
                FROM pg_publication_tables AS t WHERE t.pubname = b.pubname AND NOT b.puballtables), ''), NULL, \(none), \(none)
        FROM pg_publication AS b
        UNION ALL
        SELECT 'subscription', 'pg_subscription', '0', NULL, NULL, u.subname::text, NULL, \(none),
            u.subenabled::text || ' ' || u.subpublications::text, NULL, \(none), \(none)
        FROM pg_subscription AS u WHERE u.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        UNION ALL
        SELECT 'operator class', 'pg_opclass', o.oid::text, NULL, n.nspname, o.opcname || ' USING ' || m.amname, NULL, \(none),
            concat_ws(' ', o.opcdefault, format_type(o.opcintype, NULL), format_type(NULLIF(o.opckeytype, 0), NULL)), NULL,
            \(none), \(none)
        FROM pg_opclass AS o JOIN pg_namespace AS n ON n.oid = o.opcnamespace JOIN pg_am AS m ON m.oid = o.opcmethod
        WHERE \(isUsers("n")) AND \(isNotOfExtension("o.oid", "pg_opclass"))
        UNION ALL
        SELECT 'operator family', 'pg_opfamily', f.oid::text, NULL, n.nspname, f.opfname || ' USING ' || m.amname, NULL, \(none),
            concat_ws(', ', (SELECT string_agg(concat_ws(' ', a.amopstrategy, a.amopopr::regoperator, a.amoppurpose), ', '
                    ORDER BY a.amopstrategy, a.amopopr::regoperator::text) FROM pg_amop AS a WHERE a.amopfamily = f.oid),
                (SELECT string_agg(concat_ws(' ', a.amprocnum, a.amproc::regprocedure), ', '
                    ORDER BY a.amprocnum, a.amproc::regprocedure::text) FROM pg_amproc AS a WHERE a.amprocfamily = f.oid)),
            NULL, \(none), \(none)
        FROM pg_opfamily AS f JOIN pg_namespace AS n ON n.oid = f.opfnamespace JOIN pg_am AS m ON m.oid = f.opfmethod
        WHERE \(isUsers("n")) AND \(isNotOfExtension("f.oid", "pg_opfamily"))
        UNION ALL
        SELECT 'access method', 'pg_am', m.oid::text, NULL, NULL, m.amname::text, NULL, \(none), m.amhandler::text, NULL,
            \(none), \(none)
        FROM pg_am AS m WHERE m.oid >= 16384 AND \(isNotOfExtension("m.oid", "pg_am"))
        UNION ALL
        SELECT 'language', 'pg_language', l.oid::text, NULL, NULL, l.lanname::text, NULL, \(none),
            concat_ws(' ', l.lanpltrusted, l.lanplcallfoid::regproc, l.laninline::regproc, l.lanvalidator::regproc), NULL,
            \(none), \(none)
        FROM pg_language AS l WHERE l.oid >= 16384 AND \(isNotOfExtension("l.oid", "pg_language"))
        UNION ALL
        SELECT 'transform', 'pg_transform', t.oid::text, NULL, NULL, format('for %s in %I', format_type(t.trftype, NULL),
                l.lanname), NULL, \(none), concat_ws(' ', t.trffromsql::regprocedure, t.trftosql::regprocedure), NULL,
            \(none), \(none)
        FROM pg_transform AS t JOIN pg_language AS l ON l.oid = t.trflang WHERE \(isNotOfExtension("t.oid", "pg_transform"))
        UNION ALL
        SELECT 'text search parser', 'pg_ts_parser', r.oid::text, NULL, n.nspname, r.prsname::text, NULL, \(none),
            concat_ws(' ', r.prsstart, r.prstoken, r.prsend, r.prsheadline, r.prslextype), NULL, \(none), \(none)
        FROM pg_ts_parser AS r JOIN pg_namespace AS n ON n.oid = r.prsnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("r.oid", "pg_ts_parser"))
        UNION ALL
        SELECT 'text search template', 'pg_ts_template', m.oid::text, NULL, n.nspname, m.tmplname::text, NULL, \(none),
            concat_ws(' ', m.tmplinit, m.tmpllexize), NULL, \(none), \(none)
        FROM pg_ts_template AS m JOIN pg_namespace AS n ON n.oid = m.tmplnamespace
        WHERE \(isUsers("n")) AND \(isNotOfExtension("m.oid", "pg_ts_template"))
        UNION ALL
        SELECT 'user mapping', 'pg_user_mapping', u.umid::text, NULL, NULL, format('of %I on %I', u.usename, u.srvname), NULL,
            \(none), NULL, NULL, \(none), \(none)
        FROM pg_user_mappings AS u
        """
}
