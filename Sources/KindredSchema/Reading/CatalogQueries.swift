import KindredPostgres

/// The statements that read the catalog, in one round trip.
///
/// User objects have OIDs from 16384 on, so the statements skip system rows. Expressions are not deparsed, except those of
/// unique indexes: the text of defaults would cost more than all the rest.
///
/// Objects that others create in schemas of the search path cannot affect them, as `CatalogSafetyTests` shows.
enum CatalogQueries {
    /// Those for the whole database, in the order in which `CatalogDecoder` reads their results.
    static let all = texts(isScoped: false).map { Statement(text: $0.text, resultFormat: .binary) }

    /// Those for some relations and types, which they find by their OIDs: their time is not that of a large catalog.
    static func scoped(to scope: CatalogScope) throws -> [Statement] {
        try scopedTexts.map { text, subject in
            Statement(text: text, bindings: try scope.bindings(of: subject), resultFormat: .binary)
        }
    }

    /// The parameter of a query with a scope.
    enum Subject {
        case nothing, relations, types
    }

    private static let scopedTexts = texts(isScoped: true)

    private static func texts(isScoped: Bool) -> [(text: StatementText, subject: Subject)] {
        [
            (settings, .nothing), (relations(isScoped), .relations), (columns(isScoped), .relations),
            (constraints(isScoped), .relations), (partitionKeys(isScoped), .relations), (indexes(isScoped), .relations),
            (serverChecks(isScoped), .relations), (types(isScoped), .types), (enumLabels(isScoped), .types),
            (comments(isScoped), .relations), (keyComments(isScoped), .relations), (views(isScoped), .relations),
        ]
    }

    /// The condition on an OID: one of the scope's, or that of any object of users.
    private static func within(_ oid: String, _ isScoped: Bool) -> String {
        isScoped ? "\(oid) = ANY ($1)" : "\(oid) >= 16384"
    }

