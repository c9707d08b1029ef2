extension PostgresClient {
    /// Learns the database's own types: enums, domains, composite types, ranges, their arrays, and types of extensions.
    ///
    /// Until then their values come as text, in ``PostgresValue/other(_:)``. Reading a schema loads the types too; call
    /// this where no schema is read, and again after types were created or altered. Sends one query.
    public func loadTypes() async throws {
        try register(try await execute(Self.typeCatalog))
    }

    /// Learns types of results that were made after the catalog was read; `send` runs statements.
    ///
    /// The results' statements have succeeded, and so no error is thrown: values of types that stay unknown are raw.
    func learn(_ unknown: [PostgresDataType], _ send: ([Statement]) async throws -> [QueryResult]) async {
        guard types.seeks(unknown) else { return }
        do {
            for catalog in try await send([Self.typeCatalog]) { try register(catalog) }
            types.wereSought(unknown)
        } catch {
            // The next result with such a type asks again.
        }
    }

    /// Reads and writes the values of a type, and of its arrays, with a custom codec.
    ///
    /// - Parameters:
    ///   - codec: how values are read and written.
    ///   - name: the type's name as written in SQL: `color`, `paint.color`. A built-in type that the library knows keeps
    ///   the library's codec.
    /// - Throws: `PostgresError` `.invalidParameter` if the database has no such type, `.server` if the text is not a
    ///   type's name, or as a query does. Sends one query.
    public func register(_ codec: PostgresCodec, forTypeNamed name: String) async throws {
        let sql: SQL = """
            SELECT oid::pg_catalog.int8, typarray::pg_catalog.int8 FROM pg_catalog.pg_type
            WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(\(name)::pg_catalog.text)
            """
        let rows = try await execute(sql.statement(isProgrammed: false))
        guard let row = rows.first, let type = try row.decode(0, as: UInt32.self) else {
            throw PostgresError(.invalidParameter, "The database has no type with the codec's name")
        }
        let array = try row.decode(1, as: UInt32.self) ?? 0
        register(codec, for: PostgresDataType(rawValue: type), arrays: PostgresDataType(rawValue: array))
    }

    /// Reads and writes the values of a type with a custom codec; sends nothing.
    ///
    /// A built-in type that the library knows keeps the library's codec.
    ///
    /// - Parameters:
    ///   - codec: how values are read and written.
    ///   - type: the type.
    ///   - arrayType: the type of its arrays, to read and write them too.
    public func register(
        _ codec: PostgresCodec, for type: PostgresDataType, arrays arrayType: PostgresDataType = .unspecified
    ) {
        types.register(type, as: .custom(codec))
        if arrayType != .unspecified { types.register(arrayType, as: .array(element: type)) }
        // Statements whose columns were read as text may have a binary format now.
        formats.forget()
    }

    /// Reads the types of a database, without the row types of tables.
    package static let typeCatalog = Statement(text: typeText("t.oid >= 16384"))

    /// Reads some types.
    package static func typeCatalog(of types: [UInt32]) throws -> Statement {
        var bindings = Bindings()
        try bindings.appendArray(types.map { .integer(Int64($0)) }, of: .oid)
        return Statement(text: scopedTypeText, bindings: bindings, resultFormat: .binary)
    }

    private static let scopedTypeText = typeText("t.oid = ANY ($1)")

    private static func typeText(_ condition: String) -> StatementText {
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

    /// Registers the types in a result of `typeCatalog`.
    package func register(_ catalog: QueryResult) throws {
        try Self.register(catalog, in: types)
        types.wasRead()
        formats.forget()
    }

    /// The client's types together with the types in a result of `typeCatalog`, without registering them.
    package func types(with catalog: QueryResult) throws -> TypeRegistry {
        let types = types.copy()
        try Self.register(catalog, in: types)
        return types
    }

    private static func register(_ catalog: QueryResult, in types: TypeRegistry) throws {
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
