import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// Deletes an object's row, and applies the delete rules to the objects at the other ends of its relationships.
    ///
    /// One DELETE where the database's own foreign-key actions do all that the rules ask for and no hook is registered.
    /// Otherwise one transaction, or a savepoint of the running one: one SELECT … FOR UPDATE for each relationship and
    /// level, one UPDATE for each nullified relationship, one statement that deletes everything, for any number of
    /// rows.
    ///
    /// Updates all loaded objects: `isDeleted` is true for deleted ones, which refuse writes; nullified ones show nil,
    /// and sets have lost their members. Throws `KindredError`, and nothing is deleted: `.deletionDenied` if a rule
    /// forbids it, `.requiredRelationship` if remaining objects would lose a required relationship, `.objectDeleted` if
    /// a row is gone already; before anything is sent `.notStored` for a new object, which ``stageDeletion(of:)`` gives
    /// up, `.foreignContext`, and `.readOnly` for an entity without a key.
    public func delete(_ object: DatabaseObject, fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) {
            try await delete(CollectionOfOne(object))
        }
    }

    /// Deletes objects with their delete rules, all of them or none, as if at once.
    ///
    /// The objects may be of several entities. The number of statements does not depend on the number of objects.
    public func delete(_ objects: some Sequence<DatabaseObject>, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await client.called(at: fileID, line) {
            var seen = Set<DatabaseObject>()
            let objects = objects.filter { seen.insert($0).inserted }
            try await readStale(objects)
            if let run = DeletionRun.current(in: self) {
                for object in objects { try requireDeletable(object) }
                return run.request(objects.filter { !$0.isDeleted })
            }
            for object in objects { try requireDeletable(object) }
            guard let entity = objects.first?.runtime else { return }
            let rules = deletionRules(objects.map(\.runtime))
            do {
                if rules.isLeftToDatabase, objects.allSatisfy({ $0.runtime === entity }) {
                    try await atOnce(entity) { try await deleteAtOnce(objects, entity) }
                } else {
                    try await transaction { try await deleteInTransaction(objects) }
                }
            } catch let missing as MissingRows {
                // A rule or policy may hide a row that is there.
                for object in missing.objects
                where object.runtime.entity.obstacles.isDisjoint(with: [.policies, .rules]) {
                    try core.applyDelete(object)
                }
                throw core.gone(missing.objects)
            } catch let error as PostgresError {
                let keys = Dictionary(grouping: objects, by: \.runtime).mapValues { $0.compactMap(\.key) }
                throw refusedDeletion(error, among: keys) ?? refusedAtEnd(error, among: [])
            }
        }
    }

    private func requireDeletable(_ object: DatabaseObject) throws {
        try core.requireOwn(object)
        try object.requireLive()
        _ = try object.requireKey()
    }

    /// Opens a transaction only if objects may need to be read again after the DELETE, since that can fail, or if rules
    /// may do something else in its place.
    func atOnce<T>(_ entity: EntityRuntime, _ body: () async throws -> T) async throws -> T {
        try await entity.hasRules || mayLeaveDoubt(entity) ? transaction(body) : body()
    }

    /// Whether the database's actions may reach objects in memory over rows that are not in memory.
    private func mayLeaveDoubt(_ entity: EntityRuntime) -> Bool {
        func isInMemory(_ relationship: RelationshipRuntime) -> Bool {
            guard relationship.destinationHoldsForeignKey, relationship.model.databaseAction != .noAction else {
                return false
            }
            return core.withMap { $0.holdsObjects(of: relationship.destination) }
        }
        var reached: Set<EntityRuntime> = []
        var pending = [entity]
        while let next = pending.popLast() {
            for relationship in next.relationships {
                guard relationship.destinationHoldsForeignKey else { continue }
                let action = relationship.model.databaseAction
                let isCounted = relationship.destination.entity.optimisticLocking == .xmin
                // Where only the server can compare keys, the rows that its action reaches are unknown here.
                let needsServer = action != .noAction && relationship.isComparedByServer
                if action == .setDefault || action == .setNull && isCounted || needsServer, isInMemory(relationship) {
                    return true
                }
                if action == .cascade, reached.insert(relationship.destination).inserted {
                    pending.append(relationship.destination)
                }
            }
        }
        if reached.contains(where: { $0.relationships.contains(where: isInMemory) }) { return true }
        return reached.union([entity]).contains { entity in
            (core.runtime.partitionKeys[entity] ?? []).contains { key in
                key.hasAction && core.withMap { $0.holdsObjects(of: key.source) }
            }
        }
    }

    /// One DELETE, and the effect of the database's actions on memory.
    private func deleteAtOnce(_ objects: [DatabaseObject], _ entity: EntityRuntime) async throws {
        try await core.write {
            for object in objects { try object.requireLive() }
            let rows = objects.map(\.storedRow)
            let result = try await sendDeletion(
                try DeletionStatements.delete(entity, try objects.map { try $0.versionedKey }),
                entity, among: [entity: objects.compactMap(\.key)])
            guard result.affectedRows == objects.count else {
                if entity.version != nil {
                    let error = try await unwritten(objects)
                    guard error.code == .objectDeleted else { throw error }
                }
                if objects.count == 1 { throw MissingRows(objects: objects) }
                throw core.gone(objects)
            }
            for object in objects { try core.applyDelete(object) }
            var actions = ForeignKeyActions(self)
            try actions.follow([
                ForeignKeyActions.Gone(entity: entity) { columns in
                    Set(try entity.referencedKeys(rows, columns))
                }
            ])
            try await actions.settle()
        }
    }
}
