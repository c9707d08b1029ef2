import KindredPostgres
import Synchronization

extension ContextCore {
    /// The types of the database, which encode values.
    var types: TypeRegistry { database.types }

    /// The journal of the task's transaction, if it is in one.
    var journal: TransactionJournal? { TransactionJournal.current(of: database) }

    /// The journal whose rollback takes back the task's reads and notes from now on; nil while it has written nothing.
    var writing: TransactionJournal? { journal?.writing }

    /// The time of a query, given to `apply` with its answer.
    var now: ContextTime { clock.now }

    /// The time of a query whose answer may take long, earlier than that of every later query.
    func beginReading() -> ContextTime { clock.beginReading() }

    /// The time of a change, later than that of every earlier query.
    func tick() -> ContextTime { clock.tick() }

    /// Whether nothing was noted since a time.
    func isQuiet(since time: ContextTime) -> Bool { notedAt.load(ordering: .acquiring) <= time }

    /// The number of undone transactions that had changed the context, and of changes by others that it does not know:
    /// objects may be stale if there were any.
    var undoCount: UInt64 { undone.load(ordering: .acquiring) }

    /// Notes a change of rows or relationships, at a new time.
    ///
    /// The time is taken under the map's lock, as readers take theirs, so that an earlier reader sees the note next
    /// time.
    func note<T: Sendable>(_ body: (inout IdentityMap, ContextTime) -> T) -> T {
        journal?.touch(self)
        return withMap { map in
            let time = tick()
            defer { notedAt.store(time, ordering: .releasing) }
            following?.noted(at: time)
            return body(&map, time)
        }
    }

    /// Notes that rows of an entity are gone, or may have changed too (`areStale`), without knowing
    /// which.
    func noteLostRows(of entity: EntityRuntime, areStale: Bool = false) {
        let (before, time) = note { map, time in (map.notes.noteLostRows(entity, at: time, areStale: areStale), time) }
        writing?.recordLostRows(before, entity, at: time, in: self)
        noteWrittenThrough(entity)
    }

    /// Called when a transaction begins to change the context.
    func begin(_ root: TransactionScope) {
        times.withLock { $0.begin(root, at: tick()) }
        hasTransactions.store(true, ordering: .releasing)
    }

    /// Called when a transaction has been committed or rolled back.
    func end(_ root: TransactionScope) {
        times.withLock { $0.end(root, at: tick()) }
        // What came meanwhile for the rows that the transaction has changed is asked for now.
        following?.feed.askForStep()
    }

    /// Called when a transaction or savepoint was rolled back, or others have changed rows, unknown which: relationships
    /// are rebuilt from their answers.
    func noteUndone() {
        note { _, _ in _ = undone.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The effective time of a query by this task: see ``TransactionTimes``.
    func counted(_ askedAt: ContextTime) -> ContextTime {
        guard hasTransactions.load(ordering: .acquiring) else { return askedAt }
        let root = journal?.scope.root
        return times.withLock { $0.counted(askedAt, in: root) }
    }

    /// Whether another task's transaction is running and has changed the context.
    var isBesideTransaction: Bool {
        guard hasTransactions.load(ordering: .acquiring) else { return false }
        let root = journal?.scope.root
        return times.withLock { $0.isRunning(besides: root) }
    }

    /// Evicts all notes: everything read before is stale.
    func forgetAllNotes() {
        for entity in runtime.entities where withMap({ $0.knows(entity) }) {
            note { map, time in map.notes.forgetNotes(of: entity, at: time) }
        }
    }

    /// The live object of a key, without I/O.
    package func liveObject(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        if case .temporary = key { return withMap { $0.object(entity, key) } }
        return references.object(entity, key)
    }
}
