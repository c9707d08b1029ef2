import KindredPostgres
import Synchronization

/// What the objects were before a transaction, or a savepoint's scope, changed them.
///
/// Bound to the task like the transaction itself, so that objects of every context of the database that is used inside
/// are covered. A task may be in transactions of several databases, of which each has its own.
final class TransactionJournal: Sendable {
    @TaskLocal private static var innermost: TransactionJournal?

    private let database: Database
    private let outer: TransactionJournal?
    /// The journal of the scope around it, of the same database.
    private let enclosing: TransactionJournal?
    /// What is read and noted inside refers to this.
    let scope: TransactionScope
    /// The contexts that the transaction may change.
    let turns: ContextTurns

    init(_ database: Database, _ turns: ContextTurns) {
        self.turns = turns
        self.database = database
        outer = Self.innermost
        enclosing = Self.current(of: database)
        scope = TransactionScope(within: enclosing?.scope)
    }

    /// The journal of the task's transaction on a database, if there is one that has to remember anything.
    static func current(of database: Database) -> TransactionJournal? {
        var journal = innermost
        while let found = journal, found.database !== database { journal = found.outer }
        return journal
    }

    /// Runs `body` with a journal, or with none of any database.
    static func with<T>(_ journal: TransactionJournal?, _ body: () async throws -> T) async rethrows -> T {
        try await $innermost.withValue(journal, operation: body)
    }

    /// Whether this is a journal, or one of a scope inside of it.
    func isWithin(_ journal: TransactionJournal) -> Bool {
        self === journal || outer?.isWithin(journal) == true
    }

    private struct Entries {
        /// The contexts of the objects that are remembered, which know of the journal.
        var contexts: [DatabaseContext] = []
        var before: [ObjectIdentifier: (object: DatabaseObject, state: ObjectState)] = [:]
        /// New objects that were stored when nothing was in `before`: what is there of them came later, and does not count.
        var stored: [ArraySlice<SavedObject>] = []
        var created: [DatabaseObject] = []
        var fetched: [WeakObject] = []
        var rows: [(context: DatabaseContext, entity: Int, key: ObjectKey, row: LatestRow?)] = []
        var losses: [(context: DatabaseContext, entity: Int, time: UInt64, before: LostRows)] = []
        var pairs: [StagedPair: (context: DatabaseContext, entry: StagedChanges.PairEntry?)] = [:]
        /// Owners whose members are to be counted at the end, as they came or went.
        var counted: [ObjectIdentifier: (context: DatabaseContext, ends: Set<StagedLinks.End>)] = [:]

        /// Takes in what came later, which counts less, and leaves it undefined.
        ///
        /// The fewer entries go to the more, so that deep nesting does not move each of them once for every scope.
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
            // These are undone in the order in which they came.
            rows += later.rows
            losses += later.losses
            counted.merge(later.counted) { ($0.context, $0.ends.union($1.ends)) }
        }

        /// Gives each stored object an entry of its own.
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

    private let entries = Mutex(Entries())
    /// Orders the writes of the scope among themselves; a scope inside is one of them.
    let writeLock = AsyncGate()

    /// Remembers an object's state before its first change.
    func record(_ object: DatabaseObject) {
        record(CollectionOfOne(object))
    }

    /// Remembers objects' states before their first change.
    func record(_ objects: some Collection<DatabaseObject>) {
        entries.withLock { entries in
            if objects.count > 1 { entries.before.reserveCapacity(entries.before.count + objects.count) }
            for object in objects {
                enter(object.context, &entries)
                // One look-up: what is there stays.
                func keep(_ entry: inout (object: DatabaseObject, state: ObjectState)) {}
                keep(&entries.before[ObjectIdentifier(object), default: (object, object.withState { $0 })])
            }
        }
    }

    /// Remembers new objects that are being stored, each as it was when its statement was made.
    func record(stored saved: ArraySlice<SavedObject>) {
        let isRecorded = entries.withLock { entries in
            guard entries.before.isEmpty, saved.allSatisfy(\.isAllThatWasKnown) else { return false }
            if let first = saved.first { enter(first.object.context, &entries) }
            entries.stored.append(saved)
            return true
        }
        if !isRecorded { record(saved.lazy.map(\.object)) }
    }

    /// Tells a context of the journal before the first of its objects is remembered.
    private func enter(_ context: DatabaseContext, _ entries: inout Entries) {
        if entries.contexts.last === context || entries.contexts.contains(where: { $0 === context }) { return }
        entries.contexts.append(context)
        if let enclosing { enclosing.touch(context) } else { context.begin(scope) }
        context.core.journals.insert(self)
    }

    /// Says that a context changes, though none of its objects need to be remembered.
    func touch(_ context: DatabaseContext) {
        entries.withLock { enter(context, &$0) }
    }

    /// Changes what is remembered of an object; returns the stored row that was remembered, nil if nothing is.
    ///
    /// - Parameter row: the only stored row of which the change is true; nil where it is true of each.
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

    /// The contexts that have changed.
    var contexts: [DatabaseContext] { entries.withLock { $0.contexts } }

    /// Says that the transaction was committed.
    func commit() { finish() }

    /// Says that nothing will be put back any more.
    private func finish() {
        for context in contexts { context.core.journals.remove(self) }
        guard scope.root === scope else { return }
        scope.end()
        for context in contexts { context.end(scope) }
    }

    /// The objects that were changed, but for those that were made inside.
    var changedObjects: [DatabaseObject] {
        entries.withLock { entries in
            entries.listStored()
            let created = Set(entries.created)
            return entries.before.values.map(\.object).filter { !created.contains($0) }
        }
    }

