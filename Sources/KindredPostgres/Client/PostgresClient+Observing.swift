import HarmlessText
import Logging

extension PostgresClient {
    /// Runs statements and reports them to observers.
    @inline(__always)
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

    /// Runs the body of a public method, so that observers learn where it was called.
    ///
    /// The outermost call counts; inner calls are the library's. Without observers, and outside of transactions, only
    /// `body` runs.
    // Inlined into the library's other modules: a generic asynchronous call that is not inlined costs more than its
    // decision.
    @inlinable
    package func called<T>(
        at fileID: String,
        _ line: Int,
        _ body: () async throws -> T
    ) async rethrows -> T {
        if namesPlace(in: fileID) { return try await named(at: fileID, line, body) }
        return try await body()
    }

    /// Whether an observer, or an error, may name the place of a call in a file.
    @usableFromInline
    package func namesPlace(in fileID: String) -> Bool {
        // The error of a failed transaction names the line too.
        (isObserved || isInTransaction) && SourcePlace.current == nil && !SourcePlace.isInside(fileID)
    }

    @usableFromInline
    package func named<T>(at fileID: String, _ line: Int, _ body: () async throws -> T) async rethrows -> T {
        try await SourcePlace.$current.withValue(SourcePlace(fileID: fileID, line: line), operation: body)
    }

    /// Runs `body` for a known place.
    package func called<T>(at place: SourcePlace?, _ body: () async throws -> T) async rethrows -> T {
        guard let place else { return try await body() }
        return try await called(at: place.fileID, place.line, body)
    }
}
