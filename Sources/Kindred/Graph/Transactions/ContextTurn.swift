import KindredPostgres
import Synchronization

/// A lock on changes of a context, held by one transaction or single write at a time.
///
/// Other transactions and writes wait until it ends. A wait longer than the pool's acquire timeout is an error.
final class ContextTurn: Sendable {
    private struct Waiter {
        let number: UInt64
        let holder: any AnyObject & Sendable
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var holder: (any AnyObject & Sendable)?
        /// First in, first out.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private enum Outcome: Sendable {
        case taken
        /// Another task of the same transaction has taken the turn.
        case shared
        case timedOut
        case cancelled
    }

    private let state = RankedMutex(State(), .leaf)

    /// Waits for the turn; returns true if this call took it, false if the holder had it already.
    ///
    /// - Parameters:
    ///   - holder: a transaction, or a single write.
    ///   - timeout: after which the wait is an error.
    /// - Throws: `KindredError` `.contextBusy` after the timeout, `CancellationError` where the task is cancelled.
    func acquire(for holder: any AnyObject & Sendable, within timeout: Duration) async throws -> Bool {
        let quick: (outcome: Outcome?, number: UInt64) = state.withLock { state in
            if state.holder === holder { return (.shared, 0) }
            if state.holder == nil {
                state.holder = holder
                return (.taken, 0)
            }
            state.lastNumber += 1
            return (nil, state.lastNumber)
        }
        let outcome =
            if let outcome = quick.outcome { outcome } else { await wait(holder, quick.number, timeout) }
        switch outcome {
        case .taken: return true
        case .shared: return false
        case .cancelled: throw CancellationError()
        case .timedOut:
            throw KindredError(
                .contextBusy,
                """
                Another task's transaction has held the context for \(timeout); end it sooner, make a context for each task, \
                or do not wait inside a transaction for a task that writes outside it
                """)
        }
    }

    private func wait(_ holder: any AnyObject & Sendable, _ number: UInt64, _ timeout: Duration) async -> Outcome {
        let alarm = Task {
            try await Task.sleep(for: timeout)
            give(up: number, .timedOut)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    if state.holder === holder { return .shared }
                    if state.holder == nil {
                        state.holder = holder
                        return .taken
                    }
                    if Task.isCancelled { return .cancelled }
                    state.waiters.append(Waiter(number: number, holder: holder, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            give(up: number, .cancelled)
        }
    }

    private func give(up number: UInt64, _ outcome: Outcome) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: outcome)
    }

    /// Ends the turn and gives it to the first waiter, with all waiters of the same transaction.
    func end() {
        let next: [Waiter] = state.withLock { state in
            guard let first = state.waiters.first else {
                state.holder = nil
                return []
            }
            state.holder = first.holder
            let same = state.waiters.filter { $0.holder === first.holder }
            state.waiters.removeAll { $0.holder === first.holder }
            return same
        }
        for (place, waiter) in next.enumerated() {
            waiter.continuation.resume(returning: place == 0 ? .taken : .shared)
        }
    }
}

/// The contexts whose turn a transaction holds until its end.
final class ContextTurns: Sendable {
    /// Nil after the end.
    private let contexts = RankedMutex<[DatabaseContext]?>([], .leaf)

    /// Waits for the turn to change a context, unless the transaction holds it.
    ///
    /// A task that outlives the transaction takes no turn; its statements are refused.
    func acquire(_ context: DatabaseContext) async throws {
        let isKnown = contexts.withLock { contexts in contexts.map { $0.contains { $0 === context } } ?? true }
        guard !isKnown, try await context.core.turn.acquire(for: self, within: context.turnTimeout) else { return }
        let hasEnded = contexts.withLock { contexts in
            contexts?.append(context)
            return contexts == nil
        }
        if hasEnded { context.core.turn.end() }
    }

    func end() {
        let taken = contexts.withLock { contexts in
            defer { contexts = nil }
            return contexts ?? []
        }
        for context in taken { context.core.turn.end() }
    }
}

/// A write outside transactions, as the holder of a turn.
private final class SingleWrite: Sendable {}

extension DatabaseContext {
    /// The longest time that a task waits for its turn.
    var turnTimeout: Duration { database.turnTimeout }

    /// Runs a write and its changes to memory, in the task's turn, before the next write of the same scope.
    func write<T>(_ body: () async throws -> T) async throws -> T {
        guard runtime.countLimits == nil || CountedWrite.isRunning else {
            return try await CountedWrite.$isRunning.withValue(true) { try await write(body) }
        }
        if let journal {
            try await journal.turns.acquire(self)
            return try await journal.writeLock.withLock {
                defer { noteViewsOutdated() }
                return try await body()
            }
        }
        _ = try await core.turn.acquire(for: SingleWrite(), within: turnTimeout)
        defer {
            // Also after an error: the server may have carried out the statement.
            noteViewsOutdated()
            core.turn.end()
        }
        return try await body()
    }
}
