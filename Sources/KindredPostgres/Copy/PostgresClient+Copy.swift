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
        CopyOutput(client: self, text: try Self.copyText(sql), timeout: timeout)
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
        let session = try await CopySession.begin(try Self.copyText(sql), .input, on: self, timeout: timeout)
        var isRefused = false
        // Rows that come one by one go to the server together: each write waits until it has left the process.
        var collected: [UInt8] = []
        var written = MonotonicTime.now
        do {
            for try await chunk in data {
                if collected.isEmpty, chunk.count >= Self.copyPortion {
                    isRefused = try await !session.write(chunk)
                } else {
                    collected += chunk
                    guard collected.count >= Self.copyPortion || MonotonicTime.now.since(written) >= Self.copyPause
                    else { continue }
                    isRefused = try await !session.write(collected)
                    collected.removeAll(keepingCapacity: true)
                }
                written = .now
                if isRefused { break }
            }
            if !isRefused, !collected.isEmpty { isRefused = try await !session.write(collected) }
            // A cancelled source may have ended early.
            try Task.checkCancellation()
        } catch {
            throw await session.end(with: error)
        }
        return try await isRefused ? Self.answer(session) : session.endData()
    }

    /// The smallest write, except for the last.
    private static let copyPortion = 64 << 10
    /// The longest pause between writes while the source gives anything: a write also reads the server's messages.
    private static let copyPause = Duration.milliseconds(20)

    /// Gets the answer that the server sent before the data's end: why it accepts no further data.
    private static func answer(_ session: CopySession) async throws -> Int {
        let reason = "the server answered before the end of the data"
        do {
            return try await session.endData(failure: reason)
        } catch let error as PostgresError where error.server?.message.hasSuffix(reason) == true {
            throw PostgresError(
                .protocolViolation, "The server sent an unexpected message during a COPY; nothing was copied",
                statement: error.statement)
        }
    }

    private static func copyText(_ sql: SQL) throws -> String {
        let statement = try sql.statement()
        guard statement.text.isCopy else {
            throw PostgresError(.invalidParameter, "Not a COPY statement", statement: statement.text.text)
        }
        // Further statements would run too, COMMIT among them.
        guard !SQLScanner.holdsSeveral(statement.text.text) else {
            throw PostgresError(
                .invalidParameter, "COPY must be the only statement", statement: statement.text.text)
        }
        guard statement.bindings.count == 0 else {
            throw PostgresError(
                .invalidParameter,
                "COPY takes no parameters; copy from a table that holds the rows, or stream a query",
                statement: statement.text.text)
        }
        guard !statement.text.text.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "A statement cannot hold a NUL character")
        }
        return statement.text.text
    }
}
