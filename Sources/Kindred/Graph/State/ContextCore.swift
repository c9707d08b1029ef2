import KindredPostgres
import KindredSchema
import Synchronization

/// The state of a context: objects hold it; the program's ``DatabaseContext`` is the handle to it.
///
/// Staged changes hold objects, and objects hold the core. The core is apart from the context so that releasing the
/// context breaks this cycle. See `dropUnheld`.
package final class ContextCore: Sendable {
    package let database: Database
    /// The connections of the database, whose statements run with the context's settings.
    package let client: PostgresClient
    /// Where its reads go, and how far it has come; nil where all go to the primary and no position is wanted.
    let reads: ReadRoute?
    package let runtime: SchemaRuntime
    /// The tenant whose rows alone it reads and writes; nil if rows have none for it.
    package let tenant: ContextTenant?
    package let loading: RelationshipLoading
    /// Whether its objects are never changed by the program.
    let isReadOnly: Bool
    /// The state of following committed changes; nil if the context does not follow them.
    package let following: ChangeFollowing?
    let map: RankedMutex<IdentityMap>
    /// The objects in memory.
    let references: ObjectReferences
    /// Counts changes: an answer read before a change does not overwrite the change.
    let clock = ContextClock()
    /// The time of the last entry in the log: an answer checked later than that is valid.
    let changedAt = Atomic(ContextTime.never)
    /// See `undoCount`.
    let undone = Atomic<UInt64>(0)
    /// The times at which transactions changed the context.
    let times = RankedMutex(TransactionTimes(), .leaf)
    let hasTransactions = Atomic(false)
    /// Made by the first change, as most contexts only read.
    private let madeTurn = RankedMutex<ContextTurn?>(nil, .leaf)
    /// The journals of running transactions that would restore objects.
    let journals = RunningJournals()
    /// Whether a request has left out columns that are not lazy, so that objects in memory may lack them.
    let mayBePartial = Atomic(false)
    /// Objects whose rows an action of the database has changed to values that only the server knows: the write reads
    /// them again.
    let doubtful = RankedMutex<[DatabaseObject]>([], .leaf)
    /// The number of running saves.
    let saves = Atomic(0)
    /// Mistakes of the program that could not be thrown; the next save reports them.
    let mistakes = RankedMutex<[KindredError]>([], .leaf)
    /// Unsaved changes.
    ///
    /// Lock order: this lock before an object's, never the reverse.
    let staged = RankedMutex(StagedChanges(), .stagedChanges)
    /// The context that the program holds; changes are staged only while there is one.
    let held = RankedMutex(Held(), .heldContext)
    /// Whether the program knows that the staged changes are not saved, from an error of a save.
    let isLossKnown = Atomic(false)

    /// - Parameter client: the database's connections with the context's settings; nil for a context without settings.
    package init(
        database: Database, model: SchemaRuntime, client: PostgresClient? = nil, reads: ReadRoute? = nil,
        tenant: ContextTenant? = nil, loading: RelationshipLoading, isReadOnly: Bool = false,
        following: ChangeFollowing? = nil
    ) {
        self.database = database
        self.tenant = tenant
        self.client = client ?? database.contextClient(with: nil, reads)
        self.reads = reads
        self.loading = loading
        self.isReadOnly = isReadOnly
        self.following = following
        runtime = model
        references = ObjectReferences()
        map = RankedMutex(IdentityMap(references), .identityMap)
    }

    /// The context that the program holds, and the number of contexts.
    struct Held: Sendable {
        weak var context: (any AnyObject & Sendable)?
        /// A context in its `deinit` is still counted, beside a new one.
        var count = 0
    }

    /// The context that the program holds, to be held while something is staged; nil if the program holds none.
    var heldContext: (any AnyObject & Sendable)? { held.withLock { $0.context } }

    /// The turn to change the context.
    var turn: ContextTurn {
        madeTurn.withLock { made in
            let turn = made ?? ContextTurn()
            made = turn
            return turn
        }
    }

    /// Runs `body` on the identity map and its log.
    package func withMap<T: Sendable>(_ body: (inout IdentityMap) throws -> T) rethrows -> T {
        try map.withLock { map in try body(&map) }
    }
}

