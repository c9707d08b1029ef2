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

/// The turns of contexts that a transaction holds until its end.
final class ContextTurns: Sendable {
    /// Nil after the end.
    private let held = RankedMutex<[ContextTurn]?>([], .leaf)

    /// Waits for the turn to change a context, unless the transaction holds it.
    ///
    /// A task that outlives the transaction takes no turn; its statements are refused.
    func acquire(_ turn: ContextTurn, within timeout: Duration) async throws {
        let isKnown = held.withLock { held in held.map { $0.contains { $0 === turn } } ?? true }
        guard !isKnown, try await turn.acquire(for: self, within: timeout) else { return }
        let hasEnded = held.withLock { held in
            held?.append(turn)
            return held == nil
        }
        if hasEnded { turn.end() }
    }

    func end() {
        let taken = held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        for turn in taken { turn.end() }
    }
}
