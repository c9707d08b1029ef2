import KindredPostgres
import Synchronization

/// The undo log of a transaction or savepoint: objects' states before it changed them.
///
/// Bound to the task like the transaction itself, so that it covers objects of every context of the database. A task
/// may be in transactions of several databases; each has its own journal.
final class TransactionJournal: Sendable {
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
    private let mayHaveWritten: @Sendable () -> Bool

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
    static func current(of database: Database) -> TransactionJournal? {
        var journal = innermost
        while let found = journal, found.database !== database { journal = found.outer }
        return journal
    }

    /// Runs `body` with a journal, or with none of any database.
    static func with<T>(_ journal: TransactionJournal?, _ body: () async throws -> T) async rethrows -> T {
        try await $innermost.withValue(journal, operation: body)
    }

    /// The journal of the innermost scope around the task that may have written; nil if none has.
    ///
    /// Its rollback takes back reads and notes from now on. Rows read without one stay.
    var writing: TransactionJournal? { mayHaveWritten() ? self : enclosing?.writing }

    /// Whether this is a journal, or one of a scope inside it.
    func isWithin(_ journal: TransactionJournal) -> Bool {
        self === journal || outer?.isWithin(journal) == true
    }

    private struct Entries {
        /// The contexts of the recorded objects, which know the journal.
        ///
        /// Held, so that they keep their unsaved changes.
        var contexts: [DatabaseContext] = []
        var before: [ObjectIdentifier: (object: DatabaseObject, state: ObjectState)] = [:]
        /// New objects stored while `before` was empty, so that later entries in `before` lose to these.
        var stored: [ArraySlice<SavedObject>] = []
        var created: [DatabaseObject] = []
        var fetched: [WeakObject] = []
        var rows: [(core: ContextCore, entity: EntityRuntime, key: ObjectKey, row: NewerRow?)] = []
        var losses: [(core: ContextCore, entity: EntityRuntime, time: ContextTime, before: LostRows)] = []
        var pairs: [StagedPair: (core: ContextCore, entry: StagedChanges.PairEntry?)] = [:]
        /// Owners whose members are counted at the end, as some came or went.
        var counted: [ObjectIdentifier: (core: ContextCore, ends: Set<StagedLinks.End>)] = [:]

        /// Merges later entries, which lose to earlier ones; leaves `later` undefined.
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
            // A rollback undoes these in reverse order.
            rows += later.rows
            losses += later.losses
            counted.merge(later.counted) { ($0.core, $0.ends.union($1.ends)) }
        }

        func holds(_ core: ContextCore) -> Bool {
            contexts.last?.core === core || contexts.contains { $0.core === core }
        }

        /// Expands `stored` into entries in `before`.
        mutating func listStored() {
            for saved in stored.joined() {
                before[ObjectIdentifier(saved.object)] = (saved.object, ObjectState(before: saved))
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

    private struct WeakObject {
        weak var object: DatabaseObject?
    }

    private let entries = RankedMutex(Entries(), .transactionJournal)
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
            if objects.count > 1 { entries.before.reserveCapacity(entries.before.count + objects.count) }
            for object in objects {
                // `default` in one look-up: an existing entry stays.
                func keep(_ entry: inout (object: DatabaseObject, state: ObjectState)) {}
                keep(&entries.before[ObjectIdentifier(object), default: (object, object.withState { $0 })])
            }
        }
    }

    /// Records new objects that are being stored, each with its state when its statement was made.
    func record(stored saved: ArraySlice<SavedObject>) {
        if let first = saved.first { touch(first.object.core) }
        let isRecorded = entries.withLock { entries in
            guard entries.before.isEmpty, saved.allSatisfy(\.hasOnlyRowAndStaging) else { return false }
            entries.stored.append(saved)
            return true
        }
        if !isRecorded { record(saved.lazy.map(\.object)) }
    }

    /// Registers the journal with a context, before the first change of it or of its objects is recorded.
    func touch(_ core: ContextCore) {
        if entries.withLock({ $0.holds(core) }) { return }
        // Outside of the lock: a context may have to be made.
        let context = core.context
        entries.withLock { enter(context, &$0) }
    }

