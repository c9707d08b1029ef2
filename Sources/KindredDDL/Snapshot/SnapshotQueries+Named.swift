// Objects whose differences are named only: they are an operator's, hold secrets, or need code in C.
extension SnapshotQueries {
    static let namedObjects = """
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
