import KindredPostgres
import Synchronization

/// The undo log of a transaction or savepoint: objects' states before it changed them.
///
/// Bound to the task like the transaction itself, so that it covers objects of every context of the database. A task
/// may be in transactions of several databases; each has its own journal.
package final class TransactionJournal: Sendable {
    @TaskLocal private static var innermost: TransactionJournal?

    private let database: Database
    private let outer: TransactionJournal?
    /// The journal of the enclosing scope of the same database.
    private let enclosing: TransactionJournal?
    /// Identifies the scope in rows and notes that it has read and written.
    let scope: TransactionScope
    /// The contexts that the transaction may change.
    let turns: ContextTurns
    /// Whether the transaction, or the savepoint, may have written anything.
    let mayHaveWritten: @Sendable () -> Bool

    /// To be done after the end.
    let endings = RankedMutex<[@Sendable () async -> Void]>([], .leaf)

    init(_ database: Database, _ turns: ContextTurns, mayHaveWritten: @escaping @Sendable () -> Bool) {
        self.turns = turns
        self.mayHaveWritten = mayHaveWritten
        self.database = database
        outer = Self.innermost
        enclosing = Self.current(of: database)
        scope = TransactionScope(within: enclosing?.scope)
    }

    /// The journal of the task's transaction on a database, if it is in one.
    package static func current(of database: Database) -> TransactionJournal? {
        var journal = innermost
        while let found = journal, found.database !== database { journal = found.outer }
        return journal
    }

    /// Runs `body` with a journal, or with no journal of any database.
    package static func with<T>(_ journal: TransactionJournal?, _ body: () async throws -> T) async rethrows -> T {
        try await $innermost.withValue(journal, operation: body)
    }

    /// Runs `body` with no journal of any database.
    static func withNone<T>(_ body: () throws -> T) rethrows -> T {
        try $innermost.withValue(nil, operation: body)
    }

    /// The journal of the innermost scope around the task that may have written; nil if none has.
    ///
    /// Its rollback takes back reads and notes from now on. Rows read without one stay.
    var writing: TransactionJournal? { mayHaveWritten() ? self : enclosing?.writing }

    /// Whether this is a journal, or one of a scope inside it.
    func isWithin(_ journal: TransactionJournal) -> Bool {
        self === journal || outer?.isWithin(journal) == true
    }

    struct Entries {
        /// The contexts of the recorded objects, which know the journal.
        var cores: [ContextCore] = []
        /// The held contexts among them: staged changes stay until the transaction has ended.
        var held: [any AnyObject & Sendable] = []
        var before: [ObjectIdentifier: (object: DatabaseObject, state: ObjectState)] = [:]
        /// Objects of one statement, recorded while `before` was empty, so that later entries in `before` lose to them;
        /// listed when needed.
        var stored: [@Sendable () -> [(object: DatabaseObject, state: ObjectState)]] = []
        var created: [DatabaseObject] = []
        var fetched: [WeakObject] = []
        var pairs: [StagedPair: (core: ContextCore, entry: StagedChanges.PairEntry?)] = [:]
        /// Objects whose rows a statement did not find.
        var missing: [DatabaseObject] = []
        /// Owners whose members are counted at the end, as some came or went.
        var counted: [ObjectIdentifier: (core: ContextCore, ends: Set<StagedLinks.End>)] = [:]

        /// Merges later entries, which lose to earlier entries; leaves `later` undefined.
        ///
        /// Merges the smaller into the larger, so that deep nesting does not copy each entry once per scope.
        mutating func append(_ later: inout Entries) {
            if before.isEmpty {
                stored += later.stored
            } else {
                later.listStored()
            }
            Self.merge(&before, &later.before)
            Self.merge(&pairs, &later.pairs)
            Self.join(&created, &later.created)
            Self.join(&fetched, &later.fetched)
            Self.join(&missing, &later.missing)
            counted.merge(later.counted) { ($0.core, $0.ends.union($1.ends)) }
        }

        func holds(_ core: ContextCore) -> Bool {
            cores.last === core || cores.contains { $0 === core }
        }

        /// Expands `stored` into entries in `before`.
        mutating func listStored() {
            // The earliest state of an object wins.
            for list in stored.reversed() {
                for saved in list() { before[ObjectIdentifier(saved.object)] = saved }
            }
            stored = []
        }

        private static func merge<Key, Value>(_ entries: inout [Key: Value], _ later: inout [Key: Value]) {
            if entries.count < later.count {
                swap(&entries, &later)
                entries.merge(later) { _, earlier in earlier }
            } else {
                entries.merge(later) { earlier, _ in earlier }
            }
        }

        private static func join<Element>(_ entries: inout [Element], _ later: inout [Element]) {
            if entries.count < later.count { swap(&entries, &later) }
            entries += later
        }
    }

    let entries = RankedMutex(Entries(), .transactionJournal)
    /// Serializes the writes of the scope; an inner scope is one of them.
    let writeLock = AsyncGate()

    /// Records an object's state before its first change.
    func record(_ object: DatabaseObject) {
        record(CollectionOfOne(object))
    }

    /// Records objects' states before their first change.
    func record(_ objects: some Collection<DatabaseObject>) {
        // Nearly always all are of one context.
        var touched: ContextCore?
        for object in objects where object.core !== touched {
            touch(object.core)
            touched = object.core
        }
        entries.withLock { entries in
            if objects.count > 1, entries.before.isEmpty {
                // Without a look-up for each.
                let states = objects.map { (object: $0, state: $0.withState { $0 }) }
                return entries.stored.append { states }
            }
            for object in objects {
                // `default` in one look-up: an existing entry stays.
                func keep(_ entry: inout (object: DatabaseObject, state: ObjectState)) {}
                keep(&entries.before[ObjectIdentifier(object), default: (object, object.withState { $0 })])
            }
        }
    }

    /// Records objects of a context by a closure that lists their states, so that nothing is copied unless it is needed.
    ///
    /// - Parameter isPossible: asked under the journal's lock.
    /// - Returns: Whether the objects were recorded; false if other objects were recorded before, or if it is not
    ///   possible.
    func recordLater(
        in core: ContextCore, if isPossible: @autoclosure () -> Bool,
        _ list: @escaping @Sendable () -> [(object: DatabaseObject, state: ObjectState)]
    ) -> Bool {
        touch(core)
        return entries.withLock { entries in
            guard entries.before.isEmpty, isPossible() else { return false }
            entries.stored.append(list)
            return true
        }
    }

    /// Registers the journal with a context, before the first change of it or of its objects is recorded.
    func touch(_ core: ContextCore) {
        if entries.withLock({ $0.holds(core) }) { return }
        // Outside of the lock, under which no context may be released.
        let context = core.heldContext
        entries.withLock { entries in
            if let context { entries.held.append(context) }
            enter(core, &entries)
        }
    }

    private func enter(_ core: ContextCore, _ entries: inout Entries) {
        if entries.holds(core) { return }
        entries.cores.append(core)
        if let enclosing { enclosing.touch(core) } else { core.begin(scope) }
        core.journals.insert(self)
    }

    /// Changes the recorded state of an object; returns its stored row, nil if none is recorded.
    ///
    /// - Parameter row: the only stored row that the change applies to; nil for any.
    func change(_ object: DatabaseObject, storedAs row: Row? = nil, _ body: (inout ObjectState) -> Void) -> Row? {
        entries.withLock { entries in
            entries.listStored()
            guard var entry = entries.before.removeValue(forKey: ObjectIdentifier(object)) else { return nil }
            defer { entries.before[ObjectIdentifier(object)] = entry }
            let stored = entry.state.storedRow
            if row?.hasSameBytes(as: stored) != false { body(&entry.state) }
            return stored
        }
    }

    /// Whether an object's state is recorded, so that it may have changed.
    func hasRecorded(_ object: DatabaseObject) -> Bool {
        entries.withLock { entries in
            entries.listStored()
            return entries.before[ObjectIdentifier(object)] != nil
        }
    }

    /// The contexts that have changed.
    var cores: [ContextCore] { entries.withLock { $0.cores } }

    /// Called when the transaction was committed.
    func commit() { finish() }

    /// Ends the journal: nothing will be restored.
    func finish() {
        let cores = cores
        for core in cores { core.journals.remove(self) }
        guard scope.root === scope else { return }
        scope.end()
        for core in cores { core.end(scope) }
    }

    /// The objects that may show uncommitted rows: objects that were changed, created, or first read after a write.
    var uncommittedObjects: Set<DatabaseObject> {
        entries.withLock { entries in
            entries.listStored()
            return Set(entries.before.values.map(\.object)).union(entries.created)
                .union(entries.fetched.compactMap(\.object))
        }
    }

    /// The objects that were changed, except objects created inside.
    var changedObjects: [DatabaseObject] {
        entries.withLock { entries in
            entries.listStored()
            let created = Set(entries.created)
            return entries.before.values.map(\.object).filter { !created.contains($0) }
        }
    }

    /// Records an object whose row the transaction stored.
    func recordCreated(_ object: DatabaseObject) {
        touch(object.core)
        entries.withLock { $0.created.append(object) }
    }

    /// Records objects first read after a write, because they may show rows that a rollback undoes.
    func recordFetched(_ objects: [DatabaseObject]) {
        entries.withLock { $0.fetched += objects.map { WeakObject(object: $0) } }
    }

    /// Records objects whose rows are gone: a rollback does not bring them back.
    func recordMissing(_ objects: [DatabaseObject]) {
        entries.withLock { $0.missing += objects }
    }

    /// Records that an owner's members came or went.
    ///
    /// - Parameter isOfMember: whether the key is a member's, for all owners that this is paired with.
    func count(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, in core: ContextCore, isOfMember: Bool = false
    ) {
        let end = StagedLinks.End(relationship: relationship, owner: owner, isOfMember: isOfMember)
        _ = entries.withLock { entries in
            entries.counted[ObjectIdentifier(core), default: (core, [])].ends.insert(end)
        }
    }

    /// Takes the owners whose members are to be counted.
    func takeCounted() -> [(core: ContextCore, ends: Set<StagedLinks.End>)] {
        entries.withLock { entries in
            defer { entries.counted = [:] }
            return Array(entries.counted.values)
        }
    }

    /// Records before the first change whether and where a pair was staged.
    func record(_ pair: StagedPair, in core: ContextCore) {
        touch(core)
        let entry = core.staged.withLock { $0.entry(of: pair) }
        entries.withLock { entries in
            if entries.pairs[pair] == nil { entries.pairs[pair] = (core, entry) }
        }
    }

    /// Moves all entries to the enclosing scope, whose earlier entries win.
    func merge(into outer: TransactionJournal) {
        entries.withLock { inner in
            outer.entries.withLock { entries in
                for core in inner.cores { outer.enter(core, &entries) }
                entries.held += inner.held
                entries.append(&inner)
            }
            inner = Entries(cores: inner.cores)
        }
        moveEndings(to: outer)
        finish()
    }
}
