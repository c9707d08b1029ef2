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
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - reading: the servers that may answer it, whatever the context's setting is. With any other value than
    ///     `.primary` it has to be a query, which a replica answers as it does the context's other reads, and the
    ///     primary in a transaction, or where the replica fails or refuses it: a query that calls functions which write
    ///     takes effect there.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Returns: the rows, and the number of changed rows.
    /// - Throws: `PostgresError` as `query` of the database's client does, and `.invalidParameter`, unsent, for a statement that is no query with a `reading` that allows replicas.
    @discardableResult
    public func query(
        _ sql: SQL, reading: DatabaseContext.Reading = .primary, fileID: String = #fileID, line: Int = #line
    ) async throws -> QueryResult {
        return try await client.called(at: fileID, line) {
            try reading.admit(sql)
            return try await run(sql, reading)
        }
    }

    /// Runs raw SQL where the call allows it to be read.
    private func run(_ sql: SQL, _ reading: DatabaseContext.Reading) async throws -> QueryResult {
        guard reading != .primary, let reads = core.reads else { return try await client.query(sql) }
        return try await reads.within(reading.maximumLag).read(
            try client.statement(of: sql), over: client, notOnReplica: core.reasonForPrimary)
    }

    /// Runs raw SQL with bound interpolations, and reads each row as a value of a type of the program's own.
    ///
    /// ```swift
    /// struct Turnover: Decodable { let city: String, total: PostgresNumeric? }
    /// let rows = try await context.query("SELECT city, sum(amount) AS total …", as: Turnover.self)
    /// ```
    ///
    /// One statement. Columns are found as `Row.decode(as:)` says; a type with a PostgreSQL form, such as `Int`, is the value
    /// of the only column. Throws `PostgresError` `.decodingFailed` naming the column for a row that does not fit. Servers may be
    /// chosen as with ``query(_:reading:fileID:line:)``.
    public func query<Value: Decodable>(
        _ sql: SQL, as type: Value.Type, reading: DatabaseContext.Reading = .primary, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [Value] {
        try await query(sql, reading: reading, fileID: fileID, line: line).decode(as: type)
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
    /// Throws `KindredError` `.invalidRequest` if columns are missing, `.classMismatch` for a class that is not registered. Servers
    /// may be chosen as with ``query(_:reading:fileID:line:)``.
    public func query<Object: TypedObject>(
        _ sql: SQL, as type: Object.Type, reading: DatabaseContext.Reading = .primary, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(try await objects(of: entity, sql, reading))
        }
    }

    /// Runs raw SQL that returns rows of an entity, and gives their objects: `query("SELECT …", as: "book")`.
    ///
    /// As `query(_:as:)` with a class; throws `.unknownEntity` with the nearest names too.
    public func query(
        _ sql: SQL, as entityName: String, reading: DatabaseContext.Reading = .primary, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            try await objects(of: try core.runtime.entity(named: entityName), sql, reading)
        }
    }

    /// Copies rows out of the database with `COPY … TO STDOUT`, as `copyOut` of the database's client does.
    ///
    /// The primary answers, and the copied rows count for the context's ``position``, like everything that the context
    /// reads. A context with settings or a role copies in its transactions alone.
    ///
    /// - Parameters:
    ///   - sql: a COPY statement; it may have interpolated identifiers, but no values.
    ///   - timeout: how long to wait for each piece of data; nil takes the configuration's.
    public func copyOut(_ sql: SQL, timeout: Duration? = nil) throws -> CopyOutput {
        try client.copyOut(sql, timeout: timeout)
    }

    private func objects(
        of entity: EntityRuntime, _ sql: SQL, _ reading: DatabaseContext.Reading
    ) async throws -> [DatabaseObject] {
        try reading.admit(sql)
        try await core.follow(entity)
        let askedAt = core.beginReading()
        do {
            return try core.take(
                try await run(try entity.texts.selecting(from: sql), reading), of: entity, askedAt: askedAt)
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
