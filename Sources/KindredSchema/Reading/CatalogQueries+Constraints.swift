import KindredPostgres

// Keys, checks, and unique indexes.
extension CatalogQueries {
    /// All constraints except the constraints of partitions.
    ///
    /// `conenforced` and `conperiod` came with PostgreSQL 18, `confdelsetcols` with 15: if the table lacks them, the names
    /// resolve to the outer query's values. `SET CONSTRAINTS` by name fails if any constraint of that name in the schema is not
    /// deferrable. The operators of a foreign key are left out where all are built in. Of checks the text is read where it may say
    /// that an array has no NULL.
    static func constraints(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT k.* FROM (
                    SELECT true AS conenforced, false AS conperiod, NULL::pg_catalog.int2[] AS confdelsetcols
                ) AS missing
                CROSS JOIN LATERAL (
                    SELECT oid, conrelid, conname, contype, conkey, conenforced, conperiod, convalidated, condeferrable,
                        CASE WHEN condeferrable AND NOT condeferred THEN NOT EXISTS (
                            SELECT FROM pg_catalog.pg_constraint AS same
                            WHERE same.connamespace = own.connamespace AND same.conname = own.conname
                                AND NOT same.condeferrable)
                        ELSE false END AS can_defer,
                        confrelid, confkey, confdeltype, confupdtype, confdelsetcols, confmatchtype, conparentid,
                        CASE WHEN 16384::pg_catalog.oid OPERATOR(pg_catalog.<=) ANY (conpfeqop) THEN conpfeqop END AS operators,
                        contype = 'f' AND EXISTS (
                            SELECT FROM pg_catalog.pg_class AS holder
                            JOIN pg_catalog.pg_class AS target ON target.oid = own.confrelid
                            WHERE holder.oid = own.conrelid AND holder.relowner <> target.relowner) AS other_owner,
                        CASE WHEN contype = 'c' AND convalidated AND pg_catalog.cardinality(conkey) = 1 AND EXISTS (
                            SELECT FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
                            WHERE a.attrelid = own.conrelid AND a.attnum = own.conkey[1] AND t.typcategory = 'A'::pg_catalog."char")
                        THEN pg_catalog.pg_get_expr(conbin, conrelid) END AS element_check
                    FROM pg_catalog.pg_constraint AS own
                    WHERE contype = ANY ('{p,u,f,x,c}'::pg_catalog."char"[]) AND \(within("conrelid", isScoped)) AND conparentid = 0
                ) AS k
                """
        )
    }

    /// The foreign keys on or to a single partition that are not part of a partitioned table's, with the root tables and the
    /// columns' numbers there.
    static func partitionKeys(_ isScoped: Bool) -> StatementText {
        func root(_ relation: String) -> String {
            "COALESCE(pg_catalog.pg_partition_root(\(relation))::pg_catalog.oid, \(relation))"
        }
        func columns(_ columns: String, of relation: String) -> String {
            """
            (SELECT pg_catalog.array_agg(r.attnum ORDER BY p.position)
                FROM pg_catalog.unnest(\(columns)) WITH ORDINALITY AS p (number, position)
                JOIN pg_catalog.pg_attribute AS a ON a.attrelid = \(relation) AND a.attnum = p.number
                JOIN pg_catalog.pg_attribute AS r ON r.attrelid = \(root(relation)) AND r.attname = a.attname)
            """
        }
        return StatementText(
            catalog: """
                SELECT k.oid, \(root("k.conrelid")) AS source, \(columns("k.conkey", of: "k.conrelid")) AS columns,
                    \(root("k.confrelid")) AS target, \(columns("k.confkey", of: "k.confrelid")) AS target_columns
                FROM pg_catalog.pg_constraint AS k
                JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
                JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid
                WHERE k.contype = 'f' AND \(within("k.conrelid", isScoped)) AND k.conparentid = 0
                    AND (c.relispartition OR t.relispartition)
                """
        )
    }

    /// Unique indexes other than primary keys, without expressions.
    ///
    /// Other constraints with an index do not prove uniqueness. `indnullsnotdistinct` came with PostgreSQL 15.
    static func indexes(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT i.*, r.relname FROM (SELECT false AS indnullsnotdistinct) AS missing
                CROSS JOIN LATERAL (
                    SELECT indexrelid, indrelid, indkey::pg_catalog.int2[], indnkeyatts,
                        CASE WHEN indpred IS NOT NULL THEN pg_catalog.pg_get_expr(indpred, indrelid) END AS predicate,
                        indimmediate, indisreplident,
                        NOT EXISTS (
                            SELECT FROM ROWS FROM (
                                pg_catalog.unnest(indkey::pg_catalog.int2[]), pg_catalog.unnest(indclass::pg_catalog.oid[]),
                                pg_catalog.unnest(indcollation::pg_catalog.oid[])) AS e (number, class, collated)
                            JOIN pg_catalog.pg_opclass AS c ON c.oid = e.class
                            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = indrelid AND a.attnum = e.number
                            WHERE e.collated <> a.attcollation OR NOT c.opcdefault AND NOT EXISTS (
                                SELECT FROM pg_catalog.pg_amop AS p
                                JOIN pg_catalog.pg_amop AS q ON q.amopopr = p.amopopr
                                JOIN pg_catalog.pg_opclass AS d ON d.opcfamily = q.amopfamily
                                WHERE p.amopfamily = c.opcfamily AND p.amoplefttype = c.opcintype
                                    AND p.amoprighttype = c.opcintype AND p.amopstrategy = 3::pg_catalog.int2
                                    AND q.amopstrategy = p.amopstrategy AND q.amopmethod = c.opcmethod
                                    AND d.opcmethod = c.opcmethod AND d.opcdefault AND d.opcintype = c.opcintype)
                        ) AS comparesascolumns,
                        indnullsnotdistinct
                    FROM pg_catalog.pg_index
                    WHERE \(within("indrelid", isScoped)) AND indisunique AND indisvalid AND NOT indisprimary AND NOT indisexclusion
                        AND indexprs IS NULL
                ) AS i
                JOIN pg_catalog.pg_class AS r ON r.oid = i.indexrelid
                """
        )
    }

    /// The types of operator classes for which values are equal exactly if their bytes or numbers are: numbers, text in a
    /// deterministic collation, dates and times, uuid, bytea, and enums (`anyenum`).
    private static let exactTypes = "16,17,18,19,20,21,23,25,26,700,701,1082,1083,1114,1184,1700,2950,3500"

    /// The values of unique indexes and EXCLUDE constraints, checked row by row, that are partial or that only the server can
    /// compare.
    ///
    /// The expression of a generated column stands for the column, because a row that is not stored yet lacks its value.
    static func serverChecks(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT i.* FROM (SELECT false AS indnullsnotdistinct) AS missing
                CROSS JOIN LATERAL (
                    SELECT x.indexrelid, x.indrelid, CASE WHEN g.oid IS NULL THEN e.number ELSE 0::pg_catalog.int2 END AS number,
                        CASE WHEN l.oid IS NULL THEN v.text
                        ELSE pg_catalog.format('%s COLLATE %I.%I'::pg_catalog.text, v.text, ln.nspname, l.collname) END AS expression,
                        pg_catalog.format('OPERATOR(%I.%s)'::pg_catalog.text, n.nspname, o.oprname) AS conflict,
                        CASE WHEN x.indpred IS NOT NULL THEN pg_catalog.pg_get_expr(x.indpred, x.indrelid) END AS predicate,
                        x.indnullsnotdistinct, x.isloose,
                        ARRAY(
                            SELECT d.refobjsubid::pg_catalog.int2 FROM pg_catalog.pg_depend AS d
                            WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = x.indrelid
                                AND (d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = x.indexrelid
                                    OR d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.objid = g.oid)) AS columns
                    FROM (
                        SELECT indexrelid, indrelid, indpred, indexprs, indisexclusion, indnullsnotdistinct, indkey, indclass,
                            indcollation,
                            indisexclusion OR indexprs IS NOT NULL OR EXISTS (
                                SELECT FROM ROWS FROM (
                                    pg_catalog.unnest(indkey::pg_catalog.int2[]), pg_catalog.unnest(indclass::pg_catalog.oid[]),
                                    pg_catalog.unnest(indcollation::pg_catalog.oid[])) AS e (number, class, collated)
                                JOIN pg_catalog.pg_opclass AS c ON c.oid = e.class
                                LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = indrelid AND a.attnum = e.number
                                WHERE NOT c.opcintype = ANY ('{\(exactTypes)}'::pg_catalog.oid[])
                                    OR e.collated >= 16384 AND NOT (
                                        SELECT l.collisdeterministic FROM pg_catalog.pg_collation AS l
                                        WHERE l.oid = e.collated)
                                    OR a.attgenerated <> ''::pg_catalog."char") AS isloose
                        FROM pg_catalog.pg_index
                        WHERE \(within("indrelid", isScoped)) AND (indisunique OR indisexclusion) AND indisvalid AND indimmediate
                    ) AS x
                    CROSS JOIN LATERAL ROWS FROM (
                        pg_catalog.unnest(x.indkey::pg_catalog.int2[]), pg_catalog.unnest(x.indclass::pg_catalog.oid[]),
                        pg_catalog.unnest(x.indcollation::pg_catalog.oid[])
                    ) WITH ORDINALITY AS e (number, class, collated, place)
                    JOIN pg_catalog.pg_opclass AS c ON c.oid = e.class
                    LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = e.collated
                    LEFT JOIN pg_catalog.pg_namespace AS ln ON ln.oid = l.collnamespace
                    LEFT JOIN pg_catalog.pg_attribute AS a
                        ON a.attrelid = x.indrelid AND a.attnum = e.number AND a.attgenerated <> ''::pg_catalog."char"
                    LEFT JOIN pg_catalog.pg_attrdef AS g ON g.adrelid = a.attrelid AND g.adnum = a.attnum
                    LEFT JOIN pg_catalog.pg_constraint AS k
                        ON k.conindid = x.indexrelid AND x.indisexclusion AND k.conexclop IS NOT NULL
                    LEFT JOIN pg_catalog.pg_amop AS p
                        ON NOT x.indisexclusion AND p.amopfamily = c.opcfamily AND p.amoplefttype = c.opcintype
                            AND p.amoprighttype = c.opcintype AND p.amopstrategy = 3::pg_catalog.int2
                    JOIN pg_catalog.pg_operator AS o ON o.oid = COALESCE(k.conexclop[e.place], p.amopopr)
                    JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
                    CROSS JOIN LATERAL (SELECT
                        CASE WHEN g.oid IS NULL
                        THEN pg_catalog.pg_get_indexdef(x.indexrelid, e.place::pg_catalog.int4, false)
                        ELSE pg_catalog.format('(%s)'::pg_catalog.text, pg_catalog.pg_get_expr(g.adbin, g.adrelid)) END) AS v (text)
                    WHERE x.isloose OR x.indpred IS NOT NULL
                    ORDER BY x.indexrelid, e.place
                ) AS i
                """
        )
    }
}
