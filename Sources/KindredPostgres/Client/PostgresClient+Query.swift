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

    /// Runs SQL of the library, which leaves nothing in the session: unlike after the program's SQL, it is not put back.
    @discardableResult
    package func execute(own sql: SQL) async throws -> QueryResult {
        try await execute(sql.statement(isProgrammed: false))
    }

    /// Runs a statement.
    @discardableResult
    package func execute(_ statement: consuming Statement, timeout: Duration? = nil) async throws -> QueryResult {
        guard let result = try await executeBatch([statement], timeout: timeout).first else {
            throw PostgresError.noResult
        }
        return result
    }

    /// Runs a statement that observers do not hear of.
    package func executeUnobserved(_ statement: Statement, timeout: Duration?) async throws -> QueryResult {
        guard
            let result = try await run(route.resolved([statement]), in: currentTransaction, by: deadline(timeout)).first
        else {
            throw PostgresError.noResult
        }
        return result
    }

    /// The deadline of a statement that begins now.
    func deadline(_ timeout: Duration?) -> MonotonicTime {
        (timeout ?? configuration.statementTimeout).map { MonotonicTime.now + $0 } ?? .never
    }

    /// Runs statements under one Sync, in one round trip: outside a transaction they take effect together or not at all.
    ///
    /// Throws the first error. A single statement without a result format is described first, once per client, so that
    /// its results come in binary form if all of their types can be read so; in a batch it gets text.
    package func executeBatch(_ statements: [Statement], timeout: Duration? = nil) async throws -> [QueryResult] {
        guard !statements.isEmpty else { return [] }
        let transaction = currentTransaction
        if configuration.tracksCommits, transaction == nil, statements.isTrackable {
            // Again once, for instance where the address leads to another server: nothing was committed.
            return try await withTransaction(retry: .attempts(2)) { _ in
                try await executeBatch(statements, timeout: timeout)
            }
        }
        let statements = try route.admitted(statements, in: transaction)
        let deadline = deadline(timeout)
        return try await observing(statements) {
            // The library's own statements have a format: a call that waits for nothing costs a frame all the same.
            let hasFormat = statements.count != 1 || statements[0].resultFormat != nil
            return try await run(
                hasFormat ? statements : try await formatted(statements, by: deadline), in: transaction, by: deadline)
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
    func run(
        _ statements: [Statement], in transaction: PostgresTransaction?, by deadline: MonotonicTime,
        _ overdue: OverdueRead? = nil
    ) async throws -> [QueryResult] {
        let results = try await send(statements, in: transaction, by: deadline, overdue: overdue)
        for result in results where !result.columns.unknownTypes.isEmpty {
            await learn(result.columns.unknownTypes) { try await send($0, in: transaction, by: deadline) }
        }
        return results
    }

    /// Sends statements on the client's route.
    @inline(__always)
    private func send(
        _ statements: [Statement], in transaction: PostgresTransaction?, by deadline: MonotonicTime,
        isDescription: Bool = false, overdue: OverdueRead? = nil
    ) async throws -> [QueryResult] {
        try await route.send(
            statements, in: transaction, on: currentLease, by: deadline, isDescription: isDescription, overdue: overdue)
    }

    /// The format in which a raw statement's results can be read; asks the server once per client.
    func resultFormat(of statement: Statement, by deadline: MonotonicTime) async throws -> PostgresFormat {
        if let known = formats.format(of: statement.text) { return known }
        let transaction = currentTransaction
        let description = try await send([statement], in: transaction, by: deadline, isDescription: true)
        guard let columns = description.first?.columns else { return .text }
        // A client that has not read the catalog reads the values of the database's own types as text.
        let unknown = types.isRead ? columns.dataTypes.filter { $0.isUserDefined && !types.isKnown($0) } : []
        if !unknown.isEmpty { await learn(unknown) { try await send($0, in: transaction, by: deadline) } }
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
        try route.requireNoSettings()
        guard !text.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "A statement cannot hold a NUL character")
        }
        try await route.withExclusive(isNested: isInScope) { lease in
            _ = try await lease.connection.run([], script: text, by: .never)
            guard lease.connection.condition != .inTransaction else {
                throw PostgresError(
                    .invalidParameter, "The script left a transaction open; it was rolled back")
            }
        }
    }
}
