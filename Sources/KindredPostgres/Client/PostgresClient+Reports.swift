import HarmlessText
public import Logging

/// The reports of a client on its statements and its server.
extension PostgresClient {
    /// Calls `handler` for every statement of this client, once it has been answered.
    ///
    /// The handler runs in the statement's task and delays it, so it has to be quick. Events hold no values.
    ///
    /// - Returns: the observation; it ends when it is cancelled or released.
    public func addObserver(_ handler: @escaping @Sendable (StatementEvent) -> Void) -> StatementObservation {
        StatementObservation(observers, observers.add(handler))
    }

    /// The server's notices and warnings to this client's sessions, and its reasons for ending a session.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending messages are kept.
    /// They may quote values of rows. Sends nothing.
    public func notices() -> AsyncStream<ServerMessage> {
        pool.context.notices.stream()
    }

    /// The changes of settings that the server reports, such as `TimeZone`, `in_hot_standby` and, from 18 on,
    /// `search_path`.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending changes are kept. A
    /// change is noticed with the next answer over its connection, or at once while that is idle; earlier changes are
    /// reported too. Sends nothing; while there are listeners each answer costs a check of some fifteen settings. A
    /// `client_encoding` other than UTF8 ends its connection instead.
    public func parameterChanges() -> AsyncStream<ServerParameterChange> {
        pool.context.parameterChanges.stream()
    }

    /// Logs a risk once.
    package func warn(of risk: SecurityRisk) {
        pool.context.warnings.log(risk, logger)
    }
}

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
            guard let plans, event.kind == .statement, event.error == nil else { return }
            plans.take(event.sql) { [weak self] in try await self?.plan(of: $0) }
        }
    }

    /// The plan of a statement for any values.
    private func plan(of sql: String) async throws -> String {
        let name = "kindred_slow_\(UInt64.random(in: .min ... .max))"
        return try await withConnection { _ in
            do {
                let plan = try await withTransaction(readOnly: true) { _ in
                    try await query("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)")
                    try await query("SELECT set_config('statement_timeout', '10s', true)")
                    try await query(SQL(unsafeRaw: "PREPARE \(name) AS \(sql)"))
                    let count = try await query(
                        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = \(name)"
                    ).first?.decode(0, as: Int.self)
                    let values = repeatElement("NULL", count: count ?? 0).joined(separator: ", ")
                    return try await query(
                        SQL(unsafeRaw: "EXPLAIN EXECUTE \(name)\(values.isEmpty ? "" : "(\(values))")")
                    ).compactMap { try $0.decode(0, as: String.self) }.joined(separator: "\n")
                }
                _ = try await query(SQL(unsafeRaw: "DEALLOCATE \(name)"))
                return plan
            } catch {
                _ = try? await query(SQL(unsafeRaw: "DEALLOCATE \(name)"))
                throw error
            }
        }
    }
}
