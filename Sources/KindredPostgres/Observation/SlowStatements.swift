import HarmlessText
public import Logging
import Synchronization

extension PostgresClient {
    /// Logs statements that take long, at level warning, until the returned observation is cancelled or released.
    ///
    /// ```swift
    /// let slow = database.client.logSlowStatements(longerThan: .milliseconds(200), withPlans: true)   // keep it
    /// ```
    ///
    /// An entry has the statement with `$1` for its values, how long it took with its way to the server, its rows or its error, and
    /// the line of the program that sent it. Sends nothing without plans. With them, each statement's text is planned once, the first
    /// time that it is logged, as the server plans it for any values: over a connection of the pool, one at a time, with six statements
    /// that run nothing and have ten seconds each. A plan is of the client's own role.
    ///
    /// - Parameters:
    ///   - threshold: the duration from which on a statement is logged.
    ///   - share: the part of these statements that is logged, from 0 to 1; the others leave no trace.
    ///   - withPlans: whether the server's plan is logged, too, as an entry of its own.
    ///   - logger: gets the entries; the client's, or one of the label `kindred.slow`, where it is nil.
    public func logSlowStatements(
        longerThan threshold: Duration = .milliseconds(500), share: Double = 1, withPlans: Bool = false,
        logger: Logger? = nil
    ) -> StatementObservation {
        let logger = logger ?? self.logger ?? Logger(label: "kindred.slow")
        let plans = withPlans ? SlowStatementPlans(logger) : nil
        // Weak, because the client keeps the handler.
        return addObserver { [weak self] event in
            guard event.duration >= threshold, !SlowStatementPlans.isPlanning,
                share >= 1 || Double.random(in: 0..<1) < share
            else { return }
            var metadata: Logger.Metadata = [
                "duration": "\(event.duration)", "statement": "\(event.sql.harmlessLines())",
            ]
            if let rows = event.rows { metadata["rows"] = "\(rows)" }
            if let error = event.error { metadata["error"] = "\(error.code)" }
            if let place = event.place { metadata["place"] = "\(place)" }
            logger.warning("A statement took long", metadata: metadata)
            if let self, let plans, event.kind == .statement, event.error == nil { plans.take(event.sql, of: self) }
        }
    }
}

/// The plans of slow statements: each text once, one after the other.
private final class SlowStatementPlans: Sendable {
    private struct State {
        /// The texts that were planned, or wait for it.
        var known: Set<ServerText> = []
        var waiting: [String] = []
        var isAtWork = false
    }

    /// Programs that write values into their texts have no end of them.
    private static let maximumTexts = 1_000

    /// Whether the task's statements make a plan: they are not logged themselves.
    @TaskLocal static var isPlanning = false

    private let state = RankedMutex(State(), .leaf)
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Plans a statement in a task of its own, or after the plan that is made now.
    func take(_ sql: String, of client: PostgresClient) {
        let isFirst = state.withLock { state in
            guard state.known.count < Self.maximumTexts, Self.isPlanned(sql),
                state.known.insert(ServerText(sql)).inserted
            else { return false }
            state.waiting.append(sql)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard isFirst else { return }
        Task { [weak client] in
            while let sql = next() {
                guard let client else { continue }
                await Self.$isPlanning.withValue(true) { await log(sql, of: client) }
            }
        }
    }

    private func next() -> String? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isAtWork = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Whether EXPLAIN takes a text.
    private static func isPlanned(_ sql: String) -> Bool {
        let first = sql.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES"].contains(first)
    }

    private func log(_ sql: String, of client: PostgresClient) async {
        var metadata: Logger.Metadata = ["statement": "\(sql.harmlessLines())"]
        do {
            metadata["plan"] = "\(try await plan(sql, of: client).harmlessLines())"
            logger.warning("The plan of a statement that took long", metadata: metadata)
        } catch {
            // A text by itself may leave the types of its values open.
            let reason = (error as? PostgresError)?.message ?? "\(error)"
            metadata["reason"] = "\(reason.harmlessLines())"
            logger.info("A statement that took long cannot be planned without its values", metadata: metadata)
        }
    }

    /// The plan of a statement for any values.
    private func plan(_ sql: String, of client: PostgresClient) async throws -> String {
        let name = "kindred_slow_\(UInt64.random(in: .min ... .max))"
        return try await client.withConnection { _ in
            do {
                let plan = try await client.withTransaction(readOnly: true) { _ in
                    try await client.query("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)")
                    try await client.query("SELECT set_config('statement_timeout', '10s', true)")
                    try await client.query(SQL(unsafeRaw: "PREPARE \(name) AS \(sql)"))
                    let count = try await client.query(
                        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = \(name)"
                    ).first?.decode(0, as: Int.self)
                    let values = repeatElement("NULL", count: count ?? 0).joined(separator: ", ")
                    return try await client.query(
                        SQL(unsafeRaw: "EXPLAIN EXECUTE \(name)\(values.isEmpty ? "" : "(\(values))")")
                    ).compactMap { try $0.decode(0, as: String.self) }.joined(separator: "\n")
                }
                _ = try await client.query(SQL(unsafeRaw: "DEALLOCATE \(name)"))
                return plan
            } catch {
                _ = try? await client.query(SQL(unsafeRaw: "DEALLOCATE \(name)"))
                throw error
            }
        }
    }
}
