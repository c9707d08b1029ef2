import KindredPostgres
import Synchronization

/// The outcome of a transaction or savepoint.
///
/// Rows and notes from inside refer to their scope, so that a rollback need not find and invalidate them.
package final class TransactionScope: Sendable {
    /// The enclosing scope of the same database.
    let outer: TransactionScope?
    private let wasUndone = Atomic(false)
    private let hasEnded = Atomic(false)

    init(within outer: TransactionScope?) {
        self.outer = outer
    }

    /// The transaction that the scope belongs to.
    var root: TransactionScope { outer?.root ?? self }

    /// Whether it was rolled back, by itself or with an enclosing scope.
    var isUndone: Bool {
        wasUndone.load(ordering: .acquiring) || outer?.isUndone == true
    }

    /// Whether the transaction is neither committed nor rolled back.
    var isRunning: Bool { !root.hasEnded.load(ordering: .acquiring) && !isUndone }

    func undo() {
        wasUndone.store(true, ordering: .releasing)
    }

    func end() {
        hasEnded.store(true, ordering: .releasing)
    }
}
