import KindredPostgres

/// Statements about the tables that live requests read.
enum LiveStatements {
    /// The tables whose changes may change the rows of some relations: these themselves, those below views, and those that
    /// policies name.
    ///
    /// Each row has the relation asked for, a relation's kind and name, whether its changes are recorded, and the installed
    /// version. A partition stands for its topmost parent, under whose name its changes are told.
    static func tables(read oids: [Int64]) throws -> Statement {
        var parameters = Parameters()
        let relations = try parameters.numbers(oids)
        return parameters.statement(
            StatementText(
                """
                WITH RECURSIVE used(start, relation) AS (
                    SELECT o::pg_catalog.oid, o::pg_catalog.oid FROM pg_catalog.unnest(\(relations)) AS o
                    UNION
                    SELECT u.start, d.relation FROM used AS u CROSS JOIN LATERAL (
                        SELECT d.refobjid FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d
                            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
                                AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                            WHERE r.ev_class = u.relation AND r.ev_type = '1'
                        UNION ALL
                        SELECT d.refobjid FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_policy AS p ON p.polrelid = t.oid
                            JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass
                                AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                            WHERE t.oid = u.relation AND t.relrowsecurity
                    ) AS d(relation)
                )
                SELECT DISTINCT u.start::pg_catalog.int8, u.start = u.relation, c.relkind::pg_catalog.text,
                    n.nspname::pg_catalog.text, c.relname::pg_catalog.text, t.relation IS NOT NULL,
                    i.version, i.compatible
                FROM used AS u
                JOIN pg_catalog.pg_class AS c ON c.oid = coalesce(pg_catalog.pg_partition_root(u.relation)::pg_catalog.oid, u.relation)
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                CROSS JOIN kindred.tracking_identity() AS i
                LEFT JOIN kindred.tracking_tables() AS t ON t.relation = c.oid
                WHERE c.relkind IN ('r', 'p', 'f', 'm') OR u.start = u.relation
                """))
    }
}
