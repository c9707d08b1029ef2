public import KindredPostgres

extension DatabaseContext {
    /// Runs `body` in a transaction: everything it and its child tasks send over this database goes through it, set
    /// proxies and other contexts included.
    ///
    /// A call inside another is a savepoint. When `body` throws, rows and objects in memory are back where they were,
    /// and its own error is thrown unchanged; what other tasks of the context have staged meanwhile stays. A task that
    /// outlives the transaction gets an error, never silently another connection.
    ///
    /// A context runs one transaction at a time: another task's transaction, or its write outside of one, waits for the end.
    /// A wait that cannot end is `KindredError` `.contextBusy` after the pool's acquire timeout.
    ///
    /// Where the answer to COMMIT was lost, or a statement inside has ended the transaction, objects are put back too, and
    /// those that were changed, deleted or created are then read again, by one SELECT for each entity, if the database can be
    /// reached: they show what it has. Objects that `save()` has stored are new again; ask `PostgresClient.resolveCommit`, or
    /// the database, before saving them once more. Statements that begin or end transactions are refused inside.
    ///
    /// - Parameters:
    ///   - isolation: the isolation level; nil is the server's default. Ignored by savepoints.
    ///   - readOnly: whether writes are refused; nil is the server's default. Ignored by savepoints.
    ///   - deferrable: for serializable read-only transactions: wait for a moment at which nothing can fail.
    ///   - tracksCommit: whether `PostgresClient.resolveCommit` can find out what became of the transaction if the answer
    ///     to COMMIT is lost; one statement more, no round trip more. Ignored by savepoints.
    ///   - retry: whether `body` runs again, on objects put back as they were, after a serialization failure or a deadlock.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: what runs inside, once for each attempt.
    /// - Throws: `PostgresError` `.commitUnknown` if the answer to COMMIT was lost, `.transactionAborted` if `body` swallowed
    ///   an error that had failed the transaction, `.transactionBroken` if the transaction ended before `body` did;
    ///   `KindredError` `.countOutOfRange` if a set with a declared count has fewer or more members at the end.
    public func transaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        tracksCommit: Bool = false,
        retry: RetryPolicy = .none,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        try await database.transaction(
            changing: self, isolation, readOnly, deferrable, tracksCommit, retry,
            SourcePlace(fileID: fileID, line: line),
            body)
    }
}

extension Database {
    /// Runs `body` in a transaction, as ``DatabaseContext/transaction(isolation:readOnly:deferrable:tracksCommit:retry:fileID:line:_:)`` does.
    public func transaction<T>(
        isolation: IsolationLevel? = nil,
        readOnly: Bool? = nil,
        deferrable: Bool? = nil,
        tracksCommit: Bool = false,
        retry: RetryPolicy = .none,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        try await transaction(
            changing: nil, isolation, readOnly, deferrable, tracksCommit, retry,
            SourcePlace(fileID: fileID, line: line),
            body)
    }

    /// - Parameter context: the context whose turn it has to be before the transaction begins; others take theirs when the
    ///   transaction first writes by them.
    fileprivate func transaction<T>(
        changing context: DatabaseContext?,
        _ isolation: IsolationLevel?,
        _ readOnly: Bool?,
        _ deferrable: Bool?,
        _ tracksCommit: Bool,
        _ retry: RetryPolicy,
        _ place: SourcePlace,
        _ body: () async throws -> T
    ) async throws -> T {
        guard client.isInTransaction, let outer = TransactionJournal.current(of: self) else {
            let turns = ContextTurns()
            defer { turns.end() }
            if let context { try await turns.take(context) }
            return try await transaction(
                within: nil, turns, at: place, isolation, readOnly, deferrable, tracksCommit, retry, body)
        }
        if let context { try await outer.turns.take(context) }
        // A sibling's write that waited for the savepoint's end with the gate in its hands would never let this one write.
        return try await outer.writeLock.withLock {
            try await transaction(
                within: outer, outer.turns, at: place, isolation, readOnly, deferrable, tracksCommit, retry, body)
        }
    }

    private func transaction<T>(
        within outer: TransactionJournal?,
        _ turns: ContextTurns,
        at place: SourcePlace,
        _ isolation: IsolationLevel?,
        _ readOnly: Bool?,
        _ deferrable: Bool?,
        _ tracksCommit: Bool,
        _ retry: RetryPolicy,
        _ body: () async throws -> T
    ) async throws -> T {
        var journal = TransactionJournal(self, turns)
        do {
            let result = try await client.withTransaction(
                isolation: isolation, readOnly: readOnly, deferrable: deferrable, tracksCommit: tracksCommit,
                retry: retry, fileID: place.fileID, line: place.line
            ) { _ in
                // A second attempt begins with the objects as they were before the first.
                let attempt = TransactionJournal(self, turns)
                try await client.called(at: place) { try await Self.undo(journal, within: outer) }
                journal = attempt
                return try await TransactionJournal.with(attempt) {
                    let result = try await body()
                    if outer == nil { try await client.called(at: place) { try await attempt.checkCounts() } }
                    return result
                }
            }
            if let outer { journal.merge(into: outer) } else { journal.commit() }
            return result
        } catch {
            let isUnknown = (error as? PostgresError)?.mayHaveCommitted == true
            if isUnknown, let outer {
                // The transaction around it has ended too, and undoes all of it.
                journal.merge(into: outer)
                throw error
            }
            try? await client.called(at: place) {
                try await Self.undo(journal, within: outer, isUnknown: isUnknown)
            }
            throw error
        }
    }

    /// Puts the objects back, and reads those again that were first seen inside the undone transaction.
    ///
    /// What is undone here is no change of the enclosing scope, which would put back what was undone if it failed itself.
    ///
    /// - Parameter isUnknown: whether the database may have what is undone here, so that it is asked.
    private static func undo(
        _ journal: TransactionJournal,
        within outer: TransactionJournal?,
        isUnknown: Bool = false
    ) async throws {
        let (changed, created) = isUnknown ? (journal.changedObjects, journal.createdObjects) : ([], [])
        try await TransactionJournal.with(nil) {
            let fetched = try journal.undo()
            outer?.recordFetched(fetched)
            if isUnknown { journal.contexts.forEach { $0.forgetAllNotes() } }
            let outdated = Dictionary(grouping: fetched + changed + created) { ObjectIdentifier($0.context) }.values
            if outdated.isEmpty { return }
            // A task of its own: that the caller's was cancelled may be why there is something to undo.
            try await Task {
                for objects in outdated { try await objects[0].context.readAgain(objects, undone: Set(created)) }
            }.value
        }
    }
}
