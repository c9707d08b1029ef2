import HarmlessText
import Logging

extension PostgresClient {
    /// Runs statements and reports them to observers.
    func observing(
        _ statements: [Statement],
        kind: StatementEvent.Kind = .statement,
        _ body: () async throws -> [QueryResult]
    ) async throws -> [QueryResult] {
        guard isObserved else { return try await body() }
        if kind == .statement { try StatementRecorder.current?.admit(statements) }
        let start = MonotonicTime.now
        do {
            let results = try await body()
            observe(statements, since: start, rows: results.map { max($0.count, $0.affectedRows) }, kind: kind)
            return results
        } catch {
            observe(statements, since: start, error: error, kind: kind)
            throw error
        }
    }

    /// Waits for a task's part of a shared statement, and reports it like a statement of its own.
    ///
    /// - Parameter rowCount: the number of the task's rows; nil if it had no part in the statement.
    package func observingShared<T>(
        _ text: @autoclosure () throws -> StatementText, _ body: () async throws -> T, rowCount: (T) -> Int?
    ) async throws -> T {
        guard isObserved else { return try await body() }
        let start = MonotonicTime.now
        let statement = Statement(text: try text())
        do {
            let result = try await body()
            if let count = rowCount(result) { observe([statement], since: start, rows: [count], kind: .statement) }
            return result
        } catch {
            observe([statement], since: start, error: error, kind: .statement)
            throw error
        }
    }

    package var isObserved: Bool {
        StatementRecorder.current != nil || !observers.isEmpty || logger.map { $0.logLevel <= .trace } ?? false
    }

    func observe(
        _ statements: [Statement],
        since start: MonotonicTime = .now,
        rows: [Int] = [],
        error: (any Error)? = nil,
        kind: StatementEvent.Kind
    ) {
        guard isObserved else { return }
        let duration = MonotonicTime.now.since(start)
        for (index, statement) in statements.enumerated() {
            let event = StatementEvent(
                sql: statement.text.text,
                kind: kind,
                duration: duration,
                rows: rows.indices.contains(index) ? rows[index] : nil,
                error: error as? PostgresError,
                place: SourcePlace.current
            )
            StatementRecorder.current?.record(event)
            observers.tell(event)
            guard let logger, logger.logLevel <= .trace else { continue }
            var metadata: Logger.Metadata = [
                "duration": "\(duration)", "rows": "\(event.rows.map(String.init) ?? "failed")",
            ]
            if let place = event.place { metadata["place"] = "\(place)" }
            logger.trace("\(event.sql.harmlessLines())", metadata: metadata)
        }
    }
}

extension PostgresClient {
    /// The server's notices and warnings to this client's sessions, and why it ended one.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending ones are kept. They
    /// may quote values of rows. Sends nothing.
    public func notices() -> AsyncStream<ServerMessage> {
        pool.context.notices.stream()
    }
}

/// A changed setting of a session, as reported by the server.
public struct ServerParameterChange: Sendable, Hashable {
    /// The setting's name, such as `TimeZone` or `in_hot_standby`.
    public let name: String
    /// Its new value.
    public let value: String
    /// The server process of the session.
    public let processID: Int32
}

extension PostgresClient {
    /// The changes of settings that the server reports, such as `TimeZone`, `in_hot_standby` and, from 18 on,
    /// `search_path`.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending ones are kept. A
    /// change is noticed with the next answer over its connection, or at once while that is idle; earlier changes are
    /// reported too. Sends nothing; while there are listeners each answer costs a check of some fifteen settings. A
    /// `client_encoding` other than UTF8 ends its connection instead.
    public func parameterChanges() -> AsyncStream<ServerParameterChange> {
        pool.context.parameterChanges.stream()
    }
}
