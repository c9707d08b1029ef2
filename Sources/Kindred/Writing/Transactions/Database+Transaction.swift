import KindredPostgres
import Synchronization

extension Database {
    /// Runs `body` in a transaction, or in a savepoint of the running one; objects in memory are restored if it is undone.
    ///
    /// - Parameter core: the core of the context whose turn is taken before the transaction begins; the turns of other contexts
    ///   are taken at their first write in the transaction.
    func transaction<T>(
        _ options: TransactionOptions,
        changing core: ContextCore?,
        at place: SourcePlace,
        _ body: () async throws -> T
    ) async throws -> T {
        guard client.isInTransaction, let outer = TransactionJournal.current(of: self) else {
            let turns = ContextTurns()
            defer { turns.end() }
            if let core { try await turns.acquire(core.turn, within: turnTimeout) }
            return try await transaction(options, changing: core, within: nil, turns: turns, at: place, body)
        }
        if let core { try await outer.turns.acquire(core.turn, within: turnTimeout) }
        // Takes the write lock first: a sibling's write that held it while waiting for the savepoint's end would
        // deadlock with this transaction.
        return try await outer.writeLock.withLock {
            try await transaction(options, changing: core, within: outer, turns: outer.turns, at: place, body)
        }
    }

    private func transaction<T>(
        _ options: TransactionOptions,
        changing core: ContextCore?,
        within outer: TransactionJournal?,
        turns: ContextTurns,
        at place: SourcePlace,
        _ body: () async throws -> T
    ) async throws -> T {
        var journal: TransactionJournal?
        defer {
            if outer == nil, options.readsOneSnapshot {
                for core in [core].compactMap(\.self) + (journal?.cores ?? []) { core.following?.readOldSnapshot() }
            }
        }
        do {
            let client = core?.client ?? client
            let result = try await client.withTransaction(options, at: place) { scope in
                // Each attempt starts from the restored objects.
                try journal?.undo()
                await journal?.runEndings()
                let attempt = TransactionJournal(self, turns) { scope.mayHaveWritten }
                journal = attempt
                return try await TransactionJournal.with(attempt) {
                    let result = try await body()
                    if outer == nil { try await client.called(at: place) { try await attempt.checkCounts() } }
                    return result
                }
            }
            if let outer {
                journal?.merge(into: outer)
            } else {
                journal?.commit()
            }
            await journal?.runEndings()
            return result
        } catch {
            let isUnknown = (error as? PostgresError)?.mayHaveCommitted == true
            if isUnknown, let outer {
                // The enclosing transaction has ended too, and undoes all of it.
                journal?.merge(into: outer)
                throw error
            }
            try? journal?.undo(isUnknown: isUnknown)
            await journal?.runEndings()
            throw error
        }
    }
}

extension ContextCore {
    /// Runs `body` in a transaction that changes the context, or in a savepoint of the running one.
    ///
    /// By default the transaction is a call's own, and runs again after a deadlock: `body` begins from the restored objects.
    func transaction<T>(
        _ options: TransactionOptions = TransactionOptions(retry: .ofCall),
        at place: SourcePlace = SourcePlace(),
        _ body: () async throws -> T
    ) async throws -> T {
        try await database.transaction(options, changing: self, at: place, body)
    }
}
