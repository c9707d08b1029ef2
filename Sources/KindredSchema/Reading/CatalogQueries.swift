import KindredPostgres

/// The statements that read the catalog, in one round trip.
///
/// User objects have OIDs from 16384 on, so the statements skip system rows. Expressions are not deparsed, except in
/// unique indexes: the text of defaults would cost more than all the rest.
///
/// Objects that other roles create in schemas of the search path cannot affect them, as `CatalogSafetyTests` shows.
package enum CatalogQueries {
    /// The statements for the whole database, in the order in which `Catalog` takes their answers.
    static let all = texts(isScoped: false).map { Statement(text: $0.text, resultFormat: .binary) }

    /// The statements for some relations and types, which they find by their OIDs: their time does not grow with the
    /// catalog.
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
            (serverChecks(isScoped), .relations), (types(isScoped), .types), (operators(isScoped), .types),
            (enumLabels(isScoped), .types), (comments(isScoped), .relations), (keyComments(isScoped), .relations),
            (views(isScoped), .relations),
        ]
    }

    /// A condition, always true, that turns the compilation of queries off for the rest of the transaction.
    package static let withoutCompiler = """
        CASE WHEN pg_catalog.current_setting('jit', true) = 'on'
            THEN pg_catalog.set_config('kindred.jit', 'on', true) = 'on' AND pg_catalog.set_config('jit', 'off', true) = 'off'
            ELSE true END
        """

    /// Turns the compilation on again if it was, for the rest of a transaction in which the program goes on.
    static let withCompiler = Statement(
        text: StatementText(
            catalog: """
                SELECT CASE WHEN pg_catalog.current_setting('kindred.jit', true) = 'on'
                    THEN pg_catalog.set_config('kindred.jit', '', true) = '' AND pg_catalog.set_config('jit', 'on', true) = 'on'
                    END
                """),
        resultFormat: .binary)

    /// The condition on an OID: in the scope, or of any object of users.
    static func within(_ oid: String, _ isScoped: Bool) -> String {
        isScoped ? "\(oid) = ANY ($1)" : "\(oid) >= 16384"
    }

    /// The condition that something is the user's: not the system's schemas, not the helper schema, not an extension's
    /// object.
    package static func isOwn(_ relation: String, in schema: String, of catalog: String) -> String {
        """
        \(relation).oid >= 16384 AND \(schema).nspname <> 'information_schema' AND \(schema).nspname <> 'kindred'
            AND \(schema).nspname <> 'kindred_ddl'
            AND \(schema).nspname !~~ 'pg\\_%'::pg_catalog.text
            AND NOT \(relation).oid = ANY (
                SELECT e.objid FROM pg_catalog.pg_depend AS e
                WHERE e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND e.deptype = 'e'
                    AND e.classid = 'pg_catalog.\(catalog)'::pg_catalog.regclass)
            AND NOT \(schema).oid = ANY (
                SELECT e.objid FROM pg_catalog.pg_depend AS e
                WHERE e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND e.deptype = 'e'
                    AND e.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass)
        """
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
                SELECT d.logicalrelid::pg_catalog.oid AS relation,
                    pg_catalog.column_to_column_name(d.logicalrelid, d.partkey)::pg_catalog.text AS column
                FROM pg_catalog.pg_dist_partition AS d WHERE d.partmethod = 'h' AND d.partkey IS NOT NULL
                """),
        resultFormat: .binary)

    /// The role, and the schemas of its search path, each with whether PUBLIC may create objects there, and whether Citus is
    /// there; one row if the path is empty.
    private static let settings = StatementText(
        catalog: """
            SELECT p.schema::pg_catalog.text AS schema, r.rolname::pg_catalog.text AS rolname,
                r.rolbypassrls AND NOT r.rolsuper AS bypasses,
                pg_catalog.has_schema_privilege('public'::pg_catalog.name, p.schema::pg_catalog.text, 'CREATE') AS is_open,
                pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS distributed
            FROM pg_catalog.pg_roles AS r
            LEFT JOIN pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS p (schema, position) ON true
            WHERE r.rolname = current_user AND \(withoutCompiler)
            ORDER BY p.position
            """
    )

    /// All types except tables' row types.
    private static func types(_ isScoped: Bool) -> StatementText {
        StatementText(
            catalog: """
                SELECT t.oid, n.nspname, t.typname, t.typtype, t.typcategory, t.typbasetype, t.typtypmod, t.typelem,
                    t.typarray, t.typrelid, t.typnotnull, t.typdefault IS NOT NULL AS has_default
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
                SELECT r.ev_class, r.ev_action::pg_catalog.text AS ev_action FROM pg_catalog.pg_rewrite AS r
                JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
                WHERE \(within("r.ev_class", isScoped)) AND r.rulename = '_RETURN' AND c.relkind = ANY ('{v,m}'::pg_catalog."char"[])
                """
        )
    }
}
