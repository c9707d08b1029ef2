// Columns of the catalog that this library does not know, as a newer server has them.
extension SnapshotQueries {
    /// The values of these columns, by the names that the server gives them; without such columns no table is read.
    ///
    /// The values of flags, letters, small numbers and texts are properties. Other numbers count something, and the numbers of
    /// objects differ between databases.
    static let unknownColumns = """
        SELECT w.catalog, w.oid, w.number, concat_ws(' of ', 'catalog column ' || u.name, w.name) AS key,
            COALESCE(w.row ->> u.name, '') AS value, NULL AS reset, NULL AS needed, NULL AS column, true AS is_unknown
        FROM (
            SELECT c.relname::text AS catalog, a.attname::text AS name
            FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname = ANY ('{\(catalogs)}') AND a.attnum > 0
                AND NOT a.attisdropped AND a.attname <> ALL ('{\(knownColumns)}')
                AND a.atttypid IN ('bool'::regtype, '"char"'::regtype, 'name'::regtype, 'int2'::regtype, 'text'::regtype,
                    'text[]'::regtype)
        ) AS u CROSS JOIN LATERAL (
            SELECT 'pg_class' AS catalog, a.attrelid::text AS oid, a.attnum::text AS number, a.attname::text AS name,
                to_jsonb(a) AS row
            FROM pg_attribute AS a
            WHERE u.catalog = 'pg_attribute' AND a.attrelid >= 16384 AND a.attnum > 0 AND NOT a.attisdropped
            UNION ALL \((parts.map(select) + things.map { select($0, "oid", $0) }).joined(separator: " UNION ALL "))
        ) AS w
        """

    private static func select(_ catalog: String, _ oid: String, _ thing: String) -> String {
        """
        SELECT '\(thing)', c.\(oid)::oid::text, '0', NULL, to_jsonb(c) FROM \(catalog) AS c
        WHERE u.catalog = '\(catalog)' AND c.\(oid) >= 16384
        """
    }

    /// The tables of the catalog whose rows belong to a row of another table, with the column that names this row, and that table.
    private static let parts = [
        ("pg_index", "indexrelid", "pg_class"), ("pg_sequence", "seqrelid", "pg_class"),
        ("pg_partitioned_table", "partrelid", "pg_class"), ("pg_foreign_table", "ftrelid", "pg_class"),
        ("pg_range", "rngtypid", "pg_type"), ("pg_aggregate", "aggfnoid", "pg_proc"),
    ]

    private static let things = [
        "pg_class", "pg_constraint", "pg_type", "pg_proc", "pg_trigger", "pg_policy", "pg_rewrite", "pg_statistic_ext",
        "pg_collation", "pg_operator", "pg_opclass", "pg_opfamily", "pg_cast", "pg_conversion", "pg_extension",
        "pg_language", "pg_am", "pg_event_trigger", "pg_foreign_data_wrapper", "pg_foreign_server", "pg_ts_dict",
        "pg_ts_config", "pg_ts_parser", "pg_ts_template", "pg_transform",
    ]

    private static let catalogs = (parts.map(\.0) + things + ["pg_attribute"]).joined(separator: ",")

    /// The columns of these types that PostgreSQL 18 and older versions have.
    private static let knownColumns = """
        aggfinalextra,aggfinalmodify,agginitval,aggkind,aggmfinalextra,aggmfinalmodify,aggminitval,aggnumdirectargs,amname,\
        amtype,attalign,attbyval,attcompression,attfdwoptions,attgenerated,atthasdef,atthasmissing,attidentity,attinhcount,\
        attisdropped,attislocal,attlen,attname,attndims,attnotnull,attnum,attoptions,attstattarget,attstorage,castcontext,\
        castmethod,cfgname,collcollate,collctype,colliculocale,collicurules,collisdeterministic,colllocale,collname,\
        collprovider,collversion,condefault,condeferrable,condeferred,conenforced,confdeltype,confmatchtype,confupdtype,\
        coninhcount,conislocal,conname,connoinherit,conperiod,contype,convalidated,dictinitoption,dictname,ev_enabled,ev_type,\
        evtenabled,evtevent,evtname,evttags,extcondition,extname,extrelocatable,extversion,fdwname,fdwoptions,ftoptions,\
        indcheckxmin,indimmediate,indisclustered,indisexclusion,indislive,indisprimary,indisready,indisreplident,indisunique,\
        indisvalid,indnatts,indnkeyatts,indnullsnotdistinct,is_instead,lanispl,lanname,lanpltrusted,opcdefault,opcname,\
        opfname,oprcanhash,oprcanmerge,oprkind,oprname,partnatts,partstrat,polcmd,polname,polpermissive,proargmodes,\
        proargnames,probin,proconfig,proisstrict,prokind,proleakproof,proname,pronargdefaults,pronargs,proparallel,proretset,\
        prosecdef,prosrc,provolatile,prsname,relchecks,relforcerowsecurity,relhasindex,relhasrules,relhassubclass,\
        relhastriggers,relispartition,relispopulated,relisshared,relkind,relname,relnatts,reloptions,relpersistence,\
        relreplident,relrowsecurity,rulename,seqcycle,srvname,srvoptions,srvtype,srvversion,stxkind,stxname,stxstattarget,\
        tgdeferrable,tgenabled,tginitdeferred,tgisinternal,tgname,tgnargs,tgnewtable,tgoldtable,tgtype,tmplname,typalign,\
        typbyval,typcategory,typdefault,typdelim,typisdefined,typispreferred,typlen,typname,typnotnull,typstorage,typtype
        """
}
