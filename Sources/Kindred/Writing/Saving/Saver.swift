import KindredPostgres
import Synchronization

/// Writes staged changes: all of a context, or the changes of one object and of the new objects that it points to.
struct Saver: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Writes everything that is staged, in one transaction.
    func save() async throws {
        let objects = prepareSave { core.staged.withLock { $0.objects } }
        try await save(objects, pairs: core.staged.withLock { $0.pairs })
    }

    /// Writes the staged changes of an object and of the new objects that it points to.
    func save(_ object: DatabaseObject) async throws {
        guard object.hasChanges else { return try await save([], pairs: []) }
        let found = prepareSave { Self.withNewDestinations(object) }
        let seen = Set(found)
        let pairs = core.staged.withLock { $0.pairs }.filter { pair, _ in
            (seen.contains(pair.source) || !pair.source.isInserted)
                && (seen.contains(pair.destination) || !pair.destination.isInserted)
                && (seen.contains(pair.source) || seen.contains(pair.destination))
        }
        try await save(found.filter(\.hasChanges), pairs: pairs)
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

    /// An object with the new objects that it points to, directly or not.
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
        guard !objects.isEmpty || !pairs.isEmpty else {
            // A mistake may be the reason why nothing is staged.
            if let error = KindredError(Validator(core).mistakes()) { throw error }
            return
        }
        core.saves.add(1, ordering: .acquiringAndReleasing)
        var isSaved = false
        defer {
            core.saves.subtract(1, ordering: .acquiringAndReleasing)
            // A save that succeeded throws no error that would tell of lost changes.
            core.isLossKnown.store(!isSaved, ordering: .relaxed)
        }
        try await Refresher(core).readStale(objects + pairs.flatMap { [$0.pair.source, $0.pair.destination] })
        let missing = objects.filter(\.isGone)
        guard missing.isEmpty else { throw core.gone(missing) }
        let objects = try await withPlacedMembers(objects)
        if let error = KindredError(try await Validator(core).problems(of: objects)) { throw error }
        let isOutermost = core.journal == nil
        do {
            try await core.transaction { try await run(objects, pairs) }
        } catch let error as PostgresError where isOutermost {
            throw core.runtime.refusedAtEnd(error, among: objects)
        } catch let error as KindredError {
            throw try await TakenPlace(error, among: objects, in: core)?.refusal ?? error
        }
        isSaved = true
    }

    /// The objects, and stored members of ordered sets that get positions before new members.
    private func withPlacedMembers(_ objects: [DatabaseObject]) async throws -> [DatabaseObject] {
        let placed = try await Stager(core).placeNewMembers(among: objects)
        if placed.isEmpty { return objects }
        let known = Set(objects)
        return objects + placed.filter { !known.contains($0) }
    }

    /// Writes the staged changes, in the running transaction: deletions last, unless other objects take their unique
    /// values.
    private func run(_ all: [DatabaseObject], _ allPairs: [(pair: StagedPair, payload: ColumnValues?)]) async throws {
        let pairs = core.staged.withLock { staged in allPairs.filter { staged.contains($0.pair) } }
        var (kept, deleted): ([DatabaseObject], [DatabaseObject]) = ([], [])
        kept.reserveCapacity(all.count)
        // Another save may have written the objects meanwhile.
        for object in all {
            let (status, isDeletion) = object.withState { ($0.status, $0.stagingBox?.staging.isDeletion) }
            guard let isDeletion else { continue }
            try object.requireLive(status)
            if isDeletion { deleted.append(object) } else { kept.append(object) }
        }
        let early = try UniqueClaims.earlyDeletions(deleted, kept)
        let constraints = UniqueClaims.constraintsToDefer(kept, deleted)
        try await set(constraints, areDeferred: true, among: kept)
        do {
            try await deleteSaved(early.first)
            let storing = Storing(kept, pairs, deleting: early.afterLeavers, in: core)
            while let left = try await core.write({ try await storing.proceed() }) { try await deleteSaved(left) }
        } catch let error as KindredError where error.code == .staleObject && !deleted.isEmpty {
            throw try await error.withConflicts(of: kept + deleted)
        }
        // The early deletions may have cascaded to other deleted objects.
        try await deleteSaved(deleted.filter { !$0.isDeleted && $0.isDeletionStaged })
        try await set(constraints, areDeferred: false, among: kept)
    }

    /// `SET CONSTRAINTS`: values may change hands by several statements, and are checked after the last.
    func set(_ constraints: [QualifiedName], areDeferred: Bool, among objects: [DatabaseObject]) async throws {
        guard !constraints.isEmpty else { return }
        do {
            _ = try await core.client.execute(
                try ConstraintStatements.set(constraints, areDeferred: areDeferred))
        } catch let error as PostgresError {
            throw core.runtime.refusedAtEnd(error.lacking(.deferrableKeys), among: objects)
        }
    }

    private func deleteSaved(_ objects: [DatabaseObject]) async throws {
        guard !objects.isEmpty else { return }
        do {
            try await Deleter(core).deleteInTransaction(objects)
        } catch let missing as MissingRows {
            throw try core.lost(missing.objects)
        }
    }
}
