import KindredPostgres
import Synchronization

/// The journals of the running transaction and its savepoints that have changed objects of a context.
///
/// A context runs one transaction at a time. A rollback does not undo other tasks' reads and staged changes: these go
/// into the recorded states at once. They cannot be found at the rollback, when an object has but one state: neither the
/// task that staged a value (`RunningJournalsTests` holds one of each) nor a row that another task has read and that was
/// not shown, because the transaction has written the row.
struct RunningJournals: ~Copyable, Sendable {
    /// Outer scopes before inner scopes.
    private let journals = RankedMutex<[TransactionJournal]>([], .runningJournals)

    func insert(_ journal: TransactionJournal) { journals.withLock { $0.append(journal) } }

    func remove(_ journal: TransactionJournal) { journals.withLock { $0.removeAll { $0 === journal } } }

    /// The journals of scopes that a task is not within; outer scopes before inner scopes.
    func others(than own: TransactionJournal?) -> [TransactionJournal] {
        journals.withLock { journals in
            if journals.isEmpty || journals.count == 1 && journals[0] === own { return [] }
            return journals.filter { own?.isWithin($0) != true }
        }
    }

    /// Changes an object, and its states in the journals of other tasks' scopes.
    ///
    /// - Parameters:
    ///   - isRead: whether the change is a row that was read: it applies to the state that the outermost transaction
    ///     would restore, and not to later states if the transaction has written the row since.
    ///   - run: changes the object itself; its argument is the row without the transaction's writes, where that may
    ///     differ from the row shown.
    func applying<T>(
        of object: DatabaseObject, by own: TransactionJournal?, isRead: Bool = false,
        _ body: (inout ObjectState) -> Void, _ run: (Row?) -> T
    ) -> T {
        var committed: Row?
        var changed: [TransactionJournal] = []
        for other in others(than: own) {
            guard let stored = other.change(object, storedAs: committed, body) else { continue }
            if isRead { committed = committed ?? stored }
            changed.append(other)
        }
        let result = run(committed)
        // A journal may have recorded the object meanwhile; the change is idempotent.
        for other in others(than: own) where !changed.contains(where: { $0 === other }) {
            _ = other.change(object, storedAs: committed, body)
        }
        return result
    }
}

extension ContextCore {
    /// The journal of the task's transaction, if it is in one.
    var journal: TransactionJournal? { TransactionJournal.current(of: database) }

    /// The journal whose rollback takes back the task's reads and notes from now on; nil while it has written nothing.
    var writing: TransactionJournal? { journal?.writing }

    /// Changes an object's state; a rollback of the task's transaction takes the change back.
    ///
    /// The states in journals of other tasks' transactions change alike, so that their rollback keeps the change.
    func change(_ object: DatabaseObject, _ body: (inout ObjectState) -> Void) {
        change(object, body) { _ in object.withState(body) }
    }

    /// Changes an object by `run`, and its states in the journals of other tasks' scopes by `body`.
    func change<T>(
        _ object: DatabaseObject, isRead: Bool = false, _ body: (inout ObjectState) -> Void, run: (Row?) -> T
    ) -> T {
        // Rows read before anything was written stay after a rollback.
        let own = isRead ? writing : journal
        own?.record(object)
        return journals.applying(of: object, by: own, isRead: isRead, body, run)
    }
}
