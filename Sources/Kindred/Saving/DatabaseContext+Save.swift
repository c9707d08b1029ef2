import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Writes everything that is staged, in one transaction.
    ///
    /// One UPDATE for each entity and set of changed columns, whatever the number of objects; nothing if nothing is
    /// staged. If it fails, nothing is written and everything stays staged. Throws `KindredError`: the problems that
    /// setters kept, `.objectDeleted` if a row is gone, `.constraintViolation` naming object, key and constraint.
    /// Inside a transaction it is a savepoint.
    public func save() async throws {
        try await save(staged.withLock { $0.objects })
    }

    /// Writes what is staged on some objects.
    func save(_ objects: [DatabaseObject]) async throws {
        let saved = objects.compactMap(SavedObject.init)
        guard !saved.isEmpty else { return }
        try requireNoProblems(saved)
        try await transaction {
            try await write {
                for object in saved { try requireLive(object.object) }
                let groups = SavedGroup.groups(saved) { $0.staging.columns.sorted() }
                let results = try await sendSave(try groups.map { try $0.update() }, groups)
                for (group, result) in zip(groups, results) { try group.applyUpdate(result, in: self) }
            }
        }
    }

    /// Throws what setters could not.
    private func requireNoProblems(_ objects: [SavedObject]) throws {
        for object in objects {
            if let problem = object.staging.problems.min(by: { $0.key < $1.key })?.value { throw problem }
        }
    }

    /// Sends the statements of a save in one round trip; an error names the entity whose statement it was, and the
    /// object if it can be told.
    private func sendSave(_ statements: [Statement], _ groups: [SavedGroup]) async throws -> [QueryResult] {
        do {
            return try await client.executeBatch(statements)
        } catch let error as PostgresError {
            guard let failed = statements.firstIndex(where: { $0.text.text == error.statement }) else { throw error }
            throw KindredError(refused: error, entity: groups[failed].entity, key: nil) ?? error
        }
    }

    /// Gives a saved object its stored row; what was staged since its save began stays staged.
    func applySaved(_ row: Row, to saved: SavedObject) throws {
        changeStaging(of: saved.object) { state in
            guard let staging = state.staging else { return }
            let done = staging.columns.filter { state.row.hasSameBytes(as: saved.row, at: $0) }
            state.unstage(done)
        }
        try apply(row, to: saved.object)
    }
}

extension DatabaseObject {
    /// Writes what is staged on this object, by one UPDATE in a transaction; nothing if nothing is staged.
    ///
    /// Throws as ``DatabaseContext/save()`` does.
    public func save() async throws {
        try await context.save([self])
    }
}
