/// The statements around reads of a replica, under the same Sync; observers and limits do not see them.
package struct ReplicaGuard: Sendable {
    private static let question = Statement(
        text: StatementText(catalog: "SELECT pg_catalog.pg_last_wal_replay_lsn()::pg_catalog.text"), resultFormat: .text
    )

    /// A statement of its own, as in one statement the snapshot would be older than the check.
    private static let text = StatementText(
        catalog: """
            SELECT 1 OPERATOR(pg_catalog./) CASE WHEN pg_catalog.pg_is_in_recovery() \
            AND pg_catalog.pg_last_wal_replay_lsn() >= $1::pg_catalog.text::pg_catalog.pg_lsn THEN 1 ELSE 0 END
            """)

    private static let roleText = StatementText(
        catalog: "SELECT 1 OPERATOR(pg_catalog./) CASE WHEN pg_catalog.pg_is_in_recovery() THEN 1 ELSE 0 END")

    /// Fails where the server has not replayed a place of the log, or is no replica.
    let statement: Statement
    /// Behind the reads: the place that they saw, or one before it; nothing where none is told.
    let questions: [Statement]

    /// - Parameter location: the place; nil where none is told.
    init(_ location: UInt64?) throws {
        guard let location else {
            statement = Statement(text: Self.roleText, resultFormat: .binary)
            questions = []
            return
        }
        questions = [Self.question]
        var bindings = Bindings()
        try bindings.append(text: DatabasePosition.text(of: location))
        statement = Statement(text: Self.text, bindings: bindings, resultFormat: .binary)
    }

    /// Whether an error is the guard's, so that nothing behind it was run.
    func refused(_ error: PostgresError) -> Bool {
        error.sqlState == .divisionByZero && error.statement == statement.text.text
    }

    /// The place in the last of the answers; nil where none is told.
    func location(in answers: [QueryResult]) -> UInt64? {
        guard !questions.isEmpty else { return nil }
        let text = (try? answers.last?.first?.decode(0, as: String.self)).flatMap { $0 }
        return text.flatMap { DatabasePosition.location($0) }
    }
}

extension PostgresClient {
    /// Runs queries on a replica behind a guard, in one round trip.
    ///
    /// - Parameter overdue: asks another server for the same if the answer is overdue.
    func executeGuarded(
        _ statements: [Statement], by guardian: ReplicaGuard, _ overdue: OverdueRead?
    ) async throws -> ReadRoute.GuardedAnswer<[QueryResult]> {
        try requireSettings()
        let statements = route.resolved(statements)
        try route.requireNoSession(statements)
        let deadline = deadline(nil)
        let formatted = try await formatted(statements, by: deadline)
        if isObserved { try StatementRecorder.current?.admit(formatted) }
        let start = MonotonicTime.now
        func answered(_ results: [QueryResult]) {
            guard isObserved else { return }
            observe(formatted, since: start, rows: results.map { max($0.count, $0.affectedRows) }, kind: .statement)
        }
        do {
            let answer = try await guarded(formatted, by: guardian, until: deadline, overdue)
            if case .result(let results, _) = answer {
                answered(results)
            } else if let second = await overdue?.answer(after: nil) {
                answered(second.results)
                return .second(second.results, by: second.replica, replayed: second.replayed)
            }
            return answer
        } catch {
            if let second = await overdue?.answer(after: error) {
                answered(second.results)
                return .second(second.results, by: second.replica, replayed: second.replayed)
            }
            observe(formatted, since: start, error: error, kind: .statement)
            throw error
        }
    }

    /// Runs queries behind a guard; observers and limits do not see them.
    @inline(__always)
    func guarded(
        _ statements: [Statement], by guardian: ReplicaGuard, until deadline: MonotonicTime,
        _ overdue: OverdueRead? = nil
    ) async throws -> ReadRoute.GuardedAnswer<[QueryResult]> {
        do {
            let all = [guardian.statement] + statements + guardian.questions
            let results = try await run(all, in: currentTransaction, by: deadline, overdue)
            let replayed = guardian.location(in: results)
            guard results.count == all.count, replayed != nil || guardian.questions.isEmpty else {
                throw PostgresError(.protocolViolation, "A replica did not say what it has replayed")
            }
            return .result(Array(results[1...statements.count]), replayed: replayed)
        } catch let error as PostgresError where guardian.refused(error) {
            return .behind
        }
    }

    /// Ends all connections at once, and with them the statements that wait for a server that is silent.
    func abandonConnections() {
        pool.abandonConnections(PostgresError(.connectionLost, "The server does not answer"))
    }
}
