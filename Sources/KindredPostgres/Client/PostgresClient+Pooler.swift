/// SQL of the program behind a pooler that lends sessions by transaction.
///
/// Such SQL may change its session, which has to be put back before another program gets it. So outside of a
/// transaction it is given one, sent in one round trip with the statements that put the session back: until that is
/// answered, the session is the connection's own, also where the statement fails.
extension PostgresClient {
    /// Refuses SQL of the program whose text shows that it needs a session of its own; sends nothing.
    ///
    /// As help: functions that the text calls may do the same unseen.
    func requireNoSession(_ statements: [Statement]) throws(PostgresError) {
        guard pooler == .transaction else { return }
        for statement in statements where statement.text.mayChangeSession {
            guard let need = statement.text.sessionNeed else { continue }
            throw PostgresError(
                .sessionNeeded,
                """
                \(need.found) needs a session of its own, and the pooler before the server lends sessions by transaction: \
                \(need.advice), or use a direct connection; set `pooler` to session if whole sessions are lent
                """,
                statement: statement.text.text)
        }
    }

    /// Runs statements as a transaction of their own, and puts the session back behind it.
    ///
    /// - Parameter question: a question to ask behind the transaction; nil for none.
    func runWhole(
        _ statements: [Statement], asking question: PositionQuestion?, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        guard let lease = currentLease else {
            // The pool rolls back a failed transaction.
            return try await withExclusive(by: deadline) {
                try await runWhole(statements, asking: question, on: $0.connection, by: deadline)
            }
        }
        try await lease.gate.enter(.transaction, by: deadline)
        defer { lease.gate.leave(.transaction) }
        let connection = lease.lent.connection
        // The program has begun a transaction in a connection that it was lent.
        if connection.condition == .inTransaction {
            question?.forget()
            return try await connection.run(statements, traits: Request.Traits(settings: settings), by: deadline)
        }
        do {
            return try await runWhole(statements, asking: question, on: connection, by: deadline)
        } catch let gone as ConnectionGone {
            throw gone.lost(statements.first?.text.text)
        } catch {
            if connection.condition != .clean { try? await connection.rollBack() }
            throw error
        }
    }

    private func runWhole(
        _ statements: [Statement], asking question: PositionQuestion?, on connection: PooledConnection,
        by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        let traits = Request.Traits(isWhole: true, settings: settings, question: question)
        return try await recording(question) { try await connection.run(statements, traits: traits, by: deadline) }
    }
}