    static let begin = Statement(
        text: StatementText("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        resultFormat: .binary
    )
    static let commit = Statement(text: StatementText("COMMIT"), resultFormat: .binary)

    /// The tables that Citus distributes, each with its column; sent only where Citus is.
    static let distribution = Statement(
        text: StatementText(
            catalog: """
                SELECT d.logicalrelid::pg_catalog.oid,
                    pg_catalog.column_to_column_name(d.logicalrelid, d.partkey)::pg_catalog.text
                FROM pg_catalog.pg_dist_partition AS d WHERE d.partmethod = 'h' AND d.partkey IS NOT NULL
                """),
        resultFormat: .binary)

    /// The role, and the schemas of its search path, each with whether PUBLIC may create objects there, and whether Citus is
    /// there; one row if the path is empty.
    private static let settings = StatementText(
        catalog: """
            SELECT p.schema::pg_catalog.text, r.rolname::pg_catalog.text, r.rolbypassrls AND NOT r.rolsuper,
                pg_catalog.has_schema_privilege('public'::pg_catalog.name, p.schema::pg_catalog.text, 'CREATE'),
                pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL
            FROM pg_catalog.pg_roles AS r
            LEFT JOIN pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS p (schema, position) ON true
            WHERE r.rolname = current_user
            ORDER BY p.position
            """
    )

    /// Tables and views, except those of system schemas, the helper schema and extensions, and records of migrations.
    ///
    /// `hasInsertTrigger` is a BEFORE INSERT row trigger: ROW, BEFORE and INSERT are the three lowest bits of `tgtype`. The tables
    /// that inherit from the table follow, and the obstacles of writes: row triggers BEFORE (2) or INSTEAD OF (64), also those of
    /// partitions and inheriting tables; row-level security; rules. A foreign table may have triggers that only its server knows.
    /// At last the columns by which it is partitioned, 0 for an expression.
    private static func relations(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                WITH RECURSIVE obstructed (relation, types) AS (
                    SELECT t.tgrelid, pg_catalog.bit_or(t.tgtype) FROM pg_catalog.pg_trigger AS t
                    WHERE \(within("t.tgrelid", isScoped)) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
                        AND t.tgtype & 1 = 1 AND t.tgtype & 66 <> 0
                    GROUP BY t.tgrelid
                    UNION ALL
                    SELECT f.ftrelid, 28::pg_catalog.int2 FROM pg_catalog.pg_foreign_table AS f
                    UNION
                    SELECT i.inhparent, o.types FROM obstructed AS o
                    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = o.relation
                )
                SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition,
                    pg_catalog.has_schema_privilege(n.oid, 'USAGE'),
                    pg_catalog.has_table_privilege(c.oid, 'SELECT'),
                    pg_catalog.has_any_column_privilege(c.oid, 'INSERT'),
                    pg_catalog.has_any_column_privilege(c.oid, 'UPDATE'),
                    pg_catalog.has_table_privilege(c.oid, 'DELETE'),
                    CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_relation_is_updatable(c.oid, true) & 28 <> 0 ELSE true END,
                    c.relhastriggers AND EXISTS (
                        SELECT FROM pg_catalog.pg_trigger AS t
                        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 7 = 7),
                    CASE WHEN c.relkind = ANY ('{r,f}'::pg_catalog."char"[]) AND c.relhassubclass THEN (
                        WITH RECURSIVE below (oid) AS (
                            SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid
                            UNION
                            SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h JOIN below AS b ON h.inhparent = b.oid)
                        SELECT pg_catalog.array_agg(b.oid) FROM below AS b) END,
                    COALESCE(o.types, 0::pg_catalog.int2), c.relrowsecurity,
                    c.relhasrules AND EXISTS (
                        SELECT FROM pg_catalog.pg_rewrite AS r
                        WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN' AND r.ev_enabled <> 'D'),
                    (SELECT p.partattrs::pg_catalog.int2[] FROM pg_catalog.pg_partitioned_table AS p
                    WHERE p.partrelid = c.oid)
                FROM pg_catalog.pg_class AS c
                LEFT JOIN (
                    SELECT relation, pg_catalog.bit_or(types) AS types FROM obstructed GROUP BY relation
                ) AS o ON o.relation = c.oid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                WHERE \(within("c.oid", isScoped)) AND c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
                    AND n.nspname <> 'information_schema' AND n.nspname <> 'kindred' AND n.nspname !~~ 'pg\\_%'::pg_catalog.text
                    AND c.relname <> 'kindred_migration'
                    AND NOT c.oid = ANY (
                        SELECT d.objid FROM pg_catalog.pg_depend AS d
                        WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
                            AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass)
                    AND NOT n.oid = ANY (
                        SELECT d.objid FROM pg_catalog.pg_depend AS d
                        WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
                            AND d.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass)
                """
        )
    }

    /// The columns of possible entities, and of composite types.
    ///
    /// Column privileges are checked only if the column has an access list. From PostgreSQL 18 on, a NOT NULL column may still
    /// have NULLs while its constraint is NOT VALID.
    private static func columns(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod,
                    pg_catalog.format_type(a.atttypid, a.atttypmod),
                    a.attnotnull AND k.conrelid IS NULL, a.atthasdef, a.attidentity, a.attgenerated,
                    CASE WHEN a.attacl IS NOT NULL THEN pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') END,
                    CASE WHEN a.attcollation >= 16384 THEN (
                        SELECT NOT l.collisdeterministic FROM pg_catalog.pg_collation AS l WHERE l.oid = a.attcollation) END
                FROM pg_catalog.pg_attribute AS a
                JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
                LEFT JOIN pg_catalog.pg_constraint AS k
                    ON k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated AND a.attnum = ANY (k.conkey)
                WHERE \(within("a.attrelid", isScoped)) AND a.attnum > 0 AND NOT a.attisdropped
                    AND c.oid >= 16384 AND c.relkind = ANY ('{r,p,v,m,f,c}'::pg_catalog."char"[]) AND NOT c.relispartition
                """
        )
    }

    /// All constraints except the constraints of partitions.
    ///
    /// `conenforced` and `conperiod` came with PostgreSQL 18, `confdelsetcols` with 15: if the table lacks them, the names
    /// resolve to the outer query's values. `SET CONSTRAINTS` by name fails if any constraint of that name in the schema is not
    /// deferrable.
    private static func constraints(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT k.* FROM (
                    SELECT true AS conenforced, false AS conperiod, NULL::pg_catalog.int2[] AS confdelsetcols
                ) AS missing
                CROSS JOIN LATERAL (
                    SELECT oid, conrelid, conname, contype, conkey, confrelid, confkey, confdeltype, confmatchtype,
                        conparentid, conenforced, conperiod, confdelsetcols, convalidated, condeferrable, confupdtype,
                        CASE WHEN condeferrable AND NOT condeferred THEN NOT EXISTS (
                            SELECT FROM pg_catalog.pg_constraint AS same
                            WHERE same.connamespace = own.connamespace AND same.conname = own.conname
                                AND NOT same.condeferrable)
                        ELSE false END
                    FROM pg_catalog.pg_constraint AS own
                    WHERE contype = ANY ('{p,u,f,x,c}'::pg_catalog."char"[]) AND \(within("conrelid", isScoped)) AND conparentid = 0
                ) AS k
                """
        )
    }

    /// The foreign keys on or to a single partition that are not part of a partitioned table's, with the root tables and the
    /// columns' numbers there.
    private static func partitionKeys(_ isScoped: Bool) -> StatementText {
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
                SELECT k.oid, \(root("k.conrelid")), \(columns("k.conkey", of: "k.conrelid")),
                    \(root("k.confrelid")), \(columns("k.confkey", of: "k.confrelid"))
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
    private static func indexes(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT i.* FROM (SELECT false AS indnullsnotdistinct) AS missing
                CROSS JOIN LATERAL (
                    SELECT indrelid, indkey::pg_catalog.int2[], indnkeyatts,
                        CASE WHEN indpred IS NOT NULL THEN pg_catalog.pg_get_expr(indpred, indrelid) END, indimmediate,
                        indnullsnotdistinct
                    FROM pg_catalog.pg_index
                    WHERE \(within("indrelid", isScoped)) AND indisunique AND indisvalid AND NOT indisprimary AND NOT indisexclusion
                        AND indexprs IS NULL
                ) AS i
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
    private static func serverChecks(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT i.* FROM (SELECT false AS indnullsnotdistinct) AS missing
                CROSS JOIN LATERAL (
                    SELECT x.indexrelid, x.indrelid, CASE WHEN g.oid IS NULL THEN e.number ELSE 0::pg_catalog.int2 END,
                        CASE WHEN l.oid IS NULL THEN v.text
                        ELSE pg_catalog.format('%s COLLATE %I.%I'::pg_catalog.text, v.text, ln.nspname, l.collname) END,
                        pg_catalog.format('OPERATOR(%I.%s)'::pg_catalog.text, n.nspname, o.oprname),
                        CASE WHEN x.indpred IS NOT NULL THEN pg_catalog.pg_get_expr(x.indpred, x.indrelid) END,
                        x.indnullsnotdistinct, x.isloose,
                        ARRAY(
                            SELECT d.refobjsubid::pg_catalog.int2 FROM pg_catalog.pg_depend AS d
                            WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = x.indrelid
                                AND (d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = x.indexrelid
                                    OR d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.objid = g.oid))
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

    /// All types except tables' row types.
    private static func types(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT t.oid, n.nspname, t.typname, t.typtype, t.typcategory, t.typbasetype, t.typtypmod, t.typelem,
                    t.typarray, t.typrelid, t.typnotnull, t.typdefault IS NOT NULL
                FROM pg_catalog.pg_type AS t
                JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
                LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
                LEFT JOIN pg_catalog.pg_type AS e ON e.oid = t.typelem AND e.typtype = 'c'
                LEFT JOIN pg_catalog.pg_class AS ec ON ec.oid = e.typrelid
                WHERE \(within("t.oid", isScoped)) AND t.typtype <> 'p'
                    AND (t.typtype <> 'c' OR c.relkind = 'c') AND (e.oid IS NULL OR ec.relkind = 'c')
                """
        )
    }

