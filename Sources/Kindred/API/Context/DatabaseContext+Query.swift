public import KindredPostgres
import KindredSchema

// Requests for objects of an entity, and raw SQL, whose rows become values or objects.
extension DatabaseContext {
    /// The connections of the context's database.
    var client: PostgresClient { core.client }

    /// A request for the objects of an entity: `person` follows the search path, `public.person` is exact.
    ///
    /// Throws `KindredError` `.unknownEntity` with the nearest names. Sends nothing.
    public func fetch(_ entityName: String) throws -> FetchRequest<DatabaseObject> {
        FetchRequest(context: self, entity: try core.runtime.entity(named: entityName))
    }

    /// Runs raw SQL with bound interpolations.
    ///
    /// One statement, in the task's transaction if there is one. Objects in memory do not follow its changes.
    @discardableResult
    public func query(_ sql: SQL, fileID: String = #fileID, line: Int = #line) async throws -> QueryResult {
        return try await client.called(at: fileID, line) {
            try await client.query(sql)
        }
    }

    /// Runs raw SQL with bound interpolations, and reads each row as a value of a type of the program's own.
    ///
    /// ```swift
    /// struct Turnover: Decodable { let city: String, total: PostgresNumeric? }
    /// let rows = try await context.query("SELECT city, sum(amount) AS total …", as: Turnover.self)
    /// ```
    ///
    /// One statement. Columns are found as `Row.decode(as:)` says; a type with a PostgreSQL form, such as `Int`, is the value
    /// of the only column. Throws `PostgresError` `.decodingFailed` naming the column for a row that does not fit.
    public func query<Value: Decodable>(
        _ sql: SQL, as type: Value.Type, fileID: String = #fileID, line: Int = #line
    ) async throws -> [Value] {
        try await query(sql, fileID: fileID, line: line).decode(as: type)
    }

    /// Runs raw SQL that returns rows of a typed class, and gives their objects.
    ///
    /// ```swift
    /// let found = try await context.query("SELECT b.* FROM book b WHERE …", as: Book.self)
    /// ```
    ///
    /// One statement: the text stands in a WITH, from which the entity's columns are selected by name. They all have to be
    /// among the text's columns, in any order. The rows come in its order; known rows give their objects. The text may be an
    /// `INSERT`, `UPDATE` or `DELETE … RETURNING *`, but objects in memory follow only the rows that it returns.
    ///
    /// Throws `KindredError` `.invalidRequest` if columns are missing, `.classMismatch` for a class that is not registered.
    public func query<Object: TypedObject>(
        _ sql: SQL, as type: Object.Type, fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(try await objects(of: entity, sql))
        }
    }

    /// Runs raw SQL that returns rows of an entity, and gives their objects: `query("SELECT …", as: "book")`.
    ///
    /// As `query(_:as:)` with a class; throws `.unknownEntity` with the nearest names too.
    public func query(
        _ sql: SQL, as entityName: String, fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            try await objects(of: try core.runtime.entity(named: entityName), sql)
        }
    }

    private func objects(of entity: EntityRuntime, _ sql: SQL) async throws -> [DatabaseObject] {
        try await core.follow(entity)
        let askedAt = core.beginReading()
        do {
            return try core.objects(
                from: try await client.query(try entity.selecting(from: sql)), of: entity, askedAt: askedAt)
        } catch let error as PostgresError where error.sqlState == .undefinedColumn {
            let hidden = entity.entity.attributes.filter(\.isHidden).map { " and b.\($0.name)" }.joined()
            throw KindredError(
                .invalidRequest,
                """
                The statement does not give all columns of \(entity.name), or names one that is not there: \
                \(error.message); objects need every column, as b.*\(hidden) gives them
                """,
                entity: entity.name.description, underlying: error)
        }
    }
}
