// The data of a `COPY … FROM STDIN`.
extension CopySession {
    /// Sends all data, and returns the number of rows that the server has stored.
    func copy<Data: AsyncSequence>(_ data: Data) async throws -> Int where Data.Element == [UInt8] {
        var isRefused = false
        // Rows that come one by one go to the server together: each write waits until it has left the process.
        var collected: [UInt8] = []
        var written = MonotonicTime.now
        do {
            for try await chunk in data {
                if collected.isEmpty, chunk.count >= Self.portion {
                    isRefused = try await !write(chunk)
                } else {
                    collected += chunk
                    guard collected.count >= Self.portion || MonotonicTime.now.since(written) >= Self.pause
                    else { continue }
                    isRefused = try await !write(collected)
                    collected.removeAll(keepingCapacity: true)
                }
                written = .now
                if isRefused { break }
            }
            if !isRefused, !collected.isEmpty { isRefused = try await !write(collected) }
            // A cancelled source may have ended early.
            try Task.checkCancellation()
        } catch {
            throw await end(with: error)
        }
        return try await isRefused ? answer() : endData()
    }

    /// The smallest write, except for the last.
    private static let portion = 64 << 10
    /// The longest pause between writes while the source gives anything: a write also reads the server's messages.
    private static let pause = Duration.milliseconds(20)

    /// Gets the answer that the server sent before the data's end: why it accepts no more.
    private func answer() async throws -> Int {
        let reason = "the server answered before the end of the data"
        do {
            return try await endData(failure: reason)
        } catch let error as PostgresError where error.server?.message.hasSuffix(reason) == true {
            throw PostgresError(
                .protocolViolation, "The server sent an unexpected message during a COPY; nothing was copied",
                statement: error.statement)
        }
    }

    /// The text of a COPY; throws for other statements, for several, and for parameters.
    static func text(of sql: SQL) throws -> String {
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
