import DequeModule
import Synchronization

/// Serializes the uses of a lent connection: one transaction at a time, and no other statements beside it.
final class LeaseGate: Sendable {
    /// One use of the connection.
    enum Use {
        case statement, transaction
    }

    private struct Waiter {
        let id: Request.ID
        let use: Use
        let turn: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var isOver = false
        /// Statements in flight outside of a transaction.
        var statements = 0
        var hasTransaction = false
        var scope: PostgresTransaction?
        /// Whether the transaction's COMMIT or ROLLBACK is in flight.
        var isEnding = false
        var waiting: Deque<Waiter> = []
        /// `close()`, which waits for the transaction to end.
        var end: CheckedContinuation<Void, Never>?

        func admits(_ use: Use) -> Bool { !hasTransaction && (use == .statement || statements == 0) }

        mutating func count(_ use: Use) {
            switch use {
            case .statement: statements += 1
            case .transaction: hasTransaction = true
            }
        }
    }

    private let state = RankedMutex(State(), .leaseGate)

    static var over: PostgresError {
        PostgresError(
            .transactionEnded, "The connection was given back; a task that outlives withConnection cannot use it")
    }

    /// Waits for the connection; `leave` ends the use.
    ///
    /// Throws `.transactionEnded` once the connection was given back, `.timeout` at the deadline, and `CancellationError`.
    func enter(_ use: Use, by deadline: MonotonicTime = .never) async throws {
        let isFree = try state.withLock { state in
            if state.isOver { throw Self.over }
            guard state.waiting.isEmpty, state.admits(use) else { return false }
            state.count(use)
            return true
        }
        if !isFree { try await wait(for: use, by: deadline) }
    }

    private func wait(for use: Use, by deadline: MonotonicTime) async throws {
        let id = Request.nextID()
        let alarm = Alarm(at: deadline) { [weak self] in
            self?.refuse(
                id, PostgresError(.timeout, "Timed out waiting for another task's transaction"))
        }
        defer { alarm?.callOff() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                state.withLock { $0.waiting.append(Waiter(id: id, use: use, turn: turn)) }
                // The connection may have become free, or the task been cancelled, before the waiter was in the queue.
                admitWaiting()
                if Task.isCancelled { refuse(id, CancellationError()) }
                alarm?.set()
            }
        } onCancel: {
            refuse(id, CancellationError())
        }
    }

    private func refuse(_ id: Request.ID, _ error: any Error) {
        let waiter = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        waiter?.turn.resume(throwing: error)
        admitWaiting()
    }

    func leave(_ use: Use) {
        let end = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch use {
            case .statement: state.statements -= 1
            case .transaction: (state.hasTransaction, state.scope, state.isEnding) = (false, nil, false)
            }
            guard !state.isEnding else { return nil }
            defer { state.end = nil }
            return state.end
        }
        end?.resume()
        admitWaiting()
    }

    /// Admits the waiters at the head of the queue.
    private func admitWaiting() {
        let (admitted, refused) = state.withLock { state in
            var admitted: [Waiter] = []
            if state.isOver {
                defer { state.waiting = [] }
                return (admitted, Array(state.waiting))
            }
            while let first = state.waiting.first, state.admits(first.use) {
                state.count(first.use)
                admitted.append(state.waiting.removeFirst())
            }
            return (admitted, [])
        }
        for waiter in admitted { waiter.turn.resume() }
        for waiter in refused { waiter.turn.resume(throwing: Self.over) }
    }

    /// Runs `body` unless the connection was given back; returns whether it ran.
    func whileOpen(_ body: () -> Void) -> Bool {
        state.withLock { state in
            if !state.isOver { body() }
            return !state.isOver
        }
    }

    /// Records the running transaction.
    func began(_ scope: PostgresTransaction) {
        let isOver = state.withLock { state in
            state.scope = scope
            return state.isOver
        }
        if isOver { _ = scope.end() }
    }

    /// Whether its task may still end the transaction; `close()` then waits for the end.
    func beginEnding() -> Bool {
        state.withLock { state in
            if !state.isOver { state.isEnding = true }
            return !state.isOver
        }
    }

    /// Refuses every later use, and ends a transaction that is still open.
    func close() async {
        let scope = state.withLock { state in
            state.isOver = true
            return state.scope
        }
        _ = scope?.end()
        admitWaiting()
        await withCheckedContinuation { continuation in
            let isEnding = state.withLock { state in
                if state.isEnding { state.end = continuation }
                return state.isEnding
            }
            if !isEnding { continuation.resume() }
        }
    }
}
