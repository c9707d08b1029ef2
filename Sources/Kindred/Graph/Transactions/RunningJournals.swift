import KindredPostgres
import Synchronization

/// The transactions under way that have changed objects of a context.
final class RunningJournals: Sendable {
    private let journals = Mutex<[TransactionJournal]>([])
    /// The one that there is; 0 for none, 1 for several.
    ///
    /// Who is in the only one has nobody else to tell.
    private let only = Atomic<UInt>(0)

    func insert(_ journal: TransactionJournal) {
        change { $0.append(journal) }
    }

    func remove(_ journal: TransactionJournal) {
        change { $0.removeAll { $0 === journal } }
    }

    private func change(_ body: (inout [TransactionJournal]) -> Void) {
        journals.withLock { journals in
            body(&journals)
            let only = journals.count == 1 ? Self.address(journals[0]) : UInt(journals.count.signum())
            self.only.store(only, ordering: .releasing)
        }
    }

    private static func address(_ journal: TransactionJournal) -> UInt {
        UInt(bitPattern: ObjectIdentifier(journal))
    }

    /// Those that a task which is in a transaction of its own, or in none, is not within; outer ones before inner ones.
    func others(than own: TransactionJournal?) -> [TransactionJournal] {
        let only = only.load(ordering: .acquiring)
        if only == own.map(Self.address) ?? 0 || only == 0 { return [] }
        return journals.withLock { $0 }.filter { own?.isWithin($0) != true }.sorted { $0.depth < $1.depth }
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
