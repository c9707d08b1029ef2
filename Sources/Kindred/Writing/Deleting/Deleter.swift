import KindredPostgres
import KindredSchema

/// Deletes objects with their delete rules: by one DELETE where the database's own actions do everything that the rules
/// ask for, else by a search for the rows that the rules reach.
struct Deleter: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Deletes objects, all of them or none, as if at once; from a hook, as part of the deletion that runs it.
    ///
    /// - Parameter permanently: whether rows go that would be marked as deleted.
    func delete(_ objects: some Sequence<DatabaseObject>, permanently: Bool = false) async throws {
        let objects = try await deletable(objects)
        var (gone, marked) = split(objects, permanently: permanently)
        if let run = DeletionRun.current(in: core) {
            run.request((run.isMarking ? marked : gone).filter { !$0.isDeleted })
            // The other objects are deleted by themselves.
            (gone, marked) = (run.isMarking ? gone : [], run.isMarking ? [] : marked)
            (gone, marked) = (gone.filter { !$0.isDeleted }, marked.filter { !$0.isDeleted })
        }
        guard !gone.isEmpty else { return try await mark(marked) }
        guard marked.isEmpty else {
            let both = gone + marked
            return try await reporting(both) {
                try await core.transaction { try await deleteInTransaction(both, permanently: permanently) }
            }
        }
        try await deleteForGood(gone)
    }

    /// Objects that may be deleted, each once.
    func deletable(_ objects: some Sequence<DatabaseObject>) async throws -> [DatabaseObject] {
        var seen = Set<DatabaseObject>()
        let objects = objects.filter { seen.insert($0).inserted }
        try await Refresher(core).readStale(objects)
        for object in objects { try requireDeletable(object) }
        return objects
    }

    /// The objects whose rows are deleted, and the objects whose rows are marked.
    func split(
        _ objects: [DatabaseObject], permanently: Bool
    ) -> (gone: [DatabaseObject], marked: [DatabaseObject]) {
        if permanently { return (objects, []) }
        return (objects.filter { $0.runtime.deletionMark == nil }, objects.filter { $0.runtime.deletionMark != nil })
    }

    private func deleteForGood(_ objects: [DatabaseObject]) async throws {
        guard let entity = objects.first?.runtime else { return }
        let rules = deletionRules(objects.map(\.runtime))
        try await reporting(objects) {
            if rules.isLeftToDatabase, objects.allSatisfy({ $0.runtime === entity }) {
                let groups = try entity.tenantGroups(objects, of: entity.key) { try $0.requireKey() }
                try await atOnce(entity, isSplit: groups.count > 1) {
                    for objects in groups { try await deleteAtOnce(objects, entity) }
                }
            } else {
                try await core.transaction { try await deleteInTransaction(objects, permanently: true) }
            }
        }
    }

    /// Runs a deletion of objects, and throws errors that name the missing objects, or the row that the database
    /// refused.
    func reporting(_ objects: [DatabaseObject], _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let missing as MissingRows {
            throw try core.lost(missing.objects)
        } catch let error as PostgresError {
            let keys = Dictionary(grouping: objects, by: \.runtime).mapValues { $0.compactMap(\.key) }
            throw KindredError(refusedDeletion: error, core.runtime, among: keys)
                ?? core.runtime.refusedAtEnd(error, among: [])
        }
    }

    /// Deletes objects of a save, whose transaction is running; sends nothing for none.
    func deleteStaged(_ objects: [DatabaseObject]) async throws {
        guard !objects.isEmpty else { return }
        do {
            try await deleteInTransaction(objects)
        } catch let missing as MissingRows {
            throw try core.lost(missing.objects)
        }
    }

    /// The delete rules for rows of some entities, with the registered hooks.
    func deletionRules(_ roots: some Sequence<EntityRuntime>) -> DeletionRules {
        DeletionRules(core.runtime, roots: Set(roots)) { core.hasDeletionHook($0) }
    }

    private func requireDeletable(_ object: DatabaseObject) throws {
        try core.requireOwn(object)
        try object.requireLive()
        _ = try object.requireKey()
    }

    /// Opens a transaction only if objects may need to be read again after the DELETE, since that can fail, or if rules
    /// may do something else in its place.
    ///
    /// - Parameter isSplit: whether it takes several statements.
    func atOnce<T>(_ entity: EntityRuntime, isSplit: Bool = false, _ body: () async throws -> T) async throws -> T {
        try await isSplit || entity.hasRules || ForeignKeyActions(core).mayLeaveDoubt(deleting: entity)
            ? core.transaction { try await body() } : body()
    }

    /// One DELETE, and the effect of the database's actions on memory.
    private func deleteAtOnce(_ objects: [DatabaseObject], _ entity: EntityRuntime) async throws {
        try await core.write {
            for object in objects { try object.requireLive() }
            let objects = entity.lockOrder.sorted(objects, by: \.storedRow)
            let rows = objects.map(\.storedRow)
            let result = try await sendDeletion(
                try DeletionStatements.delete(entity, try objects.map { try $0.versionedKey }),
                entity, among: [entity: objects.compactMap(\.key)])
            guard result.affectedRows == objects.count else {
                try await Refresher(core).requireAlone(objects)
                throw MissingRows(objects: objects)
            }
            for object in objects { try core.take(deletionOf: object) }
            var actions = ForeignKeyActions(core)
            try actions.follow([
                ForeignKeyActions.Gone(entity: entity) { columns in
                    Set(try entity.referencedKeys(rows, columns))
                }
            ])
        }
    }

    /// Sends a deletion, and translates a foreign key's refusal to the error of the rule `deny`.
    ///
    /// - Parameter deleted: The keys of the rows to be deleted, by entity, as far as known.
    func sendDeletion(
        _ statement: Statement, _ entity: EntityRuntime, among deleted: [EntityRuntime: [ObjectKey]]
    ) async throws -> QueryResult {
        do {
            return try await core.client.execute(statement)
        } catch let error as PostgresError {
            let refused =
                KindredError(refusedDeletion: error, core.runtime, among: deleted)
                ?? KindredError(refused: error, entity: entity, key: nil)
            throw refused ?? error
        }
    }
}

/// Rows to be deleted that do not exist.
struct MissingRows: Error {
    let objects: [DatabaseObject]
}
