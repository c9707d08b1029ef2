/// The statements around reads of a replica, under the same Sync; observers and limits do not see them.
package struct ReplicaGuard: Sendable {
    /// Behind the reads: the place that they saw, or one before it.
    static let question = Statement(
        text: StatementText(catalog: "SELECT pg_catalog.pg_last_wal_replay_lsn()::pg_catalog.text"), resultFormat: .text
    )

    /// A statement of its own, as in one statement the snapshot would be older than the check.
    private static let text = StatementText(
        catalog: """
            SELECT 1 OPERATOR(pg_catalog./) CASE WHEN pg_catalog.pg_is_in_recovery() \
            AND pg_catalog.pg_last_wal_replay_lsn() >= $1::pg_catalog.text::pg_catalog.pg_lsn THEN 1 ELSE 0 END
            """)

    /// Fails where the server has not replayed a place of the log, or is no replica.
    let statement: Statement

    /// - Parameter location: the place.
    init(_ location: UInt64) throws {
        var bindings = Bindings()
        try bindings.append(text: DatabasePosition.text(of: location))
        statement = Statement(text: Self.text, bindings: bindings, resultFormat: .binary)
    }

    /// Whether an error is the guard's, so that nothing behind it was run.
    func refused(_ error: PostgresError) -> Bool {
        error.sqlState == .divisionByZero && error.statement == Self.text.text
    }

    /// The place in the answer to `question`.
    static func location(in answer: QueryResult?) -> UInt64? {
        (try? answer?.first?.decode(0, as: String.self)).flatMap { $0 }.flatMap { DatabasePosition.location($0) }
    }
}

extension PostgresClient {
    /// Runs queries on a replica behind a guard, in one round trip.
    func executeGuarded(
        _ statements: [Statement], by guardian: ReplicaGuard
    ) async throws -> ReadRoute.GuardedAnswer<[QueryResult]> {
        try requireSettings()
        try requireNoSession(statements)
        let deadline = deadline(nil)
        let statements = try await formatted(statements, by: deadline)
        if isObserved { try StatementRecorder.current?.admit(statements) }
        let start = MonotonicTime.now
        do {
            let all = [guardian.statement] + statements + [ReplicaGuard.question]
            let results = try await run(all, by: deadline)
            guard results.count == all.count, let replayed = ReplicaGuard.location(in: results.last) else {
                throw PostgresError(.protocolViolation, "A replica did not say what it has replayed")
            }
            let answers = Array(results[1...statements.count])
            observe(
                statements, since: start, rows: answers.map { max($0.count, $0.affectedRows) }, kind: .statement)
            return .result(answers, replayed: replayed)
        } catch let error as PostgresError where guardian.refused(error) {
            return .behind
        } catch {
            observe(statements, since: start, error: error, kind: .statement)
            throw error
        }
    }

    /// Ends all connections at once, and with them the statements that wait for a server that is silent.
    func abandonConnections() {
        pool.abandonConnections(PostgresError(.connectionLost, "The server does not answer"))
    }
}
