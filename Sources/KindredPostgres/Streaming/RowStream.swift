extension PostgresClient {
    /// Streams the rows of a query; memory holds one portion of them at a time.
    ///
    /// ```swift
    /// for try await row in client.stream("SELECT id, total FROM invoice WHERE total > \(limit)") { … }
    /// ```
    ///
    /// Inside a transaction the rows come over its connection, and the loop may run other statements in it. Outside,
    /// the loop has a connection and a transaction of its own, which ends with the loop: committed after the last row,
    /// rolled back if the loop is left early. Inside `withConnection` the server materialises the whole result. The
    /// rows come from one snapshot, taken when the first row is read.
    ///
    /// Each portion of some hundred kilobytes costs one round trip. The text must be a query (SELECT, VALUES, TABLE, or WITH
    /// without changes); the server runs it in one process.
    ///
    /// - Parameters:
    ///   - sql: one query.
    ///   - timeout: how long the server may take for one portion; nil takes the configuration's.
    public func stream(_ sql: SQL, timeout: Duration? = nil) throws -> RowStream {
        try stream(try sql.statement(types: types), timeout: timeout)
    }

    /// Streams the rows of a query.
    package func stream(_ statement: Statement, timeout: Duration? = nil) throws -> RowStream {
        try statement.requireQuery("Only a query can be streamed; run other statements with query")
        return RowStream(client: self, statement: statement, timeout: timeout)
    }
}

extension Statement {
    /// Throws for a statement that is no query.
    package func requireQuery(_ message: String) throws {
        guard text.isQuery else { throw PostgresError(.invalidParameter, message, statement: text.text) }
    }
}

/// The rows of a query, fetched from the server in portions as the loop needs them.
///
/// Made by ``PostgresClient/stream(_:timeout:)``. Each loop runs the query again.
public struct RowStream: AsyncSequence, Sendable {
    /// A row.
    public typealias Element = Row

    let client: PostgresClient
    let statement: Statement
    let timeout: Duration?

    /// Begins the query when the first row is read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(cursor: ServerCursor(client: client, statement: statement, timeout: timeout))
    }

    /// A single pass over the rows.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let cursor: ServerCursor
        private var portion: QueryResult?
        private var position = 0

        init(cursor: ServerCursor) {
            self.cursor = cursor
        }

        /// The next row, nil after the last.
        ///
        /// Throws `PostgresError` as a query does, and `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Row? {
            while true {
                if let portion, position < portion.count {
                    defer { position += 1 }
                    return portion[position]
                }
                portion = nil
                guard let next = try await cursor.next() else { return nil }
                portion = next
                position = 0
            }
        }
    }
}
