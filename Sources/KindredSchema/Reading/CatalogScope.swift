package import KindredPostgres

/// The relations and types of some schemas, for queries that read only these.
package struct CatalogScope: Sendable {
    /// The schemas by name.
    package private(set) var schemas: [ServerText: UInt32] = [:]
    /// The relations, including the relations that hold the fields of composite types.
    private(set) var relations: [UInt32] = []
    private(set) var types: [UInt32] = []

    /// Decodes the answer to `CatalogScope.statement(for:among:)`.
    init(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let (kind, oid): (UInt8, UInt32) = (row["kind"], row["oid"])
            switch kind {
            case UInt8(ascii: "n"): schemas[row["name"] as String] = oid
            case UInt8(ascii: "r"): relations.append(oid)
            default: types.append(oid)
            }
        }
    }

    func bindings(of subject: CatalogQueries.Subject) throws -> Bindings {
        var bindings = Bindings()
        switch subject {
        case .nothing: break
        case .relations: try bindings.appendArray(relations.map { .integer(Int64($0)) }, of: .oid)
        case .types: try bindings.appendArray(types.map { .integer(Int64($0)) }, of: .oid)
        }
        return bindings
    }

    /// Finds the relations and types of some schemas, with the types of their columns and the parts of these types.
    ///
    /// - Parameters:
    ///   - schemas: their names.
    ///   - names: the names of relations, by which they are found without reading all; nil for all relations and types,
    ///     and the types of extensions.
    static func statement(for schemas: [String], among names: [String]? = nil) throws -> Statement {
        var bindings = Bindings()
        try bindings.appendArray(schemas.map { .string($0) }, of: .text)
        if let names { try bindings.appendArray(names.map { .string($0) }, of: .text) }
        return Statement(text: names == nil ? whole : named, bindings: bindings, resultFormat: .binary)
    }

    private static let named = text(relations: "AND c.relname = ANY ($2::pg_catalog.name[])", types: "")
    private static let whole = text(
        relations: "",
        types: """
            UNION
            SELECT t.oid FROM named AS n JOIN pg_catalog.pg_type AS t ON t.typnamespace = n.oid
            LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
            WHERE c.oid IS NULL OR c.relkind = 'c'::pg_catalog."char"
            UNION
            SELECT d.objid FROM pg_catalog.pg_depend AS d
            WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
                AND d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
            """)

    private static func text(relations: String, types: String) -> StatementText {
        StatementText(
            catalog: """
                WITH RECURSIVE named (oid, name) AS (
                    SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace AS n
                    WHERE n.nspname = ANY ($1::pg_catalog.name[]) AND \(CatalogQueries.withoutCompiler)
                ), own (oid) AS (
                    SELECT c.oid FROM named AS n JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid
                    WHERE c.relkind = ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
                        AND c.relname <> 'kindred_migration' \(relations)
                ), used (oid) AS (
                    SELECT a.atttypid FROM own AS o JOIN pg_catalog.pg_attribute AS a ON a.attrelid = o.oid
                    WHERE a.attnum > 0 AND a.atttypid >= 16384
                    \(types)
                ), found (oid) AS (
                    SELECT u.oid FROM used AS u
                    UNION
                    SELECT p.oid FROM found AS f JOIN pg_catalog.pg_type AS t ON t.oid = f.oid
                    CROSS JOIN LATERAL (
                        SELECT t.typelem UNION ALL SELECT t.typbasetype UNION ALL SELECT t.typarray
                        UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = t.oid
                        UNION ALL SELECT r.rngtypid FROM pg_catalog.pg_range AS r WHERE r.rngmultitypid = t.oid
                        UNION ALL SELECT a.atttypid FROM pg_catalog.pg_class AS c
                        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
                        WHERE c.oid = t.typrelid AND c.relkind = 'c'::pg_catalog."char" AND a.attnum > 0
                            AND NOT a.attisdropped
                    ) AS p (oid)
                    WHERE p.oid >= 16384
                )
                SELECT 'n'::pg_catalog."char" AS kind, n.oid, n.name::pg_catalog.text AS name FROM named AS n
                UNION ALL SELECT 'r'::pg_catalog."char", o.oid, NULL FROM own AS o
                UNION ALL SELECT 't'::pg_catalog."char", f.oid, NULL FROM found AS f
                UNION ALL SELECT 'r'::pg_catalog."char", t.typrelid, NULL FROM pg_catalog.pg_type AS t
                JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid AND c.relkind = 'c'::pg_catalog."char"
                WHERE t.oid = ANY (ARRAY(SELECT f.oid FROM found AS f))
                """)
    }
}
