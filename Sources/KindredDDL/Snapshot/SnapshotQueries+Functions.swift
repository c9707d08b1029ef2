// Functions, aggregates and foreign tables with the statements that make them, which the server writes.
extension SnapshotQueries {
    /// Options of foreign-data wrappers, servers, foreign tables and their columns.
    static func foreignOptions(_ list: String) -> String {
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

    /// Functions are known by the types of their arguments; `form` holds the parts that CREATE OR REPLACE cannot
    /// change.
    static let functions = """
        SELECT p.oid::text AS oid, n.nspname::text AS schema,
            p.proname || '(' || COALESCE((SELECT string_agg(format_type(a.type, NULL), ', ' ORDER BY a.place)
                FROM unnest(p.proargtypes) WITH ORDINALITY AS a(type, place)), '') || ')' AS name,
            (p.prokind = 'a') AS is_aggregate,
            CASE p.prokind WHEN 'a' THEN 'AGGREGATE' WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END
                || format(' %I.%I(', n.nspname, p.proname) || CASE WHEN p.prokind = 'a' AND p.pronargs = 0 THEN '*'
                    ELSE pg_get_function_identity_arguments(p.oid) END || ')' AS target,
            CASE WHEN p.prokind <> 'a' THEN rtrim(pg_get_functiondef(p.oid), E'\\n') ELSE \(aggregate) END AS definition,
            CASE WHEN p.prokind <> 'a' THEN p.prokind::text || ' (' || pg_get_function_arguments(p.oid) || ') '
                || COALESCE(pg_get_function_result(p.oid), '') END AS form,
            \(privilege) AS privilege, obj_description(p.oid, 'pg_proc') AS comment, \(grants("p.proacl", "f", "p.proowner")) AS grants,
            (SELECT d.refobjid::text FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                AND d.refclassid = 'pg_type'::regclass AND d.deptype = 'i') AS type
        FROM pg_proc AS p
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        JOIN pg_language AS l ON l.oid = p.prolang
        WHERE \(isUsers("n")) AND \(isNotOfExtension("p.oid", "pg_proc"))
        """

    /// The property for which a function or an aggregate needs a superuser.
    private static let privilege = """
        CASE WHEN p.prokind = 'a' THEN (SELECT 'its state is of the type internal' FROM pg_aggregate AS a
                WHERE a.aggfnoid = p.oid AND 'internal'::regtype IN (a.aggtranstype, a.aggmtranstype))
            WHEN NOT l.lanpltrusted THEN 'its language is ' || l.lanname
            WHEN p.proleakproof THEN 'it is LEAKPROOF'
            WHEN p.prosupport <> 0 THEN 'it has a support function'
            ELSE (SELECT 'it sets ' || split_part(o, '=', 1) FROM unnest(p.proconfig) AS o WHERE lower(split_part(o, '=', 1))
                = ANY (ARRAY(SELECT lower(v.name) FROM pg_settings AS v WHERE v.context <> 'user')) LIMIT 1) END
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
}
