extension PostgresClient {
    /// Copies rows out of the database with `COPY … TO STDOUT`, as fast as the loop takes them.
    ///
    /// ```swift
    /// for try await line in try client.copyOut("COPY note TO STDOUT (FORMAT csv)") { … }
    /// ```
    ///
    /// Inside a transaction the COPY takes its connection, which runs no other statement until the loop ends; leaving
    /// the loop early fails the transaction. Outside, the loop has a connection of its own.
    ///
    /// - Parameters:
    ///   - sql: a COPY statement; it may have interpolated identifiers, but no values.
    ///   - timeout: how long to wait for each piece of data; nil takes the configuration's.
    public func copyOut(_ sql: SQL, timeout: Duration? = nil) throws -> CopyOutput {
        CopyOutput(client: self, text: try CopySession.text(of: sql), timeout: timeout)
    }

    /// Copies rows into the database with `COPY … FROM STDIN` and returns their number.
    ///
    /// Atomic: either all rows are copied, or none.
    ///
    /// ```swift
    /// try await client.copyIn("COPY note FROM STDIN (FORMAT csv)", from: lines)
    /// ```
    ///
    /// `data` is iterated as fast as the server accepts it; chunks under 64 KiB are coalesced, for 20
    /// milliseconds at most. If it throws, or the task is cancelled before the end of the data has been sent, nothing is copied;
    /// after that the outcome counts, as of every statement.
    /// Inside a transaction the COPY takes its connection, which runs no other statement until the end.
    ///
    /// Throws the errors of `data`, unchanged, and `PostgresError` as a query does; `.unsupported` if the server does not take the
    /// binary format.
    ///
    /// - Parameters:
    ///   - sql: a COPY statement; it may have interpolated identifiers, but no values.
    ///   - data: the bytes in the statement's format, split anywhere.
    ///   - timeout: how long the server may take for each piece of data; nil takes the configuration's.
    @discardableResult
    public func copyIn<Data: AsyncSequence>(
        _ sql: SQL, from data: Data, timeout: Duration? = nil
    ) async throws -> Int where Data.Element == [UInt8] {
        if configuration.tracksCommits, currentTransaction == nil {
            return try await withTransaction { _ in try await copyIn(sql, from: data, timeout: timeout) }
        }
        let session = try await CopySession.begin(try CopySession.text(of: sql), .input, on: self, timeout: timeout)
        return try await session.copy(data)
    }
}
