import KindredPostgres
import Synchronization

/// Brings the database's changes to contexts.
package protocol ContextFeed: AnyObject, Sendable {
    /// Returns once changes of the entities' rows reach a context from now on.
    ///
    /// - Throws: `KindredError` `.trackingNotEnabled` with the names of tables whose changes are not recorded.
    func follow(_ entities: [EntityRuntime], in core: ContextCore) async throws

    /// Asks for changes soon: a context has something to ask for again.
    func askForStep()

    /// Called when a context is gone, under any lock.
    func contextEnded()
}

/// The state of following the database's changes, of a context that does.
package final class ChangeFollowing: Sendable {
    /// The number of an owner's members, as it was counted.
    package struct Count {
        package weak var owner: DatabaseObject?
        package let number: Int
        /// The time at which it was asked for.
        package let askedAt: ContextTime

        package init(owner: DatabaseObject?, number: Int, askedAt: ContextTime) {
            (self.owner, self.number, self.askedAt) = (owner, number, askedAt)
        }
    }

    package struct State {
        /// The entities whose rows the context has read; their changes reach it.
        package var entities: Set<EntityRuntime> = []
        /// The relationships that were followed, or counted.
        package var relationships: Set<RelationshipRuntime> = []
        /// The counts that the program has asked for, by the owners' keys.
        package var counts: [RelationshipRuntime: [ObjectKey: Count]] = [:]
        /// Rows to be asked for again, because it is unknown whether the context or another client has changed them
        /// later.
        package var doubtful: [EntityRuntime: [ObjectKey: ContextTime]] = [:]
        /// The time at which changes of an entity's rows were left out, because no object had them: answers that were
        /// on their way may be older.
        package var leftOut: [EntityRuntime: ContextTime] = [:]
        /// The number of times that everything in memory had to be asked for again: nothing was followed for a while,
        /// or an old snapshot was read.
        package var reloads = 0
        /// The changes that were checked; nil if everything is to be checked.
        package var checked: ChangeStamp? = ChangeStamp()
        /// The columns that rows are read without, because tables no longer have them, or have other columns in their
        /// places.
        var lacking: [EntityRuntime: ColumnSet] = [:]
        /// Why changes no longer reach the context.
        var failure: (any Error)?

        /// The limit of doubtful rows of an entity: many rows are not asked for one by one.
        private static let maximumDoubts = 10_000
        /// The number of counts above which the counts of owners that have left memory are dropped.
        private var maximumCounts = 1_000

        /// Whether any row of an entity may belong to a relationship that was followed.
        package func isLinked(_ entity: EntityRuntime) -> Bool {
            relationships.contains { $0.destination === entity || $0.helper?.entity === entity }
        }

        /// Has rows asked for again; if there are too many, everything.
        mutating func doubt(_ entity: EntityRuntime, _ keys: some Collection<ObjectKey>, at time: ContextTime) {
            for key in keys { doubtful[entity, default: [:]][key] = time }
            guard let count = doubtful[entity]?.count, count > Self.maximumDoubts else { return }
            doubtful[entity] = nil
            reloads += 1
        }

        fileprivate mutating func keep(_ count: Count, of relationship: RelationshipRuntime, _ owner: ObjectKey) {
            counts[relationship, default: [:]][owner] = count
            guard counts.values.reduce(0, { $0 + $1.count }) > maximumCounts else { return }
            dropCounts()
            maximumCounts = max(1_000, 2 * counts.values.reduce(0) { $0 + $1.count })
        }

        /// Drops the counts of owners that have left memory.
        package mutating func dropCounts() {
            counts = counts.mapValues { $0.filter { $0.value.owner != nil } }
        }
    }

    /// Tells whether changes have made anything in a context stale.
    package struct ChangeStamp: Equatable {
        var undoCount: UInt64 = 0
        var staleCount = 0

        package init(undoCount: UInt64 = 0, staleCount: Int = 0) {
            (self.undoCount, self.staleCount) = (undoCount, staleCount)
        }
    }

    /// Whether the running code takes changes of other clients, so that these are not the context's own.
    @TaskLocal package static var isTakingChanges = false

    let feed: any ContextFeed
    private let state = RankedMutex(State(), .leaf)
    /// The time of the last change by the context itself.
    private let ownChangedAt = Atomic(ContextTime.never)
    private let wasStarted = Atomic(false)

    init(_ feed: any ContextFeed) {
        self.feed = feed
    }

    deinit {
        if wasStarted.load(ordering: .relaxed) { feed.contextEnded() }
    }

    package func withState<T: Sendable>(_ body: (inout sending State) throws -> sending T) rethrows -> T {
        try state.withLock { try body(&$0) }
    }

    // MARK: Reading

    /// Waits until changes of entities' rows reach the context.
    func follow(_ entities: [EntityRuntime], in core: ContextCore) async throws {
        let isKnown = try state.withLock { state in
            if let failure = state.failure { throw failure }
            return entities.allSatisfy(state.entities.contains)
        }
        if isKnown { return }
        wasStarted.store(true, ordering: .relaxed)
        try await feed.follow(entities, in: core)
    }

    /// Waits until changes reach the objects of a relationship.
    func follow(_ relationship: RelationshipRuntime, in core: ContextCore) async throws {
        let entities =
            [relationship.source, relationship.destination] + (relationship.helper.map { [$0.entity] } ?? [])
        try await follow(entities, in: core)
        state.withLock { _ = $0.relationships.insert(relationship) }
    }

    /// Called when changes of entities' rows reach the context; throws if they never will again.
    package func begin(_ entities: [EntityRuntime]) throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.entities.formUnion(entities)
        }
    }

    /// Called when changes no longer reach the context: the next use begins anew.
    ///
    /// - Parameter error: why they never will again; nil if they may.
    package func end(_ error: (any Error)? = nil) {
        state.withLock { state in
            state.entities = []
            state.reloads += 1
            state.failure = error
        }
    }

    /// Called after a transaction whose snapshot may be older than the rows that the context shows.
    func readOldSnapshot() {
        guard wasStarted.load(ordering: .relaxed) else { return }
        state.withLock { $0.reloads += 1 }
        feed.askForStep()
    }

    // MARK: Counts

    /// The number of an owner's members as it was counted last, if nothing has changed since.
    func count(_ relationship: RelationshipRuntime, _ owner: ObjectKey, since time: ContextTime) -> Int? {
        state.withLock { state in
            guard let count = state.counts[relationship]?[owner], count.askedAt >= time else { return nil }
            return count.number
        }
    }

    func keep(_ count: Count, of relationship: RelationshipRuntime, _ owner: ObjectKey) {
        state.withLock { $0.keep(count, of: relationship, owner) }
    }

    /// Called where something in memory may have become stale: it is looked for, and read again.
    func becameStale(at time: ContextTime) {
        ownChangedAt.store(time, ordering: .releasing)
        feed.askForStep()
    }

    // MARK: Changes by the context

    /// Called at each change.
    func changed(at time: ContextTime) {
        if !Self.isTakingChanges { ownChangedAt.store(time, ordering: .releasing) }
    }

    /// Whether the context itself has changed anything since a time.
    package func hasChanged(since time: ContextTime) -> Bool { ownChangedAt.load(ordering: .acquiring) > time }

    /// Called when the context has written rows: another client may have changed them before the answer came.
    func wrote(_ entity: EntityRuntime, _ keys: some Collection<ObjectKey>, at time: ContextTime) {
        if Self.isTakingChanges { return }
        state.withLock { state in
            if state.entities.contains(entity) { state.doubt(entity, keys, at: time) }
        }
    }

    /// Whether changes of an entity's rows were left out after a time.
    func hasLeftOut(_ entity: EntityRuntime, since time: ContextTime) -> Bool {
        state.withLock { ($0.leftOut[entity] ?? .never) > time }
    }

    /// Called for rows that an answer brought, and that had no objects when changes of them were left out.
    func arrived(_ keys: [ObjectKey], of entity: EntityRuntime, at time: ContextTime) {
        if keys.isEmpty { return }
        state.withLock { $0.doubt(entity, keys, at: time) }
        feed.askForStep()
    }
}
