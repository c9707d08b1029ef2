import KindredPostgres

/// The note that a row was deleted.
struct RowDeletion {
    let deletedAt: ContextTime
    /// The transaction of the deletion: if it is rolled back, the row exists.
    let scope: TransactionScope?
    /// The earlier deletion, which counts again if this deletion is rolled back.
    var former: Former?
    /// The transaction that has stored a row with the key again: if it is rolled back, the deletion counts.
    var storedIn: TransactionScope?

    /// The last deletion that was not rolled back.
    var valid: RowDeletion? { scope?.isUndone == true ? former?.deletion.valid : self }

    func counts(since time: ContextTime) -> Bool {
        guard let valid, valid.deletedAt > time else { return false }
        return valid.storedIn == nil || valid.storedIn?.isUndone == true
    }

    /// Whether it counts for a task in a transaction, or in none.
    func counts(since time: ContextTime, in root: TransactionScope?) -> Bool {
        func isHidden(_ scope: TransactionScope) -> Bool { scope.root !== root && scope.isRunning }
        guard let valid else { return false }
        if let scope = valid.scope, isHidden(scope) {
            return valid.former?.deletion.counts(since: time, in: root) ?? false
        }
        return valid.deletedAt > time && (valid.storedIn.map { $0.isUndone || isHidden($0) } ?? true)
    }

    /// A deletion below another deletion; a class, because few deletions have one.
    final class Former: Sendable {
        let deletion: RowDeletion

        init(_ deletion: RowDeletion) { self.deletion = deletion }
    }
}
