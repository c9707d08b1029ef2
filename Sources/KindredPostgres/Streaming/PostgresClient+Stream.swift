extension PostgresClient {
    /// Gives the rows of a query as they are asked for, so that memory holds one portion of them at a time.
    ///
    /// ```swift
    /// for try await row in client.stream("SELECT id, total FROM invoice WHERE total > \(limit)") { … }
    /// ```
    ///
    /// Inside a transaction the rows come over its connection, and the loop may run other statements in it. Outside, the
    /// loop has a connection and a transaction of its own, which ends with the loop: committed after the last row, rolled
    /// back if the loop is left before. Inside `withConnection` the server keeps the whole result aside.
    /// The rows are those of the moment when the first was asked for, whatever happens in between.
    ///
    /// One round trip for each portion of some hundred kilobytes. The text must be a query (SELECT, VALUES, TABLE, or WITH
    /// without changes); the server runs it in one process.
    ///
    /// - Parameters:
    ///   - sql: one query.
    ///   - timeout: how long the server may take for one portion; nil is the configuration's.
    public func stream(_ sql: SQL, timeout: Duration? = nil) throws -> RowStream {
        try stream(try sql.statement(types: types), timeout: timeout)
    }

    /// Gives the rows of a query as they are asked for.
    package func stream(_ statement: Statement, timeout: Duration? = nil) throws -> RowStream {
        guard statement.text.isQuery else {
            throw PostgresError(
                .invalidParameter, "Only a query can be streamed; run other statements with query",
                statement: statement.text.text)
        }
        return RowStream(client: self, statement: statement, timeout: timeout)
    }
}
