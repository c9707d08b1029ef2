import KindredPostgres
import Synchronization

/// A write outside transactions, as the holder of a turn.
private final class SingleWrite: Sendable {}

extension ContextCore {
    /// Runs a write and its changes to memory, in the task's turn, before the next write of the same scope.
    ///
    /// A write outside of transactions runs again after a deadlock, which has rolled back all of it: `body` changes memory only
    /// by what the server has answered.
    func write<T>(_ body: () async throws -> T) async throws -> T {
        try requireWritable()
        guard runtime.countLimits == nil || CountedWrite.isRunning else {
            return try await CountedWrite.$isRunning.withValue(true) { try await write(body) }
        }
        if let journal {
            try await journal.turns.acquire(turn, within: database.turnTimeout)
            return try await journal.writeLock.withLock {
                defer { noteViewsOutdated() }
                return try await body()
            }
        }
        return try await client.asCall {
            _ = try await turn.acquire(for: SingleWrite(), within: database.turnTimeout)
            defer {
                // Also after an error: the server may have carried out the statement.
                noteViewsOutdated()
                turn.end()
            }
            do {
                return try await body()
            } catch {
                if let error = error as? any CategorizedError, error.mayHaveTakenEffect { noteUnknownWrite() }
                throw error
            }
        }
    }

    /// Runs a write of an entity's rows, in its own transaction if it may break the limits of a set, or if rules may put
    /// rows elsewhere: then also in a savepoint of a running one.
    ///
    /// - Parameter columns: the columns written; nil for new rows.
    func write<T>(
        of entity: EntityRuntime, _ columns: [Int]? = nil, _ body: () async throws -> T
    ) async throws -> T {
        guard entity.hasRules || journal == nil && runtime.countLimits?.concern(entity, columns) == true
        else {
            return try await write(body)
        }
        do {
            return try await transaction { try await write(body) }
        } catch let error as PostgresError {
            throw runtime.refusedAtEnd(error, among: [])
        }
    }
}
