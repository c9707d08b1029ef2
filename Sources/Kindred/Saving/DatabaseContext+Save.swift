import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Writes everything that is staged, in one transaction: new objects, whoever is referenced first; then changed
    /// attributes; then pairs of many-to-many relationships.
    ///
    /// One INSERT for each entity and set of given columns, one UPDATE for each entity and set of changed columns, one
    /// INSERT for each helper table, whatever the numbers; nothing if nothing is staged. Objects have the keys and defaults
    /// that the database gave them afterwards. If it fails, nothing is written and everything stays staged. Throws
    /// `KindredError`: the problems that setters kept, `.objectDeleted` if a row is gone, `.constraintViolation` naming
    /// entity and constraint. Inside a transaction it is a savepoint. One save of a context runs at a time.
    public func save() async throws {
        let objects = staged.withLock { $0.objects }
        try await save(objects, pairs: staged.withLock { $0.pairs })
    }

    /// Writes what is staged on an object and on the new objects that it points to.
    func save(_ object: DatabaseObject) async throws {
        var found = [object]
        var seen = Set(found)
        var next = 0
        while next < found.count {
            let new = found[next].withState { $0.staging?.destinations.values.map { $0 } } ?? []
            for object in new where seen.insert(object).inserted { found.append(object) }
            next += 1
        }
        let pairs = staged.withLock { $0.pairs }.filter { pair, _ in
            (seen.contains(pair.source) || !pair.source.isInserted)
                && (seen.contains(pair.destination) || !pair.destination.isInserted)
                && (seen.contains(pair.source) || seen.contains(pair.destination))
        }
        try await save(found.filter(\.hasChanges), pairs: pairs)
    }

    private func save(_ objects: [DatabaseObject], pairs: [(pair: StagedPair, payload: Assignments?)]) async throws {
        guard !objects.isEmpty || !pairs.isEmpty else { return }
        try requireNoProblems(objects)
        // Saves of the context that are not in a transaction already follow each other.
        if TransactionJournal.current == nil {
            try await write { try await transaction { try await write { try await run(objects, pairs) } } }
        } else {
            try await transaction { try await write { try await run(objects, pairs) } }
        }
    }

    private func run(_ all: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: Assignments?)]) async throws {
        // Another save may have been quicker.
        let objects = all.filter(\.hasChanges)
        for object in objects { try requireLive(object) }
        let run = SaveRun(self)
        let new = objects.filter(\.isInserted)
        var temporaryKeys: [DatabaseObject: ObjectKey] = [:]
        for object in new { temporaryKeys[object] = object.key }
        try release(objects, run)
        try await insertNew(new, run)
        if !new.isEmpty {
            try await run.flush()
            rekeyPairs(temporaryKeys)
        }
        let changed = try objects.filter(\.hasChanges).map { try SavedObject($0) }
        for group in SavedGroup.groups(changed, columns: \.columns) where !group.columns.isEmpty {
            try run.update(group)
        }
        try savePairs(pairs, run)
        try await run.flush()
        withMap { map in
            for (object, key) in temporaryKeys { map.remove(object, object.runtime.index, key) }
        }
    }

    /// Stores new objects, level by level.
    private func insertNew(_ objects: [DatabaseObject], _ run: SaveRun) async throws {
        guard !objects.isEmpty else { return }
        let references = SaveReferences(objects)
        let order = SaveOrder(entities: objects.map(\.runtime.index), edges: references.edges)
        if let first = order.unsolved.first {
            throw KindredError(
                .requiredRelationship,
                """
                New objects of \(objects[first].runtime.name) require each other, so that none can be stored first; make \
                one of their foreign keys nullable
                """,
                entity: objects[first].runtime.name.description
            )
        }
        let deferred = references.deferredSlots(order.deferred)
        for level in order.levels {
            for position in level {
                for (slot, destination) in references.links[position] where !deferred[position].contains(slot) {
                    guard case .foreignKey(_, let referenced) = objects[position].runtime.relationships[slot].link
                    else { continue }
                    try await run.requireKnown(destination, referenced)
                }
            }
            let saved = try level.map { try SavedObject(objects[$0], deferring: deferred[$0]) }
            for group in SavedGroup.insertions(saved) { try run.insert(group) }
        }
    }

    /// Throws what setters could not.
    private func requireNoProblems(_ objects: [DatabaseObject]) throws {
        for object in objects {
            let problems = object.withState { $0.staging?.problems } ?? [:]
            if let problem = problems.min(by: { $0.key < $1.key })?.value { throw problem }
        }
    }
}

extension DatabaseObject {
    /// Writes what is staged on this object, and stores the new objects that it points to; nothing if nothing is staged.
    ///
    /// A transaction with one statement for each entity concerned. Throws as ``DatabaseContext/save()`` does.
    public func save() async throws {
        try await context.save(self)
    }
}
