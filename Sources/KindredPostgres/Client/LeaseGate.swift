import DequeModule
import Synchronization

/// Keeps apart what several tasks do at once with the connection that they were lent: a transaction has it for itself.
final class LeaseGate: Sendable {
    /// What somebody does with the connection.
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
        /// Statements that are under way outside of a transaction.
        var statements = 0
        var hasTransaction = false
        var scope: PostgresTransaction?
        /// Whether the transaction's COMMIT or ROLLBACK is under way.
        var isEnding = false
        var waiting: Deque<Waiter> = []
        /// Waits for that.
        var end: CheckedContinuation<Void, Never>?

        func admits(_ use: Use) -> Bool { !hasTransaction && (use == .statement || statements == 0) }

        mutating func count(_ use: Use) {
            switch use {
            case .statement: statements += 1
            case .transaction: hasTransaction = true
            }
        }
    }

    private let state = Mutex(State())

    static var over: PostgresError {
        PostgresError(
            .transactionEnded, "The connection was given back; a task that outlives withConnection cannot use it")
    }

    /// Waits until the connection is free for a use, which ends with `leave`.
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
                id, PostgresError(.timeout, "Another task's transaction had the connection for longer than allowed"))
        }
        defer { alarm?.callOff() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                state.withLock { $0.waiting.append(Waiter(id: id, use: use, turn: turn)) }
                // What it waits for may have ended in the meantime, and the handler may have looked just before.
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

    /// Lets those in whose turn it is, in their order.
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

    /// Does something before the connection is given back; false if it has been.
    func whileOpen(_ body: () -> Void) -> Bool {
        state.withLock { state in
            if !state.isOver { body() }
            return !state.isOver
        }
    }

    /// Notes the transaction that runs now.
    func began(_ scope: PostgresTransaction) {
        let isOver = state.withLock { state in
            state.scope = scope
            return state.isOver
        }
        if isOver { _ = scope.end() }
    }

    /// Whether the transaction may still be ended by its own task; the connection is not given back meanwhile.
    func beginEnding() -> Bool {
        state.withLock { state in
            if !state.isOver { state.isEnding = true }
            return !state.isOver
        }
    }

    /// Refuses everything from now on, and takes the connection from a transaction that has outlived it.
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
