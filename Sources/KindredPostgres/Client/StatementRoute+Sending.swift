// Sends statements: in the task's transaction, on its lease, on a shared connection, or alone on a connection.
//
// The program's SQL may change its session, which has to be put back before another program gets it, where a pooler lends
// sessions by transaction. Outside of a transaction such SQL is given one, sent in one round trip with the statements that put
// the session back: until that is answered, the session is the connection's own, also where the statement fails.
extension StatementRoute {
    /// Sends statements in the task's transaction, on its lease, or on a shared connection.
    ///
    /// - Parameters:
    ///   - transaction: the task's own; nil outside of transactions.
    ///   - lease: the connection that the task was lent, if it was.
    ///   - overdue: asks another server for the same if the answer is overdue.
    func send(
        _ statements: [Statement], in transaction: PostgresTransaction?, on lease: @autoclosure () -> ConnectionLease?,
        by deadline: MonotonicTime, isDescription: Bool = false, overdue: OverdueRead? = nil
    ) async throws -> [QueryResult] {
        if let transaction {
            join(transaction.positions)
            let traits = Request.Traits(isDescription: isDescription, settings: settings)
            return try await transaction.run(statements, traits, by: deadline)
        }
        let mayRepeat = statements.allSatisfy { $0.text.effect == .plain }
        var traits = Request.Traits(mayRepeat: mayRepeat, isDescription: isDescription, settings: settings)
        let lease = lease()
        if let lease { join(lease.positions) }
        let question =
            isDescription
            ? nil : question(behind: statements.contains { $0.text.mayWrite }, in: lease?.positions)
        let isWhole =
            passesSettings || hasTransactionPooler && statements.contains(where: \.text.mayChangeSession)
        if mayRepeat, !isDescription, isWhole {
            return try await runWhole(statements, on: lease, asking: question, by: deadline)
        }
        if let lease { return try await run(statements, traits, on: lease, asking: question, by: deadline) }
        traits.question = question
        traits.overdue = overdue
        // A late cancel request may hit the next statement on a shared connection; only repeatable statements may risk
        // that.
        guard mayRepeat else { return try await runAlone(statements, question, by: deadline) }
        guard question != nil else { return try await runShared(statements, traits, by: deadline) }
        return try await PositionQuestion.recording(question) { try await runShared(statements, traits, by: deadline) }
    }

    /// Runs statements on a lent connection, and then a question.
    func run(
        _ statements: [Statement], _ traits: Request.Traits, on lease: ConnectionLease,
        asking question: PositionQuestion?, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        guard let question else { return try await lease.run(statements, traits, by: deadline) }
        return try await PositionQuestion.recording(question) {
            let results = try await lease.run(statements, traits, by: deadline)
            question.ask(over: lease.lent.connection, by: deadline)
            return results
        }
    }

    /// Runs statements as a transaction of their own, and puts the session back behind it.
    ///
    /// - Parameter question: a question to ask behind the transaction; nil for none.
    private func runWhole(
        _ statements: [Statement], on lease: ConnectionLease?, asking question: PositionQuestion?,
        by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        guard let lease else {
            // The pool rolls back a failed transaction.
            return try await withExclusive(mayMove: true, by: deadline) {
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
        return try await PositionQuestion.recording(question) {
            try await connection.run(statements, traits: traits, by: deadline)
        }
    }

    @inline(__always)
    private func runShared(
        _ statements: [Statement], _ traits: Request.Traits, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        var traits = traits
        traits.isAutocommit = true
        traits.mayLeave = true
        return try await withFreshConnection(.shared, isNested: false, mayMove: true, by: deadline) { lease in
            try await lease.connection.run(statements, traits: traits, lease: lease, by: deadline)
        }
    }

    /// Runs statements that cannot be repeated, on an exclusive connection.
    private func runAlone(
        _ statements: [Statement], _ question: PositionQuestion?, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        let mayMove = !statements.contains { $0.text.mayCommitInside }
        return try await withExclusive(mayMove: mayMove, by: deadline) { lease in
            let results = try await PositionQuestion.recording(question) {
                try await lease.connection.run(
                    statements, traits: Request.Traits(settings: settings, question: question), by: deadline)
            }
            guard lease.connection.condition != .inTransaction else {
                throw PostgresError(
                    .invalidParameter,
                    "The statement left a transaction open; use withTransaction or withConnection",
                    statement: statements.first?.text.text)
            }
            return results
        }
    }
}

// Questions for positions, with the statements that they are asked behind.
extension PositionQuestion {
    /// Runs `body`, then records the position that the trailing question returned.
    ///
    /// - Parameter afterReads: whether the program has read before, so that a failure has a position too.
    static func recording<T>(
        _ question: PositionQuestion?, afterReads: Bool = false, _ body: () async throws -> T
    ) async throws -> T {
        guard let question else { return try await body() }
        do {
            let result = try await body()
            await question.raise()
            return result
        } catch {
            // Nothing was written that has to be seen, unless that is not certain.
            if (error as? any CategorizedError)?.mayHaveTakenEffect == true {
                question.forget()
            } else if afterReads {
                await question.raise(byWriting: false)
            }
            throw error
        }
    }

    /// Asks over a connection whose statement was answered.
    ///
    /// Not in the same flush: with a request behind it, a statement with a stale plan is not repeated there. Not in a transaction
    /// that the program has begun by SQL: it would end with a question that the server refuses.
    func ask(over connection: PooledConnection, by deadline: MonotonicTime) {
        guard connection.condition != .inTransaction, let next = next() else { return }
        connection.submit(next, by: deadline)
    }
}
