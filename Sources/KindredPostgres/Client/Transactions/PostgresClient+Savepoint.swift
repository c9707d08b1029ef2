// Transactions inside of transactions.
extension PostgresClient {
    /// Runs `body` in a savepoint of the task's transaction, which is rolled back at its end, also after success: its
    /// statements may run with settings, although the transaction around it has none.
    ///
    /// For a transaction that reads for several subscribers: RELEASE would leave the settings to it. SAVEPOINT is sent
    /// with the first statement; a body without statements sends nothing.
    package func withOwnSettings<T>(
        fileID: String = #fileID, line: Int = #line, _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let outer = currentTransaction else {
            throw PostgresError(.invalidParameter, "A savepoint with settings of its own needs a transaction around it")
        }
        return try await savepoint(
            in: outer, at: SourcePlace(fileID: fileID, line: line), mayHaveOwnSettings: true, body)
    }

    /// Runs `body` in a savepoint of a transaction.
    ///
    /// - Parameter mayHaveOwnSettings: whether it is rolled back in any case, with the settings that it has made.
    func savepoint<T>(
        in outer: PostgresTransaction,
        at place: SourcePlace,
        mayHaveOwnSettings: Bool = false,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        // The server keeps 64 of a session's subtransactions in shared memory; more slow down every session.
        guard outer.depth < 64 else {
            throw PostgresError(.invalidParameter, "Transactions are nested more than 64 deep")
        }
        route.join(outer.positions)
        try await outer.beginSavepoint()
        defer { outer.endSavepoint() }
        let name = "kindred_\(outer.depth + 1)"
        let scope = PostgresTransaction(
            client: origin, connection: outer.connection, outer: outer, depth: outer.depth + 1,
            opening: "SAVEPOINT \(name)", tracked: outer.tracked, positions: outer.positions,
            mayHaveOwnSettings: mayHaveOwnSettings)
        let control = TransactionControl(client: self, connection: outer.connection)
        let undoing = ["ROLLBACK TO SAVEPOINT \(name)", "RELEASE SAVEPOINT \(name)"]
        let result: T
        do {
            result = try await PostgresTransaction.$current.withValue(scope) { try await body(scope) }
        } catch {
            let ending = scope.end()
            if let broken = ending.brokenBy { throw broken.joined(with: error) }
            if ending.isOpened { await called(at: place) { await control.undo(undoing) } }
            throw error
        }
        let ending = scope.end()
        if let broken = ending.brokenBy { throw broken }
        guard ending.isOpened else { return result }
        if mayHaveOwnSettings {
            await called(at: place) { await control.undo(undoing) }
            return result
        }
        do {
            _ = try await called(at: place) { try await control.run(["RELEASE SAVEPOINT \(name)"]) }
            outer.keepSettings(of: scope)
        } catch {
            await control.undo(undoing)
            // A swallowed error aborted the savepoint, so its release was refused.
            if let error = error as? PostgresError, error.sqlState == .inFailedTransaction {
                throw TransactionControl.aborted(ending.firstError ?? error)
            }
            // Statements were sent, so the transaction outside must not run its closure again.
            if let gone = error as? ConnectionGone { throw gone.lost("RELEASE SAVEPOINT") }
            throw error
        }
        return result
    }
}
