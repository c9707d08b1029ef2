import KindredPostgres
import KindredSchema
import Synchronization

/// What a context knows: its objects hold this, and the program's ``DatabaseContext`` is how it is used.
///
/// The two are apart because what is staged holds objects, which would otherwise hold each other and the context for good:
/// when the program lets go of the context, what is staged is held no longer. See `ContextCore+Life`.
package final class ContextCore: Sendable {
    let database: Database
    let runtime: SchemaRuntime
    let faulting: FaultingMode
    let map: Mutex<IdentityMap>
    /// The objects that are in memory.
    let references: ObjectReferences
    /// Counts changes: an answer that was asked for before a change does not overwrite it.
    let clock = Atomic<UInt64>(1)
    /// When anything was last noted of rows or relationships: what was looked at later is as it was.
    let notedAt = Atomic<UInt64>(0)
    /// How many transactions that changed the context were undone.
    let undone = Atomic<UInt64>(0)
    /// When transactions changed the context.
    let times = Mutex(TransactionTimes())
    let hasTransactions = Atomic(false)
    /// Whose turn it is to change the context.
    let turn = ContextTurn()
    /// The transactions under way that would put objects back.
    let journals = RunningJournals()
    /// How many saves are under way.
    let saves = Atomic(0)
    /// Attributes that were read by keys of none, which the next save reports.
    let misreads = Mutex<[ValidationProblem]>([])
    /// What is not saved yet.
    ///
    /// Its lock may be held when an object's is taken, never the other way round.
    let staged = Mutex(StagedChanges())
    /// The context that the program holds, and what was staged while it held none.
    let life = Mutex(Life())
    /// Whether the log has been told that changes were given up.
    let hasToldLoss = Atomic(false)
    /// Rows of changed objects that went out of memory and that the map has not taken in yet.
    ///
    /// A leaf lock: an object's `deinit` may run anywhere, also under the map's lock.
    private let leftObjects = Mutex<[LeftObject]>([])
    private let hasLeftObjects = Atomic(false)

    init(database: Database, runtime: SchemaRuntime, faulting: FaultingMode) {
        self.database = database
        self.faulting = faulting
        self.runtime = runtime
        references = ObjectReferences()
        map = Mutex(IdentityMap(references))
    }

    /// Keeps the row of an object that goes out of memory.
    func leave(_ object: LeftObject) {
        leftObjects.withLock { $0.append(object) }
        hasLeftObjects.store(true, ordering: .releasing)
    }

    /// Runs `body` on the identity map, with what vanished objects left behind taken in first.
    func withMap<T: Sendable>(_ body: (inout IdentityMap) throws -> T) rethrows -> T {
        try map.withLock { map in
            // Read before it is changed: an exchange costs as much as a lock.
            if hasLeftObjects.load(ordering: .acquiring),
                hasLeftObjects.exchange(false, ordering: .acquiringAndReleasing)
            {
                let left = leftObjects.withLock { objects in
                    defer { objects = [] }
                    return objects
                }
                for object in left { map.take(object) }
            }
            // First, so that what `body` looks up is all that it can know.
            if let entity = map.overfullEntity {
                let time = clock.add(1, ordering: .acquiringAndReleasing).newValue
                map.forgetNotes(of: entity, at: time)
                notedAt.store(time, ordering: .releasing)
            }
            return try body(&map)
        }
    }
}