    /// The objects whose rows were created inside.
    var createdObjects: [DatabaseObject] { entries.withLock { $0.created.filter { !$0.isInserted } } }

    /// Remembers an object whose row the transaction stored.
    func recordCreated(_ object: DatabaseObject) {
        entries.withLock { entries in
            enter(object.context, &entries)
            entries.created.append(object)
        }
    }

    /// Remembers objects that were read inside, since what they show may be undone.
    func recordFetched(_ objects: [DatabaseObject]) {
        entries.withLock { $0.fetched += objects.map { WeakObject(object: $0) } }
    }

    /// Remembers the row that loaded relationships were to show for a row that nobody holds.
    func recordLatestRow(_ row: LatestRow?, _ entity: Int, _ key: ObjectKey, in context: DatabaseContext) {
        entries.withLock { entries in
            enter(context, &entries)
            entries.rows.append((context, entity, key, row))
        }
    }

    /// Remembers what was known of an entity's lost rows before others went.
    func recordLostRows(_ before: LostRows, _ entity: Int, at time: UInt64, in context: DatabaseContext) {
        entries.withLock { entries in
            enter(context, &entries)
            entries.losses.append((context, entity, time, before))
        }
    }

    /// Remembers that an owner's members came or went.
    func count(_ relationship: RelationshipRuntime, _ owner: ObjectKey, in context: DatabaseContext) {
        let end = StagedLinks.End(relationship, owner)
        _ = entries.withLock { entries in
            entries.counted[ObjectIdentifier(context), default: (context, [])].ends.insert(end)
        }
    }

    /// Takes the owners whose members are to be counted.
    func takeCounted() -> [(context: DatabaseContext, ends: Set<StagedLinks.End>)] {
        entries.withLock { entries in
            defer { entries.counted = [:] }
            return Array(entries.counted.values)
        }
    }

    /// Remembers whether and where a pair was staged before its first change.
    func record(_ pair: StagedPair, in context: DatabaseContext) {
        let entry = context.core.staged.withLock { $0.entry(of: pair) }
        entries.withLock { entries in
            if entries.pairs[pair] == nil { entries.pairs[pair] = (context, entry) }
        }
    }

    /// Passes everything on to the enclosing scope, whose own earlier memories count more, and forgets it here.
    func merge(into outer: TransactionJournal) {
        entries.withLock { inner in
            outer.entries.withLock { entries in
                for context in inner.contexts { outer.enter(context, &entries) }
                entries.append(&inner)
            }
            inner = Entries(contexts: inner.contexts)
        }
        finish()
    }

    /// Puts every object back as it was; returns those that were first read inside and may show undone values.
    func undo() throws -> [DatabaseObject] {
        scope.undo()
        let entries = entries.withLock { entries in
            entries.listStored()
            return entries
        }
        defer {
            for context in entries.contexts { context.noteUndone() }
            finish()
        }
        for (context, entity, key, row) in entries.rows.reversed() {
            context.withMap { $0.setLatestRow(row, entity, key) }
        }
        for (context, entity, time, before) in entries.losses.reversed() {
            context.withMap { $0.undoLostRows(entity, at: time, before) }
        }
        let created = Set(entries.created)
        for (pair, before) in entries.pairs {
            before.context.core.staged.withLock { $0.put(pair, before.entry) }
        }
        var contexts: [ObjectIdentifier: DatabaseContext] = [:]
        for (object, _) in entries.before.values where !created.contains(object) {
            guard let (undone, state) = putBack(object) else { continue }
            object.context.moved(object, from: undone, to: state)
            if state.status == .inserted { contexts[ObjectIdentifier(object.context)] = object.context }
        }
        for context in contexts.values { context.core.staged.withLock { $0.sortNew() } }
        // Behind the others, which refer to them no more: what was staged instead stays.
        for (_, new) in Dictionary(grouping: created.filter(\.isInserted), by: { ObjectIdentifier($0.context) }) {
            new[0].context.rollback(Set(new))
        }
        for object in created { try object.context.applyDelete(object, isUndone: true) }
        var seen = Set<DatabaseObject>()
        return entries.fetched.compactMap(\.object).filter { object in
            // Also those of which a state is remembered: it is one that they had inside.
            !created.contains(object) && seen.insert(object).inserted
        }
    }

    /// Gives an object the state that is remembered of it; returns what it was, and what it is now.
    private func putBack(_ object: DatabaseObject) -> (undone: ObjectState, state: ObjectState)? {
        // Under the lock under which others change what is remembered, so that they change one or the other.
        entries.withLock { entries in
            guard let state = entries.before[ObjectIdentifier(object)]?.state else { return nil }
            return object.withState { current in
                let undone = current
                current = state
                // Answers that were asked for inside the failed transaction count no more.
                current.changed(at: object.context.tick())
                // What was loaded outside is kept, unless it was asked for by other keys.
                let finding = object.runtime.findingColumns
                let isFoundAlike = finding.allSatisfy { undone.storedRow.hasSameBytes(as: state.storedRow, at: $0) }
                if isFoundAlike { current.relationships.take(undone.relationships) }
                return (undone, state)
            }
        }
    }
}

extension DatabaseContext {
    /// Gives an object that was put back its place in the identity map.
    fileprivate func moved(_ object: DatabaseObject, from undone: ObjectState, to state: ObjectState) {
        let entity = object.runtime
        let (undoneKey, key) = (undone.key(entity), state.key(entity))
        withMap { map in
            if let undoneKey { map.remove(object, entity.index, undoneKey) }
            if let key, state.status != .deleted {
                map.insert(object, entity.index, key)
                map.noteStored(entity.index, key)
            }
        }
        if undone.stagingBox != nil || state.stagingBox != nil { releaseIfUnstaged(object) }
    }
}