    private static func enumLabels(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT e.enumtypid, e.enumsortorder, e.enumlabel FROM pg_catalog.pg_enum AS e
                WHERE \(within("e.enumtypid", isScoped))
                """
        )
    }

    /// Comments on tables and columns.
    private static func comments(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT d.objoid, d.objsubid, d.description FROM pg_catalog.pg_description AS d
                WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND \(within("d.objoid", isScoped))
                """
        )
    }

    /// Annotations on constraints of any kind.
    private static func keyComments(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT d.objoid, k.conname, k.conrelid, d.description FROM pg_catalog.pg_description AS d
                JOIN pg_catalog.pg_constraint AS k ON k.oid = d.objoid
                WHERE d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND \(within(isScoped ? "k.conrelid" : "d.objoid", isScoped))
                    AND d.description ~~ '@kindred%'::pg_catalog.text
                """
        )
    }

    /// The parsed definitions of views, which tell the origins of their columns.
    private static func views(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT r.ev_class, r.ev_action::pg_catalog.text FROM pg_catalog.pg_rewrite AS r
                JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
                WHERE \(within("r.ev_class", isScoped)) AND r.rulename = '_RETURN' AND c.relkind = ANY ('{v,m}'::pg_catalog."char"[])
                """
        )
    }
}
