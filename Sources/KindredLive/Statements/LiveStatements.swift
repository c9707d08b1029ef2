import Kindred
import KindredPostgres
import KindredSchema

/// Statements about the tables that live requests read.
enum LiveStatements {
    /// The tables whose changes may change the rows of some relations: the relations themselves, tables below views,
    /// and tables that policies name.
    ///
    /// Each row has the number of the relation asked for, a relation's kind and name, whether its changes are recorded,
    /// a text that changes when the view, its policies or its unique keys change, and the installed version. A
    /// partition stands for its topmost parent, under whose name its changes are told. LIMIT tells the planner that
    /// there is one version: it expects 1,000 rows of a function, and compiles a query that seems so expensive, which
    /// takes seconds.
    static func tables(read names: [QualifiedName]) throws -> Statement {
        var parameters = Parameters()
        let schemas = try parameters.array(names.map { .string($0.schema) }, of: .text)
        let relations = try parameters.array(names.map { .string($0.name) }, of: .text)
        return parameters.statement(
            StatementText(
                catalog: """
                    WITH RECURSIVE used(number, start, relation) AS (
                        SELECT o.number, c.oid, c.oid
                            FROM ROWS FROM (pg_catalog.unnest(\(schemas)), pg_catalog.unnest(\(relations)))
                            WITH ORDINALITY AS o(namespace, name, number)
                            JOIN pg_catalog.pg_namespace AS n ON n.nspname = o.namespace::pg_catalog.name
                            JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = o.name::pg_catalog.name
                        UNION
                        SELECT u.number, u.start, d.relation FROM used AS u CROSS JOIN LATERAL (
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
                    SELECT DISTINCT u.number, u.start = u.relation, c.relkind::pg_catalog.text,
                        n.nspname::pg_catalog.text, c.relname::pg_catalog.text, t.relation IS NOT NULL,
                        pg_catalog.concat_ws(' ', u.relation, o.relrowsecurity, o.relforcerowsecurity, o.reloptions, (
                            SELECT pg_catalog.string_agg(pg_catalog.concat(r.oid, ':', r.xmin), ',' ORDER BY r.oid)
                            FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = u.relation), (
                            SELECT pg_catalog.string_agg(pg_catalog.concat(p.oid, ':', p.xmin), ',' ORDER BY p.oid)
                            FROM pg_catalog.pg_policy AS p WHERE p.polrelid = u.relation), (
                            SELECT pg_catalog.string_agg(
                                pg_catalog.concat(i.indexrelid, ':', i.indkey), ',' ORDER BY i.indexrelid)
                            FROM pg_catalog.pg_index AS i WHERE i.indrelid = u.relation AND i.indisunique)),
                        v.version, v.compatible
                    FROM used AS u
                    JOIN pg_catalog.pg_class AS o ON o.oid = u.relation
                    JOIN pg_catalog.pg_class AS c
                        ON c.oid = coalesce(pg_catalog.pg_partition_root(u.relation)::pg_catalog.oid, u.relation)
                    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                    CROSS JOIN (SELECT i.version, i.compatible FROM kindred.tracking_identity() AS i LIMIT 1) AS v
                    LEFT JOIN kindred.tracking_tables() AS t ON t.relation = c.oid
                    WHERE c.relkind = ANY ('{r,p,f,m,v}'::pg_catalog."char"[]) OR u.start = u.relation
                    """))
    }
}

extension LiveStatements {
    /// The first of the texts whose values are equal, for each of some texts of a column's values: by the equality of its type and
    /// collation, in the order of the texts.
    static func firstEqual(to texts: [String], _ attribute: Attribute) throws -> Statement {
        var parameters = Parameters()
        let texts = try parameters.array(texts.map { .string($0) }, of: .text)
        let value = "o.text::\(attribute.comparedType ?? attribute.sqlType)"
        let collated = attribute.collation.map { "\(value) COLLATE \($0)" } ?? value
        return parameters.statement(
            StatementText(
                """
                SELECT pg_catalog.min(o.number) OVER (PARTITION BY \(collated))
                FROM pg_catalog.unnest(\(texts)) WITH ORDINALITY AS o(text, number) ORDER BY o.number
                """))
    }
}
