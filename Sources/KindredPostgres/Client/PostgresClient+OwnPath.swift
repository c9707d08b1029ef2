// Sessions with only PostgreSQL's own schemas on their search path: the sessions of tools that an administrator runs.
// In a schema that comes before pg_catalog on a database's path, the schema's owner may have an operator or a function
// that fits any statement, and that would run with the administrator's rights.

extension PostgresClient {
    /// Connects a client whose sessions begin with PostgreSQL's own schemas alone, as a start option, and that knows the search
    /// path that they would have begun with.
    ///
    /// That path is asked for over a connection of its own, by one statement in which no name is looked up. A pooler
    /// may drop start options; behind it statements have to be safe by themselves. Throws as `connect` does.
    package static func connectCatalogOnly(_ configuration: PostgresConfiguration) async throws -> PostgresClient {
        var asking = configuration
        (asking.pool.minimumConnections, asking.pool.maximumConnections) = (0, 1)
        let path = try await connect(asking).lend { client in
            try await client.query("SELECT pg_catalog.current_setting('search_path')").first?.decode(0, as: String.self)
        }
        return try await connect(configuration.catalogOnly(ownPath: path ?? ""))
    }

    /// Gives the rest of a transaction the program's own search path; nil where the session has it already.
    package var ownPathStatement: Statement? {
        get throws {
            guard let path = configuration.ownPath else { return nil }
            let sql: SQL = "SELECT pg_catalog.set_config('search_path', \(path), true)"
            return try sql.statement(isProgrammed: false)
        }
    }

    /// Runs `body` where names are looked up in the program's own search path: in a transaction if the session has another.
    ///
    /// Statements of `body` must not look up operators, functions or types there.
    package func withOwnPath<T>(_ body: () async throws -> T) async throws -> T {
        guard let statement = try ownPathStatement else { return try await body() }
        return try await withTransaction { _ in
            try await execute(statement)
            return try await body()
        }
    }
}
