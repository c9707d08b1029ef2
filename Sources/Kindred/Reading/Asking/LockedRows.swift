import KindredPostgres

/// Asks the server which rows other transactions have locked.
struct LockedRows {
    private struct Answer: Error {
        let locked: Set<DatabaseObject>
    }

    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The objects among some whose rows are locked.
    func among(_ objects: [DatabaseObject]) async throws -> Set<DatabaseObject> {
        guard !objects.isEmpty else { return [] }
        for object in objects {
            try core.requireOwn(object)
            _ = try key(of: object)
        }
        do {
            return try await core.client.withTransaction { _ in
                var found: Set<DatabaseObject> = []
                for (entity, objects) in grouped(objects) { found.formUnion(try await locked(objects, entity)) }
                // The rollback unlocks the rows that were locked to find this out.
                throw Answer(locked: found)
            }
        } catch let answer as Answer {
            return answer.locked
        }
    }

    /// The key of an object's row, even if the object is only shown.
    private func key(of object: DatabaseObject) throws -> ObjectKey {
        try object.requireLive()
        guard let key = object.key, !key.isTemporary else { throw object.notStored }
        return key
    }

    private func locked(_ objects: [DatabaseObject], _ entity: EntityRuntime) async throws -> Set<DatabaseObject> {
        let owners = Dictionary(try objects.map { (try key(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var skipped = Set(owners.keys)
        for keys in entity.slices(Array(owners.keys), of: entity.key) {
            let result = try await core.client.execute(try LockStatements.free(entity, keys), for: entity.name)
            for row in result.indices {
                if let key = try ObjectKey(result, row: row, Array(entity.key.indices)) { skipped.remove(key) }
            }
        }
        return Set(try await core.client.storedKeys(among: Array(skipped), of: entity).compactMap { owners[$0] })
    }
}