extension ContextCore {
    /// The types of the database, which encode values.
    var types: TypeRegistry { database.types }

    /// Notes a mistake where nothing can be thrown: a wrong read, which looks like NULL to the program, or a change
    /// that could not be staged.
    ///
    /// It is logged, and the next save fails.
    func note(mistake error: KindredError, at place: SourcePlace) {
        database.mistakes.add(error, at: place)
        mistakes.withLock { mistakes in
            // One record keeps a save from writing values derived from it; the limit bounds memory.
            guard mistakes.count < 16 else { return }
            mistakes.append(error)
        }
    }

    /// Notes that a request leaves columns out.
    ///
    /// - Parameter leftOut: nil if it does not.
    func note(leavingOut leftOut: ColumnSet?) {
        if leftOut != nil { mayBePartial.store(true, ordering: .releasing) }
    }

    /// Whether an object lacks columns that a request has left out, so that it is read again where it is asked for whole.
    func isPartial(_ object: DatabaseObject) -> Bool {
        guard mayBePartial.load(ordering: .acquiring) else { return false }
        let lacking = following?.withState { $0.lacking[object.runtime] } ?? []
        return object.withState { state in
            guard state.status == .persistent, object.runtime.isPartial(state.row) else { return false }
            // Columns that the table no longer has cannot be read.
            let leftOut = object.runtime.leftOutColumns(of: state.row).subtracting(object.runtime.lazyColumns)
            return !leftOut.subtracting(lacking).isEmpty
        }
    }

    /// Notes that rows of an entity are read without columns that the table no longer has.
    package func lack(_ columns: ColumnSet, of entity: EntityRuntime) {
        guard let following, following.withState({ $0.lacking[entity] ?? [] }) != columns else { return }
        following.withState { $0.lacking[entity] = columns }
        mayBePartial.store(true, ordering: .releasing)
    }

    /// The time of a query, given to `apply` with its answer.
    package var now: ContextTime { clock.now }

    /// The time of a query whose answer may take long, earlier than the time of every later query.
    package func beginReading() -> ContextTime { clock.beginReading() }

    /// The time of a change, later than the time of every earlier query.
    package func tick() -> ContextTime { clock.tick() }

    /// Whether nothing has happened since a time.
    func isQuiet(since time: ContextTime) -> Bool { changedAt.load(ordering: .acquiring) <= time }

    /// The number of undone transactions that had changed the context, and of other clients' changes that it does not
    /// know: objects may be stale if there were any.
    var undoCount: UInt64 { undone.load(ordering: .acquiring) }

    /// Called when a transaction begins to change the context.
    func begin(_ root: TransactionScope) {
        times.withLock { $0.begin(root, at: tick()) }
        hasTransactions.store(true, ordering: .releasing)
    }

    /// Called when a transaction has been committed or rolled back.
    func end(_ root: TransactionScope) {
        times.withLock { $0.end(root, at: tick()) }
        // Changes that came meanwhile for the transaction's rows are asked for now.
        following?.feed.askForStep()
    }

    /// The effective time of a query by this task: see ``TransactionTimes``.
    package func counted(_ askedAt: ContextTime) -> ContextTime {
        guard hasTransactions.load(ordering: .acquiring) else { return askedAt }
        let root = journal?.scope.root
        return times.withLock { $0.counted(askedAt, in: root) }
    }

    /// Whether another task's transaction is running and has changed the context.
    package var isBesideTransaction: Bool {
        guard hasTransactions.load(ordering: .acquiring) else { return false }
        let root = journal?.scope.root
        return times.withLock { $0.isRunning(besides: root) }
    }

    /// The live object of a key, without I/O.
    package func liveObject(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        if case .temporary = key { return withMap { $0.object(entity, key) } }
        return references.object(entity, key)
    }
}
