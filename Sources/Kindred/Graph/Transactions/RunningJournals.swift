import KindredPostgres
import Synchronization

/// The scopes of the transaction under way that have changed objects of a context: its own, and those of savepoints.
///
/// A context runs one transaction at a time. Other tasks read and stage meanwhile, which a rollback does not undo.
final class RunningJournals: Sendable {
    /// Outer scopes before inner ones.
    private let journals = Mutex<[TransactionJournal]>([])

    func insert(_ journal: TransactionJournal) { journals.withLock { $0.append(journal) } }

    func remove(_ journal: TransactionJournal) { journals.withLock { $0.removeAll { $0 === journal } } }

    /// The scopes that a task in a scope of its own, or in none, is not within; outer ones before inner ones.
    func others(than own: TransactionJournal?) -> [TransactionJournal] {
        journals.withLock { journals in
            if journals.isEmpty || journals.count == 1 && journals[0] === own { return [] }
            return journals.filter { own?.isWithin($0) != true }
        }
    }

    /// Runs a change of an object, and does the same to what others remember of it.
    ///
    /// - Parameters:
    ///   - isRead: whether the change is a row that was read: it is what the outermost transaction would put back, and none
    ///     where that has written the row since.
    ///   - run: the change of the object itself; it is given the row that nobody's transaction has written, where that may be
    ///     another one than the object shows.
    func telling<T>(
        of object: DatabaseObject, by own: TransactionJournal?, isRead: Bool = false,
        _ body: (inout ObjectState) -> Void, _ run: (Row?) -> T
    ) -> T {
        var committed: Row?
        var told: [TransactionJournal] = []
        for other in others(than: own) {
            guard let stored = other.change(object, storedAs: committed, body) else { continue }
            if isRead { committed = committed ?? stored }
            told.append(other)
        }
        let result = run(committed)
        // One may have begun to remember the object meanwhile; to change it twice is to change it once.
        for other in others(than: own) where !told.contains(where: { $0 === other }) {
            _ = other.change(object, storedAs: committed, body)
        }
        return result
    }
}

extension DatabaseContext {
    /// Changes what an object knows, which a failure of the task's transaction puts back.
    ///
    /// What transactions of other tasks would put back changes in the same way: it is not for them to undo it.
    func change(_ object: DatabaseObject, _ body: (inout ObjectState) -> Void) {
        change(object, body) { _ in object.withState(body) }
    }

    /// Changes what an object knows by `run`, which does to it what `body` does to what transactions of others remember.
    func change<T>(
        _ object: DatabaseObject, isRead: Bool = false, _ body: (inout ObjectState) -> Void, _ run: (Row?) -> T
    ) -> T {
        let own = journal
        own?.record(object)
        return core.journals.telling(of: object, by: own, isRead: isRead, body, run)
    }
}
