import KindredPostgres
import Synchronization

/// A lock on changes of a context, held by one transaction or single write at a time.
///
/// Other transactions and writes wait until it ends. A wait longer than the pool's acquire timeout is an error.
final class ContextTurn: Sendable {
    private let turn = AsyncTurn()

    /// Waits for the turn; returns true if this call took it, false if the holder had it already.
    ///
    /// - Parameters:
    ///   - holder: a transaction, or a single write.
    ///   - timeout: after which the wait is an error.
    /// - Throws: `KindredError` `.contextBusy` after the timeout, `CancellationError` where the task is cancelled.
    func acquire(for holder: AsyncTurn.Holder, within timeout: Duration) async throws -> Bool {
        do {
            return try await turn.acquire(for: holder, within: timeout)
        } catch is WaitTimeout {
            throw KindredError(
                .contextBusy,
                """
                Another task's transaction has held the context for \(timeout); end it sooner, make a context for each task, \
                or do not wait inside a transaction for a task that writes outside it
                """)
        }
    }

    /// Ends the turn and gives it to the first waiter, with all waiters of the same transaction.
    func end() { turn.end() }
}

/// The contexts whose turn a transaction holds until its end.
final class ContextTurns: Sendable {
    /// Nil after the end.
    private let cores = RankedMutex<[ContextCore]?>([], .leaf)

    /// Waits for the turn to change a context, unless the transaction holds it.
    ///
    /// A task that outlives the transaction takes no turn; its statements are refused.
    func acquire(_ core: ContextCore) async throws {
        let isKnown = cores.withLock { cores in cores.map { $0.contains { $0 === core } } ?? true }
        guard !isKnown, try await core.turn.acquire(for: self, within: core.database.turnTimeout) else { return }
        let hasEnded = cores.withLock { cores in
            cores?.append(core)
            return cores == nil
        }
        if hasEnded { core.turn.end() }
    }

    func end() {
        let taken = cores.withLock { cores in
            defer { cores = nil }
            return cores ?? []
        }
        for core in taken { core.turn.end() }
    }
}
