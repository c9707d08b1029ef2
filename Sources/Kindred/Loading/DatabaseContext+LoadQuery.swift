import KindredPostgres
import KindredSchema

// The queries that load relationships: one for all objects of a group.
extension DatabaseContext {
    /// Loads a relationship for an object, and for those of its group that have not loaded it.
    func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        _ source: LinkSource
    ) async throws -> LoadGroup.Found {
        guard faulting == .batch, let group = source.group else { return try await loadAlone(relationship, key) }
        TransactionJournal.current?.recordLoad(group)
        group.forget(relationship.slot, before: withMap { $0.lostRows(of: relationship) })
        let found = try await group.load(relationship.slot, key, from: source.position) { element in
            try candidate(element, relationship)
        } load: { keys in
            try await query(relationship, keys)
        }
        if let found, let current = current(found, relationship, key, ownerChangedAt: source.linksChangedAt) {
            return current
        }
        return try await loadAlone(relationship, key)
    }

    private func loadAlone(_ relationship: RelationshipRuntime, _ key: ObjectKey) async throws -> LoadGroup.Found {
        let batch = try await query(relationship, KeyNumbers([key]))
        return LoadGroup.Found(members: batch.members(of: key) ?? LoadedMembers(), askedAt: batch.askedAt)
    }

    /// The key by which another element of the group asks for the relationship; nil if it has nothing to ask for.
    private func candidate(_ element: LoadGroup.Element, _ relationship: RelationshipRuntime) throws -> ObjectKey? {
        let row: Row?
        switch element {
        case .key(let key):
            row = liveObject(runtime.entities[relationship.source], key)?.rowLacking(relationship.slot)
        case .object(let object):
            row = object.rowLacking(relationship.slot)
        case .member(let member):
            row = member.row
        }
        guard let row, let key = try ObjectKey(row, relationship.ownColumns) else { return nil }
        guard relationship.holdsForeignKey, try liveDestination(of: relationship, key, row) != nil else { return key }
        return nil
    }

    /// One query for the members of all owners with the given keys.
    func query(_ relationship: RelationshipRuntime, _ keys: KeyNumbers) async throws -> LoadedBatch {
        let query = RelationshipQuery(
            runtime: runtime,
            relationship: relationship,
            source: runtime.entities[relationship.source]
        )
        withMap { $0.noteKnown(relationship.source) }
        let askedAt = now
        let result = try await client.execute(try query.statement(for: keys.keys))
        return try grouped(result, query, keys, askedAt)
    }

    /// The rows of a result by owner.
    private func grouped(
        _ result: QueryResult,
        _ query: RelationshipQuery,
        _ owners: KeyNumbers,
        _ askedAt: UInt64
    ) throws -> LoadedBatch {
        let entity = query.destination
        var found = LoadedBatch.Builder(owners: owners, count: result.count)
        var places = KeyNumbers()
        let rows = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            guard let owner = try ObjectKey(result, position, query.ownerColumns) else { continue }
            // Objects without a key are never found again; their place stands for one.
            let key = try entity.key.isEmpty ? .integer(Int64(position)) : ObjectKey(result, position, entity.key)
            guard let key else { continue }
            if query.mayRepeatMembers {
                let (place, isNew) = places.insert(key)
                if !isNew {
                    found.share(place, with: owner)
                    continue
                }
            }
            found.append(key, try rows[position], to: owner)
        }
        return found.build(askedAt: askedAt)
    }
}

extension DatabaseObject {
    /// The row, unless it is gone or its set is loaded already.
    fileprivate func rowLacking(_ slot: Int) -> Row? {
        withState { state in
            if state.status != .persistent { return nil }
            if case .many = state.relationships[slot] { return nil }
            return state.row
        }
    }
}
