/// Serializes the uses of a lent connection: one transaction at a time, and no other statements beside it.
final class LeaseGate: Sendable {
    /// One use of the connection.
    enum Use {
        case statement, transaction
    }

    private enum Wish {
        case use(Use)
        /// The wish of `close()`: the end of the transaction.
        case end
    }

    private enum Answer {
        case admitted, refused
    }

    private struct State {
        var isOver = false
        /// Statements in flight outside of a transaction.
        var statements = 0
        var hasTransaction = false
        var scope: PostgresTransaction?
        /// Whether the transaction's COMMIT or ROLLBACK is in flight.
        var isEnding = false

        mutating func admit(_ wish: Wish) -> Answer? {
            switch wish {
            case .end: return isEnding ? nil : .admitted
            case .use where isOver: return .refused
            case .use(.statement):
                if hasTransaction { return nil }
                statements += 1
            case .use(.transaction):
                if hasTransaction || statements > 0 { return nil }
                hasTransaction = true
            }
            return .admitted
        }
    }

    private let queue = WaitQueue<State, Wish, Answer>(State(), rank: .leaseGate) { $0.admit($1) }

    static var over: PostgresError {
        PostgresError(
            .transactionEnded, "The connection was given back; a task that outlives withConnection cannot use it")
    }

    /// Waits for the connection; `leave` ends the use.
    ///
    /// Throws `.transactionEnded` once the connection was given back, `.timeout` at the deadline, and `CancellationError`.
    func enter(_ use: Use, by deadline: MonotonicTime = .never) async throws {
        do {
            guard try await queue.wait(for: .use(use), by: deadline) == .admitted else { throw Self.over }
        } catch is WaitTimeout {
            throw PostgresError(.timeout, "Timed out waiting for another task's transaction")
        }
    }

    func leave(_ use: Use) {
        queue.change { state in
            switch use {
            case .statement: state.statements -= 1
            case .transaction: (state.hasTransaction, state.scope, state.isEnding) = (false, nil, false)
            }
        }
    }

    /// Runs `body` unless the connection was given back; returns whether it ran.
    func whileOpen(_ body: () -> Void) -> Bool {
        queue.change { state in
            if !state.isOver { body() }
            return !state.isOver
        }
    }

    /// Records the running transaction.
    func began(_ scope: PostgresTransaction) {
        let isOver = queue.change { state in
            state.scope = scope
            return state.isOver
        }
        if isOver { _ = scope.end() }
    }

    /// Whether its task may still end the transaction; `close()` then waits for the end.
    func beginEnding() -> Bool {
        queue.change { state in
            if !state.isOver { state.isEnding = true }
            return !state.isOver
        }
    }

    /// Refuses every later use, and ends a transaction that is still open.
    func close() async {
        let scope = queue.change { state in
            state.isOver = true
            return state.scope
        }
        _ = scope?.end()
        _ = await queue.waitShielded(for: .end)
    }
}
