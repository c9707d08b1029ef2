/// The rows of a query, fetched from the server in portions as they are asked for.
///
/// Made by ``PostgresClient/stream(_:timeout:)``. Each loop over it runs the query anew.
public struct RowStream: AsyncSequence, Sendable {
    /// A row.
    public typealias Element = Row

    let client: PostgresClient
    let statement: Statement
    let timeout: Duration?

    /// Begins the query with the first row that is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(cursor: ServerCursor(client: client, statement: statement, timeout: timeout))
    }

    /// Goes through the rows once.
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
