/// The types of a database, as its catalog describes them.
enum TypeCatalog {
    /// The query for all types but the library's, without the row types of tables.
    static let text = text("t.oid >= 16384")

    /// The query for some types, by their numbers.
    static let scopedText = text("t.oid = ANY ($1)")

    private static func text(_ condition: String) -> StatementText {
        StatementText(
            catalog: """
                SELECT t.oid::pg_catalog.int8 AS oid, t.typname::pg_catalog.text AS name, t.typtype::pg_catalog.text AS kind,
                    t.typcategory::pg_catalog.text AS category, t.typelem::pg_catalog.int8 AS element, t.typbasetype::pg_catalog.int8 AS base,
                    r.rngsubtype::pg_catalog.int8 AS bound, m.rngtypid::pg_catalog.int8 AS range, x.extname::pg_catalog.text AS extension,
                    o.prosrc AS send, i.prosrc AS receive, f.names, f.types
                FROM pg_catalog.pg_type AS t
                LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
                LEFT JOIN pg_catalog.pg_range AS r ON r.rngtypid = t.oid
                LEFT JOIN pg_catalog.pg_range AS m ON m.rngmultitypid = t.oid
                LEFT JOIN pg_catalog.pg_type AS e ON e.oid = t.typelem AND e.typtype = 'c'
                LEFT JOIN pg_catalog.pg_class AS ec ON ec.oid = e.typrelid
                LEFT JOIN pg_catalog.pg_proc AS o ON o.oid = t.typsend AND o.prolang = 12
                LEFT JOIN pg_catalog.pg_proc AS i ON i.oid = t.typreceive AND i.prolang = 12
                LEFT JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.objid = t.oid AND d.deptype = 'e'
                LEFT JOIN pg_catalog.pg_extension AS x ON x.oid = d.refobjid
                LEFT JOIN LATERAL (
                    SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY a.attnum) AS names,
                        pg_catalog.array_agg(a.atttypid::pg_catalog.int8 ORDER BY a.attnum) AS types
                    FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                ) AS f ON c.relkind = 'c'
                WHERE \(condition) AND t.typtype <> 'p'
                    AND (t.typtype <> 'c' OR c.relkind = 'c') AND (e.oid IS NULL OR ec.relkind = 'c')
                """
        )
    }

    /// Registers the types in an answer.
    static func register(_ catalog: QueryResult, in types: TypeRegistry) throws {
        for row in catalog {
            guard let oid = try row.decode("oid", as: UInt32.self), let kind = try kind(row) else { continue }
            types.register(PostgresDataType(rawValue: oid), as: kind)
        }
    }

    private static func kind(_ row: Row) throws -> TypeRegistry.Kind? {
        func type(_ name: String) throws -> PostgresDataType {
            PostgresDataType(rawValue: try row.decode(name, as: UInt32.self) ?? 0)
        }
        let category = try row.decode("category", as: String.self)
        switch try row.decode("kind", as: String.self) {
        case "e": return .textLike
        case "d": return .domain(base: try type("base"))
        case "r": return .range(bound: try type("bound"))
        case "m": return .multirange(range: try type("range"))
        case "c":
            let names = try row.decode("names", as: [String].self) ?? []
            let types = try row.decode("types", as: [UInt32].self) ?? []
            let fields = zip(names, types).map { name, type in
                TypeRegistry.Field(name: name, type: PostgresDataType(rawValue: type))
            }
            return .composite(fields)
        case "b" where category == "A":
            let element = try type("element")
            return element == .unspecified ? nil : .array(element: element)
        case "b":
            switch (try row.decode("extension", as: String.self), try row.decode("name", as: String.self)) {
            case ("hstore", "hstore"): return .hstore
            case ("vector", "vector"): return .vector
            case ("ltree", "ltree"), ("ltree", "lquery"), ("ltree", "ltxtquery"): return .versionedText
            // Other extension types, such as semver, are not text on the wire, or have no binary format.
            default:
                let send = try row.decode("send", as: String.self) ?? ""
                let receive = try row.decode("receive", as: String.self) ?? ""
                let isText = ["textsend", "varcharsend", "bpcharsend"].contains(send)
                return isText && ["textrecv", "varcharrecv", "bpcharrecv"].contains(receive) ? .textLike : nil
            }
        default: return nil
        }
    }
}
