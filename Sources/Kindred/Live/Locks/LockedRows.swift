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
            try object.requireLive()
            _ = try object.requireKey()
        }
        do {
            return try await core.client.withTransaction { _ in
                var locked: Set<DatabaseObject> = []
                for (entity, objects) in grouped(objects) { try await find(objects, entity, &locked) }
                // What was locked to find this out is unlocked by the rollback.
                throw Answer(locked: locked)
            }
        } catch let answer as Answer {
            return answer.locked
        }
    }

    private func find(
        _ objects: [DatabaseObject], _ entity: EntityRuntime, _ locked: inout Set<DatabaseObject>
    ) async throws {
        let owners = Dictionary(try objects.map { (try $0.requireKey(), $0) }, uniquingKeysWith: { first, _ in first })
        var skipped = Set(owners.keys)
        for keys in Array(owners.keys).slices() {
            let result = try await core.client.execute(try LockStatements.free(entity, keys), for: entity.name)
            for row in result.indices {
                if let key = try ObjectKey(result, row, Array(entity.key.indices)) { skipped.remove(key) }
            }
        }
        for key in try await Fetcher(core).storedKeys(among: Array(skipped), of: entity) {
            if let object = owners[key] { locked.insert(object) }
        }
    }
}
