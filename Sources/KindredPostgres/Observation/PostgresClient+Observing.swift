import HarmlessText
import Logging

extension PostgresClient {
    /// Runs statements and tells about them to whoever wants to know.
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

    /// Waits for a task's part in a statement that several tasks share, and tells about it as about one of its own.
    ///
    /// - Parameter rowCount: how many rows the task has got; nil if it had no part in the statement after all.
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
