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
    package static let typeCatalog = Statement(text: TypeCatalog.text)

    /// Reads some types.
    package static func typeCatalog(of types: [UInt32]) throws -> Statement {
        var bindings = Bindings()
        try bindings.appendArray(types.map { .integer(Int64($0)) }, of: .oid)
        return Statement(text: TypeCatalog.scopedText, bindings: bindings, resultFormat: .binary)
    }

    /// Registers the types in a result of `typeCatalog`.
    package func register(_ catalog: QueryResult) throws {
        try TypeCatalog.register(catalog, in: types)
        types.wasRead()
        formats.forget()
    }

    /// The client's types together with the types in a result of `typeCatalog`, without registering them.
    package func types(with catalog: QueryResult) throws -> TypeRegistry {
        let types = types.copy()
        try TypeCatalog.register(catalog, in: types)
        return types
    }
}
