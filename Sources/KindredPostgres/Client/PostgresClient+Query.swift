extension PostgresClient {
    /// Runs a statement: in the task's transaction if there is one, else on a shared connection.
    ///
    /// Interpolated values are sent as parameters. One round trip.
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - timeout: after which the statement is cancelled, counted from the call, so that it includes the wait for a
    ///     connection. nil takes the configuration's. A server that does not stop gets `cancellationGrace` more.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `PostgresError`: `.server` with its SQLSTATE, `.timeout`, `.poolTimeout`, `.connectionLost`;
    ///   `CancellationError` if the task is cancelled and nothing is stored: the statement was not sent, or the server
    ///   has stopped it; `.outcomeUnknown` if the server has not confirmed that in time. A statement that was done
    ///   before the server heard of the cancellation returns its result.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil, fileID: String = #fileID, line: Int = #line) async throws
        -> QueryResult
    {
        return try await self.called(at: fileID, line) {
            try await execute(try statement(of: sql), timeout: timeout)
        }
    }

    /// SQL of the program with its values.
    package func statement(of sql: SQL) throws -> Statement {
        // The parts of a tenant's composite have its own types, which the server tells from their text.
        try sql.statement(types: settings?.schema == nil ? types : nil)
    }

    /// Runs a statement.
    @discardableResult
    package func execute(_ statement: consuming Statement, timeout: Duration? = nil) async throws -> QueryResult {
        guard let result = try await executeBatch([statement], timeout: timeout).first else { throw Self.noResult }
        return result
    }

    /// Runs a statement that observers do not hear of.
    package func executeUnobserved(_ statement: Statement, timeout: Duration?) async throws -> QueryResult {
        guard let result = try await run(resolved([statement]), by: deadline(timeout)).first else {
            throw Self.noResult
        }
        return result
    }

    /// The deadline of a statement that begins now.
    func deadline(_ timeout: Duration?) -> MonotonicTime {
        (timeout ?? configuration.statementTimeout).map { MonotonicTime.now + $0 } ?? .never
    }

    static var noResult: PostgresError {
        PostgresError(.protocolViolation, "The server gave no result for a statement")
    }

    /// Runs statements under one Sync, in one round trip: outside a transaction they take effect together or not at all.
    ///
    /// Throws the first error. A single statement without a result format is described first, once per client, so that
    /// its results come in binary form if all of their types can be read so; in a batch it gets text.
    package func executeBatch(_ statements: [Statement], timeout: Duration? = nil) async throws -> [QueryResult] {
        guard !statements.isEmpty else { return [] }
        let statements = resolved(statements)
        let transaction = currentTransaction
        try requireSettings(in: transaction)
        if transaction != nil {
            try PostgresTransaction.admit(statements)
        } else {
            try requireOneTransaction(statements)
        }
        try requireNoSession(statements)
        let deadline = deadline(timeout)
        return try await observing(statements) {
            // The library's own statements have a format: a call that waits for nothing costs a frame all the same.
            let hasFormat = statements.count != 1 || statements[0].resultFormat != nil
            return try await run(hasFormat ? statements : try await formatted(statements, by: deadline), by: deadline)
        }
    }

    /// Statements with the format of a single one's results.
    func formatted(_ statements: [Statement], by deadline: MonotonicTime) async throws -> [Statement] {
        guard statements.count == 1, statements[0].resultFormat == nil else { return statements }
        var statement = statements[0]
        statement.resultFormat = try await resultFormat(of: statement, by: deadline)
        return [statement]
    }

    /// Runs batches of statements in order in the task's transaction, each under its own Sync, and passes on the
    /// answers of each while the server works on the next.
    ///
    /// Throws the first error, after all batches are answered.
    package func executeInTurn(
        _ batches: [[Statement]], _ handle: (_ batch: Int, [QueryResult]) throws -> Void
    ) async throws {
        guard batches.count > 1, currentTransaction != nil, #available(macOS 26, *) else {
            for (batch, statements) in batches.enumerated() { try handle(batch, try await executeBatch(statements)) }
            return
        }
        try Task.checkCancellation()
        // Immediate, so that the batches are sent in this order. Not a task group: in optimized builds one gave no answers.
        let tasks = batches.map { statements in Task.immediate { try await self.executeBatch(statements) } }
        let failure: (any Error)? = await withTaskCancellationHandler {
            var failure: (any Error)?
            for (batch, task) in tasks.enumerated() {
                let answer = await task.result
                if failure != nil { continue }
                do { try handle(batch, try answer.get()) } catch { failure = error }
            }
            return failure
        } onCancel: {
            for task in tasks { task.cancel() }
        }
        if let failure { throw failure }
    }

    /// Runs statements, and learns the types of their results that were made after the catalog was read.
    // Inlined, like the other functions that most statements pass through: each asynchronous call costs about 200
    // instructions.
    @inline(__always)
    func run(_ statements: [Statement], by deadline: MonotonicTime) async throws -> [QueryResult] {
        let results = try await send(statements, by: deadline)
        for result in results where !result.columns.unknownTypes.isEmpty {
            await learn(result.columns.unknownTypes) { try await send($0, by: deadline) }
        }
        return results
    }

    /// Sends statements in the task's transaction, on its lease, or on a shared connection.
    private func send(
        _ statements: [Statement], by deadline: MonotonicTime, isDescription: Bool = false
    ) async throws -> [QueryResult] {
        let mayRepeat = statements.allSatisfy { $0.text.effect == .plain }
        var traits = Request.Traits(mayRepeat: mayRepeat, isDescription: isDescription, settings: settings)
        if let transaction = currentTransaction {
            join(transaction.positions)
            return try await transaction.run(statements, traits, by: deadline)
        }
        let lease = currentLease
        if let lease { join(lease.positions) }
        let question =
            isDescription
            ? nil : question(behind: statements.contains { $0.text.mayWrite }, in: lease?.positions)
        // Settings that are passed on hold between BEGIN and COMMIT only.
        let isWhole =
            settings?.passing != nil
            || pooler == .transaction && statements.contains(where: \.text.mayChangeSession)
        if mayRepeat, !isDescription, isWhole {
            return try await runWhole(statements, asking: question, by: deadline)
        }
        if let lease { return try await run(statements, traits, on: lease, asking: question, by: deadline) }
        traits.question = question
        // A late cancel request may hit the next statement on a shared connection; only repeatable statements may risk
        // that.
        guard mayRepeat else { return try await runAlone(statements, question, by: deadline) }
        guard question != nil else { return try await runShared(statements, traits, by: deadline) }
        return try await recording(question) { try await runShared(statements, traits, by: deadline) }
    }

    /// Runs statements on a lent connection, and then a question.
    func run(
        _ statements: [Statement], _ traits: Request.Traits, on lease: ConnectionLease,
        asking question: PositionQuestion?, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        guard let question else { return try await lease.run(statements, traits, by: deadline) }
        return try await recording(question) {
            let results = try await lease.run(statements, traits, by: deadline)
            ask(question, over: lease.lent.connection, by: deadline)
            return results
        }
    }

    /// Asks over a connection whose statement was answered.
    ///
    /// Not in the same flush: with a request behind it, a statement with a stale plan is not repeated there. Not in a transaction
    /// that the program has begun by SQL: it would end with a question that the server refuses.
    func ask(_ question: PositionQuestion, over connection: PooledConnection, by deadline: MonotonicTime) {
        guard connection.condition != .inTransaction, let next = question.next() else { return }
        connection.submit(next, by: deadline)
    }

    /// The format in which a raw statement's results can be read; asks the server once per client.
    func resultFormat(of statement: Statement, by deadline: MonotonicTime) async throws -> PostgresFormat {
        if let known = formats.format(of: statement.text) { return known }
        let description = try await send([statement], by: deadline, isDescription: true)
        guard let columns = description.first?.columns else { return .text }
        // A client that has not read the catalog reads the values of the database's own types as text.
        let unknown = types.isRead ? columns.dataTypes.filter { $0.isUserDefined && !types.isKnown($0) } : []
        if !unknown.isEmpty { await learn(unknown) { try await send($0, by: deadline) } }
        return formats.choose(for: statement.text, columns, types)
    }

    /// Runs a script of several statements in the simple protocol, on a connection of its own.
    ///
    /// For fixtures and installers. It takes no parameters, so never put text from outside into it. One message,
    /// without a time limit. Its statements take effect together unless the script has COMMIT or the like. The
    /// session is put back afterwards.
    ///
    /// Throws `PostgresError` `.server` for the first statement that fails; `.invalidParameter` for a COPY from or to
    /// the client, and for a transaction that the script leaves open, which is rolled back; else as a query does.
    package func runScript(_ text: String) async throws {
        try requireNoSettings()
        guard !text.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "A statement cannot hold a NUL character")
        }
        try await withExclusive { lease in
            _ = try await lease.connection.run([], script: text, by: .never)
            guard lease.connection.condition != .inTransaction else {
                throw PostgresError(
                    .invalidParameter, "The script left a transaction open; it was rolled back")
            }
        }
    }

    @inline(__always)
    private func runShared(
        _ statements: [Statement], _ traits: Request.Traits, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        var traits = traits
        traits.isAutocommit = true
        traits.mayLeave = true
        return try await withFreshConnection(.shared, isNested: false, by: deadline) { lease in
            try await lease.connection.run(statements, traits: traits, lease: lease, by: deadline)
        }
    }

    /// Runs statements that cannot be repeated, on an exclusive connection.
    private func runAlone(
        _ statements: [Statement], _ question: PositionQuestion?, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        try await withExclusive(by: deadline) { lease in
            let results = try await recording(question) {
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