    private func enter(_ context: DatabaseContext, _ entries: inout Entries) {
        if entries.holds(context.core) { return }
        entries.contexts.append(context)
        if let enclosing { enclosing.touch(context.core) } else { context.core.begin(scope) }
        context.core.journals.insert(self)
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
            entries.before[ObjectIdentifier(object)] != nil
                || entries.stored.contains { $0.contains { $0.object === object } }
        }
    }

    /// Whether the row of a key without an object was written.
    func hasNewerRow(of entity: EntityRuntime, _ key: ObjectKey, in core: ContextCore) -> Bool {
        entries.withLock { $0.rows.contains { $0.core === core && $0.entity === entity && $0.key == key } }
    }

    /// The contexts that have changed.
    var cores: [ContextCore] { entries.withLock { $0.contexts.map(\.core) } }

    /// Called when the transaction was committed.
    func commit() { finish() }

    /// Ends the journal: nothing will be restored any more.
    private func finish() {
        let cores = cores
        for core in cores { core.journals.remove(self) }
        guard scope.root === scope else { return }
        scope.end()
        for core in cores { core.end(scope) }
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

    /// Records the former note on the newer row of a key without an object.
    func recordNewerRow(_ row: NewerRow?, _ entity: EntityRuntime, _ key: ObjectKey, in core: ContextCore) {
        touch(core)
        entries.withLock { $0.rows.append((core, entity, key, row)) }
    }

    /// Records the former note on an entity's untracked loss.
    func recordLostRows(_ before: LostRows, _ entity: EntityRuntime, at time: ContextTime, in core: ContextCore) {
        touch(core)
        entries.withLock { $0.losses.append((core, entity, time, before)) }
    }

    /// Records that an owner's members came or went.
    func count(_ relationship: RelationshipRuntime, _ owner: ObjectKey, in core: ContextCore) {
        let end = StagedLinks.End(relationship: relationship, owner: owner)
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
        // Holds the context: a rollback puts the pair back among the changes that it holds.
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
                for context in inner.contexts { outer.enter(context, &entries) }
                entries.append(&inner)
            }
            inner = Entries(contexts: inner.contexts)
        }
        moveEndings(to: outer)
        finish()
    }

    /// Restores every object, without a statement; objects first read after a write become stale.
    ///
    /// - Parameter isUnknown: whether the transaction may have been committed: objects that it wrote become stale too.
    func undo(isUnknown: Bool = false) throws {
        // Not recorded in the enclosing journal, which would bring the undone values back.
        try Self.$innermost.withValue(nil) { try restore(isUnknown: isUnknown && mayHaveWritten()) }
    }

    private func restore(isUnknown: Bool) throws {
        scope.undo()
        let entries = entries.withLock { entries in
            entries.listStored()
            return entries
        }
        let fetched = entries.fetched.compactMap(\.object)
        var cores = entries.contexts.map(\.core)
        for object in fetched where !cores.contains(where: { $0 === object.core }) { cores.append(object.core) }
        defer {
            for core in cores {
                if isUnknown { core.forgetAllNotes() }
                core.noteUndone()
            }
            finish()
        }
        for (core, entity, key, row) in entries.rows.reversed() {
            core.withMap { $0.notes.setNewerRow(row, entity, key) }
        }
        for (core, entity, time, before) in entries.losses.reversed() {
            core.withMap { $0.notes.undoLostRows(entity, at: time, before) }
        }
        let created = Set(entries.created)
        for (pair, before) in entries.pairs {
            before.core.staged.withLock { $0.put(pair, before.entry) }
        }
        putBack(entries.before.values.map(\.object).filter { !created.contains($0) })
        // After the others, which no longer refer to them: changes staged instead stay.
        for (_, new) in Dictionary(grouping: created.filter(\.isInserted), by: { ObjectIdentifier($0.context) }) {
            new[0].core.rollback(Set(new))
        }
        if isUnknown {
            for (object, _) in entries.before.values where !created.contains(object) { object.markStale() }
            for object in entries.created { try settle(object) }
        } else {
            for object in created { try object.core.accept(deletionOf: object, by: .rollback) }
        }
        // Includes recorded objects: their recorded state was read inside.
        for object in fetched where !created.contains(object) { try settle(object) }
    }

    /// Marks an object that was first seen inside as stale; as deleted if its key is another object's again.
    private func settle(_ object: DatabaseObject) throws {
        let core = object.core
        guard let key = object.key, let other = core.liveObject(object.runtime, key), other !== object else {
            return object.markStale()
        }
        try core.accept(deletionOf: object, by: .rollback)
    }

    /// Restores objects' recorded states, and their places in the identity map.
    private func putBack(_ objects: [DatabaseObject]) {
        let restored = objects.compactMap { object in putBack(object).map { (object, $0.undone, $0.state) } }
        // All of them leave their places before the first takes its former one: keys may have changed hands.
        for (object, undone, _) in restored { object.core.leave(object, undone) }
        var cores: [ObjectIdentifier: ContextCore] = [:]
        for (object, undone, state) in restored {
            object.core.enter(object, from: undone, to: state, in: scope.outer)
            if state.status == .inserted { cores[ObjectIdentifier(object.core)] = object.core }
        }
        for core in cores.values { core.staged.withLock { $0.sortNew() } }
    }

    /// Restores an object's recorded state; returns its state before and after.
    private func putBack(_ object: DatabaseObject) -> (undone: ObjectState, state: ObjectState)? {
        // Under the lock of recorded states, so that a concurrent change applies to one or the other.
        return entries.withLock { entries in
            guard let state = entries.before[ObjectIdentifier(object)]?.state else { return nil }
            return object.withState { current in
                let undone = current
                current = state
                // Answers read inside the failed transaction are stale.
                current.changed(at: object.core.tick())
                // Relationships loaded outside stay, unless they were loaded by other keys.
                let finding = object.runtime.findingColumns
                let isFoundAlike = finding.allSatisfy { undone.storedRow.hasSameBytes(as: state.storedRow, at: $0) }
                if isFoundAlike { current.relationships.adopt(undone.relationships) }
                return (undone, state)
            }
        }
    }
}

extension ContextCore {
    /// Removes an object from the key that it had in an undone scope.
    fileprivate func leave(_ object: DatabaseObject, _ undone: ObjectState) {
        guard let key = undone.key(object.runtime) else { return }
        withMap { $0.remove(object, object.runtime, key) }
    }

    /// Puts a restored object at its key in the identity map.
    ///
    /// - Parameter outer: the scope around the undone one, which may have stored the row and may be rolled back too.
    fileprivate func enter(
        _ object: DatabaseObject, from undone: ObjectState, to state: ObjectState, in outer: TransactionScope?
    ) {
        let entity = object.runtime
        if let key = state.key(entity), state.status != .deleted {
            withMap { map in
                map.insert(object, entity, key)
                map.notes.noteStored(entity, key, in: outer)
            }
        }
        if undone.stagingBox != nil || state.stagingBox != nil { releaseIfUnstaged(object) }
    }
}

extension DatabaseObject {
    /// Marks a stored row that may have been undone: it is read again before it is used.
    fileprivate func markStale() {
        guard !runtime.key.isEmpty else { return }
        let time = core.tick()
        withState { $0.becomeStale(at: time) }
    }
}
