import KindredPostgres
import KindredSchema

// Parts of schemas and tables beside columns, indexes and foreign keys.
extension DoctorQueries {
    /// Functions that run with their owners' rights, and functions whose names the search path resolves.
    ///
    /// `prosqlbody` came with PostgreSQL 14. An aggregate has no search path.
    static let functions = StatementText(
        catalog: """
            SELECT f.* FROM (SELECT NULL::pg_catalog.text AS prosqlbody) AS missing
            CROSS JOIN LATERAL (
                SELECT p.oid, n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments,
                    EXISTS (
                        SELECT FROM pg_catalog.unnest(p.proconfig) AS s (setting)
                        WHERE s.setting ~~ 'search\\_path=%'::pg_catalog.text) AS has_path,
                    p.prosecdef, prosqlbody IS NOT NULL AS is_resolved
                FROM pg_catalog.pg_proc AS p
                JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
                JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
                WHERE p.prokind <> 'a' AND (p.prosecdef OR NOT l.lanname = ANY ('{internal,c}'::pg_catalog.name[]))
                    AND \(CatalogQueries.isOwn("p", in: "n", of: "pg_proc"))
            ) AS f
            """
    )

    static let policies = StatementText(
        catalog: """
            SELECT p.oid, p.polrelid, p.polname, pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS condition,
                pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS new_condition, p.polpermissive, p.polcmd,
                ARRAY (
                    SELECT CASE WHEN u.role = '0'::pg_catalog.oid THEN 'public'::pg_catalog.name
                        ELSE pg_catalog.pg_get_userbyid(u.role) END
                    FROM pg_catalog.unnest(p.polroles) AS u (role)
                ) AS roles
            FROM pg_catalog.pg_policy AS p
            """
    )

    /// Functions without a search path of their own, with the tables and views that call them.
    static let looseCalls = StatementText(
        catalog: """
            \(LooseFunctions.query(within: { "\($0) >= 16384" }))
            SELECT DISTINCT f.relation, p.oid, n.nspname, p.proname,
                pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments
            FROM found AS f
            JOIN pg_catalog.pg_proc AS p ON p.oid = f.function
            JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
            WHERE \(CatalogQueries.isOwn("p", in: "n", of: "pg_proc"))
            """
    )

    /// Views that read tables with row security.
    static let viewTables = StatementText(
        catalog: """
            SELECT DISTINCT r.ev_class AS view, d.refobjid AS target FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid
            JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid
            WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND c.relrowsecurity
                AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND r.ev_class <> c.oid
            """
    )

    /// Annotations on anything, and the comments on tables, columns and constraints that a new annotation has to keep.
    static let comments = StatementText(
        catalog: """
            SELECT CASE WHEN d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass THEN 'r'::pg_catalog."char"
                    WHEN d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN 'c'::pg_catalog."char"
                    WHEN d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass THEN 'f'::pg_catalog."char"
                    WHEN d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass THEN 'n'::pg_catalog."char"
                    WHEN d.classoid = 'pg_catalog.pg_policy'::pg_catalog.regclass THEN 'p'::pg_catalog."char"
                    ELSE ' '::pg_catalog."char" END AS kind,
                d.objoid, d.objsubid, d.description
            FROM pg_catalog.pg_description AS d
            WHERE d.objoid >= 16384 OR d.description ~~ '@kindred%'::pg_catalog.text
            """
    )

    /// Objects that let no column's type be changed: views and rules, policies, triggers, functions whose body was resolved, other
    /// columns that are made of it, and the conditions of publications.
    static let columnUses = StatementText(
        catalog: """
            SELECT DISTINCT d.refobjid AS relation, d.refobjsubid::pg_catalog.int2 AS number,
                CASE WHEN r.ev_class IS NOT NULL
                    THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, r.ev_class, 0)
                    ELSE pg_catalog.pg_describe_object(d.classid, d.objid, 0) END AS used_by
            FROM pg_catalog.pg_depend AS d
            LEFT JOIN pg_catalog.pg_rewrite AS r
                ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND r.oid = d.objid
            LEFT JOIN pg_catalog.pg_attrdef AS f
                ON d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND f.oid = d.objid
            WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid >= 16384
                AND d.refobjsubid > 0 AND (
                    r.oid IS NOT NULL OR f.adnum <> d.refobjsubid OR d.classid = ANY (
                        '{pg_catalog.pg_policy,pg_catalog.pg_trigger,pg_catalog.pg_proc,pg_catalog.pg_publication_rel}'
                            ::pg_catalog.regclass[]::pg_catalog.oid[]))
            """
    )

    static let extensions = StatementText(
        catalog: """
            SELECT e.extname FROM pg_catalog.pg_extension AS e
            JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE n.nspname = 'public'
            """
    )
}
