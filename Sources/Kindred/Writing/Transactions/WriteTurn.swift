import KindredPostgres
import Synchronization

/// A write outside transactions, as the holder of a turn.
private final class SingleWrite: Sendable {}

extension ContextCore {
    /// Runs a write and its changes to memory, in the task's turn, before the next write of the same scope.
    ///
    /// A write outside of transactions runs again after a deadlock, which has rolled back all of it: `body` changes
    /// memory only by the server's answers.
    func write<T>(_ body: () async throws -> T) async throws -> T { try await write(in: journal, body) }

    /// Runs a write in a transaction, or outside of transactions.
    // Inlined: each asynchronous call costs about 200 instructions.
    @inline(__always)
    private func write<T>(in journal: TransactionJournal?, _ body: () async throws -> T) async throws -> T {
        try requireWritable()
        guard runtime.countLimits == nil || CountedWrite.isRunning else {
            return try await CountedWrite.$isRunning.withValue(true) { try await write(body) }
        }
        if let journal {
            try await journal.turns.acquire(turn, within: database.turnTimeout)
            return try await journal.writeLock.withLock {
                defer { appendWriteUnderViews() }
                return try await settling(body)
            }
        }
        return try await client.asCall {
            _ = try await turn.acquire(for: SingleWrite(), within: database.turnTimeout)
            defer {
                // Noted after an error, too: the server may have carried out the statement.
                appendWriteUnderViews()
                turn.end()
            }
            do {
                return try await settling(body)
            } catch {
                if let error = error as? any CategorizedError, error.mayHaveTakenEffect { takeUnknownWrite() }
                throw error
            }
        }
    }

    /// Runs a write of an entity's rows, in its own transaction if it may break the limits of a set, if rows must be read again
    /// after it, or if rules may put rows elsewhere: then also in a savepoint of a running one.
    ///
    /// - Parameters:
    ///   - columns: the columns written; nil for new rows.
    ///   - isHeld: whether all rows have objects.
    func write<T>(
        of entity: EntityRuntime, _ columns: [Int]? = nil, isHeld: Bool = true, _ body: () async throws -> T
    ) async throws -> T {
        let journal = journal
        guard entity.hasRules || journal == nil && mayFailLate(entity, columns, isHeld: isHeld) else {
            return try await write(in: journal, body)
        }
        do {
            return try await transaction { try await write(body) }
        } catch let error as PostgresError {
            throw runtime.refusedAtEnd(error, among: [])
        }
    }
    private func mayFailLate(_ entity: EntityRuntime, _ columns: [Int]?, isHeld: Bool) -> Bool {
        if runtime.countLimits?.concern(entity, columns) == true { return true }
        guard let columns else { return false }
        return ForeignKeyActions(self).mayLeaveDoubt(changing: columns, of: entity, isHeld: isHeld)
    }
}

// Rows that an action of the database has changed to values that only the server knows.
extension ContextCore {
    /// Runs a write, and then reads the rows of doubtful objects again: one query for each entity, none without such objects.
    @inline(__always)
    private func settling<T>(_ body: () async throws -> T) async throws -> T {
        do {
            let result = try await body()
            let doubtful = takeDoubtful()
            if !doubtful.isEmpty { try await settle(doubtful) }
            return result
        } catch {
            for object in takeDoubtful() { markStale(object) }
            throw error
        }
    }

    /// Reads the rows of doubtful objects again, and of objects that become doubtful by that.
    private func settle(_ doubtful: [DatabaseObject]) async throws {
        var objects = doubtful
        while !objects.isEmpty {
            do {
                var actions = ForeignKeyActions(self)
                for (entity, objects) in grouped(objects.filter { !$0.isGone }) {
                    let lost = try await readAgain(objects, of: entity)
                    guard !lost.isEmpty else { continue }
                    try actions.follow([
                        ForeignKeyActions.Gone(
                            entity: entity, keys: { Set(try entity.referencedKeys(lost, $0)) }, isByDatabase: true)
                    ])
                }
            } catch {
                for object in objects + takeDoubtful() { markStale(object) }
                // Without a transaction the write is stored.
                if journal != nil { throw error }
            }
            objects = takeDoubtful()
        }
    }

    /// Reads rows again; returns the rows that are gone.
    private func readAgain(_ objects: [DatabaseObject], of entity: EntityRuntime) async throws -> [Row] {
        var lost: [Row] = []
        for keys in entity.slices(objects.compactMap(\.key), of: entity.key) {
            let columns = Array(entity.attributeColumns)
            let statement = try DeletionStatements.rows(entity, keys, columns: columns, isLocked: false)
            let result = try await client.send([statement], entity)[0]
            try take(written: EntityRows(result, of: entity), of: entity)
            var missing = Set(keys)
            for position in 0..<result.count {
                if let key = try ObjectKey(result, row: position, entity.key) { missing.remove(key) }
            }
            for object in objects where object.key.map(missing.contains) ?? false {
                // A policy may hide the row with its new values.
                guard !entity.hidesRows else {
                    markStale(object)
                    continue
                }
                lost.append(object.storedRow)
                try take(deletionOf: object)
            }
        }
        return lost
    }

    /// Marks an object whose row has to be read before its next use.
    private func markStale(_ object: DatabaseObject) {
        let time = tick()
        object.withState { $0.becomeStale(at: time) }
        undone.add(1, ordering: .acquiringAndReleasing)
    }
}
