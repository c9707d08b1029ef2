import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Writes everything that is staged, in one transaction: new objects, referenced ones first; then changed
    /// attributes; then pairs of many-to-many relationships; then deletions, with their delete rules.
    ///
    /// Deletions come first where a new or changed object takes a key or another unique value of a deleted one, unless
    /// an object leaves the deleted one in the same save: then the object comes before the deletion. A unique value is
    /// released before another object takes it; in a cycle of values, one is NULL temporarily. `DEFERRABLE` constraints
    /// are deferred for a save that writes their table by more than one statement.
    ///
    /// Where only the server can tell which values conflict, as in an index of expressions or `citext` and an EXCLUDE
    /// constraint, and several objects change, one SELECT asks it first. New objects that require each other are stored
    /// if their keys are given, by one INSERT if they are of one entity, else if their foreign keys are `DEFERRABLE`.
    ///
    /// One INSERT for each entity and set of given columns, one UPDATE for each entity and set of changed columns, one
    /// INSERT for each helper table; nothing if nothing is staged. Of 5,000 rows and more the last eighth has its own
    /// statement in the same pipeline, so that the server works while the other rows are applied to memory; no
    /// statement has more than 25,000 rows. Afterwards objects have the keys and defaults that the database assigned.
    /// Hooks run first, then everything is validated, before anything is sent.
    ///
    /// After an error, nothing is written and everything stays staged. Throws `KindredError` with all `problems` by
    /// object and key: values that are missing, too large or of the wrong type, keys that do not exist, also read ones,
    /// errors of `validate`, constraints that refused an object; `.objectDeleted` if a row is gone; `.staleObject` with
    /// the `conflicts` if another transaction has changed rows since they were read, where the entity has optimistic
    /// locking. Inside a transaction it is a savepoint.
    ///
    /// Saves of one context run one after the other. Changes staged while a save is running stay staged.
    public func save(fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) {
            let objects = prepareSave { self.core.staged.withLock { $0.objects } }
            try await save(objects, pairs: core.staged.withLock { $0.pairs })
        }
    }

    /// Calls `willSave`, which may stage more, once for each object to save; returns all of them.
    private func prepareSave(_ objects: () -> [DatabaseObject]) -> [DatabaseObject] {
        var called = Set<DatabaseObject>()
        while true {
            let found = objects()
            let next = found.filter { core.awakes($0.runtime, $0) && $0.hasChanges && called.insert($0).inserted }
            if next.isEmpty { return found }
            for object in next { core.callWillSave(object) }
        }
    }

    /// Writes the staged changes of an object and of the new objects that it points to.
    func save(_ object: DatabaseObject) async throws {
        guard object.hasChanges else { return }
        let found = prepareSave { Self.withNewDestinations(object) }
        let seen = Set(found)
        let pairs = core.staged.withLock { $0.pairs }.filter { pair, _ in
            (seen.contains(pair.source) || !pair.source.isInserted)
                && (seen.contains(pair.destination) || !pair.destination.isInserted)
                && (seen.contains(pair.source) || seen.contains(pair.destination))
        }
        try await save(found.filter(\.hasChanges), pairs: pairs)
    }

    /// An object with the new ones that it points to, directly or not.
    private static func withNewDestinations(_ object: DatabaseObject) -> [DatabaseObject] {
        var found = [object]
        var seen = Set(found)
        var next = 0
        while next < found.count {
            let new = found[next].withState { $0.staging?.destinations.values.map { $0 } } ?? []
            for object in new where seen.insert(object).inserted { found.append(object) }
            next += 1
        }
        return found
    }

    private func save(_ objects: [DatabaseObject], pairs: [(pair: StagedPair, payload: ColumnValues?)]) async throws {
        guard !objects.isEmpty || !pairs.isEmpty else { return }
        core.saves.add(1, ordering: .acquiringAndReleasing)
        defer { core.saves.subtract(1, ordering: .acquiringAndReleasing) }
        try await readStale(objects + pairs.flatMap { [$0.pair.source, $0.pair.destination] })
        let missing = objects.filter(\.isGone)
        guard missing.isEmpty else { throw core.gone(missing) }
        let known = Set(objects)
        let objects = try await objects + placeNewMembers(among: objects).filter { !known.contains($0) }
        if let error = KindredError(try await problems(of: objects)) { throw error }
        let isOutermost = core.journal == nil
        do {
            try await transaction { try await run(objects, pairs) }
        } catch let error as PostgresError where isOutermost {
            throw refusedAtEnd(error, among: objects)
        }
    }

    /// Writes the staged changes, in the running transaction: deletions last, unless other objects take their unique
    /// values.
    private func run(_ all: [DatabaseObject], _ allPairs: [(pair: StagedPair, payload: ColumnValues?)]) async throws {
        let pairs = core.staged.withLock { staged in allPairs.filter { staged.contains($0.pair) } }
        var (kept, deleted): ([DatabaseObject], [DatabaseObject]) = ([], [])
        kept.reserveCapacity(all.count)
        // Another save may have written the objects meanwhile.
        for object in all where object.hasChanges {
            try object.requireLive()
            if object.isDeletionStaged { deleted.append(object) } else { kept.append(object) }
        }
        let early = try UniqueClaims.earlyDeletions(deleted, kept)
        let constraints = UniqueClaims.constraintsToDefer(kept, deleted)
        try await set(constraints, areDeferred: true, among: kept)
        do {
            try await deleteSaved(early.first)
            let storing = Storing(kept, pairs, deleting: early.afterLeavers, in: self)
            while let left = try await core.write({ try await storing.proceed() }) { try await deleteSaved(left) }
        } catch let error as KindredError where error.code == .staleObject && !deleted.isEmpty {
            throw try await error.withConflicts(of: kept + deleted)
        }
        // The early deletions may have cascaded to others.
        try await deleteSaved(deleted.filter { !$0.isDeleted })
        try await set(constraints, areDeferred: false, among: kept)
    }

    /// `SET CONSTRAINTS`: values may change hands by several statements, and are checked after the last.
    func set(_ constraints: [QualifiedName], areDeferred: Bool, among objects: [DatabaseObject]) async throws {
        guard !constraints.isEmpty else { return }
        do {
            _ = try await client.execute(try ConstraintStatements.set(constraints, areDeferred: areDeferred))
        } catch let error as PostgresError {
            throw refusedAtEnd(error, among: objects)
        }
    }

    private func deleteSaved(_ objects: [DatabaseObject]) async throws {
        guard !objects.isEmpty else { return }
        do {
            try await deleteInTransaction(objects)
        } catch let missing as MissingRows {
            throw core.gone(missing.objects)
        }
    }
}

extension DatabaseObject {
    /// Writes this object's staged changes, and stores the new objects that it points to; nothing if nothing is staged.
    ///
    /// A transaction with one statement for each entity concerned. Throws as `DatabaseContext.save()` does.
    public func save(fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) { try await context.save(self) }
    }
}
