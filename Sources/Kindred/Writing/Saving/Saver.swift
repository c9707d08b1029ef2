import KindredPostgres
import Synchronization

/// Writes staged changes: all of a context, or the changes of one object and of the new objects that it points to.
struct Saver: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Writes everything that is staged, in one transaction.
    func save() async throws {
        let objects = prepareSave { core.staged.withLock { $0.objects } }
        try await save(objects, pairs: core.staged.withLock { $0.hasPairs ? $0.pairs : [] })
    }

    /// Writes the staged changes of an object and of the new objects that it points to.
    func save(_ object: DatabaseObject) async throws {
        guard object.hasStagedChanges else { return try await save([], pairs: []) }
        let found = prepareSave { Self.withNewDestinations(object) }
        let seen = Set(found)
        let pairs = core.staged.withLock { $0.pairs }.filter { pair, _ in
            (seen.contains(pair.source) || !pair.source.isInserted)
                && (seen.contains(pair.destination) || !pair.destination.isInserted)
                && (seen.contains(pair.source) || seen.contains(pair.destination))
        }
        try await save(found.filter(\.hasStagedChanges), pairs: pairs)
    }

    /// Calls `willSave`, which may stage more, once for each object to save; returns all of them.
    private func prepareSave(_ objects: () -> [DatabaseObject]) -> [DatabaseObject] {
        var called = Set<DatabaseObject>()
        while true {
            let found = objects()
            let next = found.filter { core.awakes($0.runtime, $0) && $0.hasStagedChanges && called.insert($0).inserted }
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
        let ends = pairs.isEmpty ? [] : pairs.flatMap { [$0.pair.source, $0.pair.destination] }
        try await Refresher(core).readStale(ends.isEmpty ? objects : objects + ends)
        if objects.contains(where: \.isGone) { throw core.gone(objects.filter(\.isGone)) }
        let joinsOrder = objects.contains { $0.runtime.joinsOrderedSets }
        let objects = joinsOrder ? try await withPlacedMembers(objects) : objects
        let problems = try await Validator(core).problems(of: objects)
        if !problems.isEmpty, let error = KindredError(problems) { throw error }
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

    /// Writes the staged changes, in the running transaction.
    private func run(_ objects: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: ColumnValues?)]) async throws {
        switch try SavePlan(objects, pairs) {
        case .plain(let changes):
            try await core.write { try await SaveRun(core).write(changes) }
        case .ordered(let kept, let deleted):
            let pairs = core.staged.withLock { staged in pairs.filter { staged.contains($0.pair) } }
            try await write(kept, pairs, deleting: deleted)
        }
    }

    /// Writes objects that may wait for each other: deletions last, unless other objects take their unique values.
    private func write(
        _ kept: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: ColumnValues?)],
        deleting deleted: [DatabaseObject]
    ) async throws {
        let deleter = Deleter(core)
        let early = try UniqueClaims.earlyDeletions(deleted, kept)
        let checks = LateChecks(UniqueClaims.constraintsToDefer(kept, deleted), of: kept, in: core)
        try await checks.putOff()
        do {
            try await deleter.deleteStaged(early.first)
            try await Storing(kept, pairs, deleting: early.afterLeavers, in: core).run()
        } catch let error as KindredError where error.code == .staleObject && !deleted.isEmpty {
            throw try await error.withConflicts(of: kept + deleted)
        }
        // The early deletions may have cascaded to other deleted objects.
        try await deleter.deleteStaged(deleted.filter { !$0.isDeleted && $0.isDeletionStaged })
        try await checks.run()
    }
}

extension Saver {
    /// Runs `body` and saves, in one transaction; after a conflict or a lost connection again, with the objects concerned locked
    /// and read again.
    ///
    /// - Parameter place: the public call.
    func save<T>(
        isolation: IsolationLevel?, retry: RetryPolicy, at place: SourcePlace, _ body: () async throws -> T
    ) async throws -> T {
        let client = core.client
        let isNested = client.isInTransaction
        var concerned: [DatabaseObject] = []
        var attempt = 1
        while true {
            var attempted: TransactionJournal?
            do {
                // This loop repeats the transaction, since each attempt first locks the objects concerned.
                let options = TransactionOptions(isolation: isolation, retry: .none)
                return try await core.transaction(options, at: place) {
                    attempted = core.journal
                    try await client.called(at: place) { try await Refresher(core).refreshAndLock(concerned) }
                    let result = try await body()
                    try await client.called(at: place) { try await save() }
                    return result
                }
            } catch  where attempt < retry.attempts && mayRetry(error, isNested: isNested) {
                let conflicts = (error as? KindredError)?.conflicts ?? []
                var seen = Set<DatabaseObject>()
                concerned = (concerned + conflicts.map(\.object) + (attempted?.changedObjects ?? []))
                    .filter { $0.core === core && seen.insert($0).inserted }
                try await client.pause(after: attempt)
                attempt += 1
            }
        }
    }

    /// Whether an attempt failed only because of concurrent writers, lost its connection before COMMIT, or met a server that takes
    /// no writes.
    private func mayRetry(_ error: any Error, isNested: Bool) -> Bool {
        if let error = error as? KindredError, error.code == .staleObject { return true }
        return !isNested && core.client.mayRetry(error)
    }
}
