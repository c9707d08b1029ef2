import KindredPostgres
import KindredSchema

// Following relationships: from memory where the other end is known, else one query for all the objects that were read
// together.
extension DatabaseContext {
    /// The object at the other end of a to-one relationship, or nil.
    func destination(
        of relationship: RelationshipRuntime,
        from object: DatabaseObject,
        at place: SourcePlace? = nil
    ) async throws -> DatabaseObject? {
        try requireLive(object)
        let entity = runtime.entities[relationship.destination]
        let state = object.withState { $0 }
        if let staging = state.staging {
            if let new = staging.destinations[relationship.slot] { return new }
            if case .referenced = relationship.link {
                return try await stagedPartner(of: relationship, object, at: place)
            }
        }
        guard let key = try ObjectKey(state.row, relationship.ownColumns) else { return nil }
        var isForeignKey = false
        if case .foreignKey(let columns, let referenced) = relationship.link {
            if let known = try liveObject(entity, where: referenced, equal: state.row, columns) { return known }
            isForeignKey = true
        }
        var found: LoadedOne
        if case .one(let one) = state.relationships[relationship.slot], !isForeignKey || one.foreignKey == key {
            found = one
        } else {
            let loaded = try await load(relationship, key, for: object, at: place)
            found = LoadedOne(foreignKey: isForeignKey ? key : nil, member: loaded.members.first, group: loaded.group)
            if !isForeignKey { apply(stagedChange(relationship, of: object), to: &found) }
            keep(.one(found), relationship.slot, of: object, askedAt: loaded.askedAt)
        }
        return found.member.flatMap { objects([$0], of: entity, group: found.group).first }
    }

    /// The object at the other end of a to-one relationship, if it is in memory.
    func loadedDestination(of relationship: RelationshipRuntime, from object: DatabaseObject) -> DatabaseObject? {
        let entity = runtime.entities[relationship.destination]
        let state = object.withState { $0 }
        guard !object.isDeleted else { return nil }
        if let staging = state.staging {
            if let new = staging.destinations[relationship.slot] { return new }
            if case .referenced = relationship.link, let joined = stagedChange(relationship, of: object)?.joined.last {
                return joined
            }
        }
        guard let key = try? ObjectKey(state.row, relationship.ownColumns) else { return nil }
        var member: Member?
        var group: LoadGroup?
        if case .foreignKey(let columns, let referenced) = relationship.link,
            let known = try? liveObject(entity, where: referenced, equal: state.row, columns)
        {
            return known
        }
        if case .one(let one) = state.relationships[relationship.slot], one.foreignKey == nil || one.foreignKey == key {
            (member, group) = (one.member, one.group)
        } else if let loaded = loadedByGroup(relationship, key, of: object) {
            (member, group) = (loaded.members.first, loaded.group)
        }
        return member.flatMap { objects([$0], of: entity, group: group).first }
    }

    /// The partner of an object that has staged changes, by the foreign key that the partner holds.
    private func stagedPartner(
        of relationship: RelationshipRuntime,
        _ object: DatabaseObject,
        at place: SourcePlace?
    ) async throws -> DatabaseObject? {
        let change = stagedChange(relationship, of: object)
        if let joined = change?.joined.last { return joined }
        let state = object.withState { $0 }
        guard state.status == .persistent, let key = try ObjectKey(state.storedRow, relationship.ownColumns) else {
            return nil
        }
        var found: LoadedOne
        if case .one(let one) = state.relationships[relationship.slot] {
            found = one
        } else {
            let loaded = try await load(relationship, key, for: object, at: place)
            found = LoadedOne(foreignKey: nil, member: loaded.members.first, group: loaded.group)
            apply(change, to: &found)
            keep(.one(found), relationship.slot, of: object, askedAt: loaded.askedAt)
        }
        return found.member.flatMap {
            objects([$0], of: runtime.entities[relationship.destination], group: found.group).first
        }
    }

    /// What was read, with what staged changes make of it.
    private func apply(_ change: StagedLinks.Change?, to found: inout LoadedOne) {
        guard let change else { return }
        if let joined = change.joined.last, let key = joined.key {
            found.member = Member(key: key, row: joined.storedRow)
        } else if let key = found.member?.key, change.left.contains(key) {
            found.member = nil
        }
    }

    private func apply(_ change: StagedLinks.Change?, to found: inout LoadedMembers) {
        guard let change else { return }
        found.remove(change.left)
        for object in change.joined {
            if let key = object.key { found.insert(Member(key: key, row: object.storedRow)) }
        }
    }

    /// The members of a to-many relationship.
    func members(
        of relationship: RelationshipRuntime,
        owner: DatabaseObject,
        at place: SourcePlace? = nil
    ) async throws -> [DatabaseObject] {
        try requireLive(owner)
        var found = loadedMembers(of: relationship, owner: owner)
        if found == nil, let key = try ObjectKey(owner.storedRow, relationship.ownColumns) {
            let loaded = try await load(relationship, key, for: owner, at: place)
            var members = LoadedMembers(loaded.members, group: loaded.group)
            apply(stagedChange(relationship, of: owner), to: &members)
            keep(.many(members), relationship.slot, of: owner, askedAt: loaded.askedAt)
            found = members
        }
        guard let found else { return [] }
        return objects(found.members, of: runtime.entities[relationship.destination], group: found.group)
    }

    /// The members that are in memory, the owner's own or those that its group has loaded for it.
    func loadedMembers(of relationship: RelationshipRuntime, owner: DatabaseObject) -> LoadedMembers? {
        if case .many(let members) = owner.withState({ $0.relationships[relationship.slot] }) {
            return sorted(members, relationship, of: owner)
        }
        if owner.isInserted {
            let askedAt = now
            var members = LoadedMembers()
            apply(stagedChange(relationship, of: owner), to: &members)
            members.isUnsorted = true
            keep(.many(members), relationship.slot, of: owner, askedAt: askedAt)
            return sorted(members, relationship, of: owner)
        }
        guard let key = try? ObjectKey(owner.storedRow, relationship.ownColumns),
            let loaded = loadedByGroup(relationship, key, of: owner)
        else { return nil }
        var members = LoadedMembers(loaded.members, group: loaded.group)
        apply(stagedChange(relationship, of: owner), to: &members)
        keep(.many(members), relationship.slot, of: owner, askedAt: loaded.askedAt)
        return members
    }

    /// What the owner's group has loaded for it, unless that is outdated.
    private func loadedByGroup(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        of owner: DatabaseObject
    ) -> LoadGroup.Loaded? {
        let (group, changedAt) = owner.withState { ($0.group, $0.linksChangedAt) }
        guard let loaded = group?.loaded(relationship.slot, key) else { return nil }
        return current(loaded, relationship, key, ownerChangedAt: changedAt)
    }

    /// A group's knowledge without the members deleted since; nil if the relationship was changed since.
    private func current(
        _ loaded: LoadGroup.Loaded,
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        ownerChangedAt: UInt64
    ) -> LoadGroup.Loaded? {
        withMap { map in
            let changedAt = max(
                ownerChangedAt,
                map.lostRows(of: relationship),
                map.linkChange(relationship.source, slot: relationship.slot, key)
            )
            guard changedAt <= loaded.askedAt else { return nil }
            guard map.hasNotes(relationship.destination),
                loaded.members.contains(where: { map.isDeleted(relationship.destination, $0.key) })
            else { return loaded }
            let members = loaded.members.filter { !map.isDeleted(relationship.destination, $0.key) }
            return LoadGroup.Loaded(members: members, group: loaded.group, askedAt: loaded.askedAt)
        }
    }

    /// Loads a relationship for an object, and for those it was read with.
    private func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        for object: DatabaseObject,
        at place: SourcePlace?
    ) async throws -> LoadGroup.Loaded {
        let (group, position, changedAt) = object.withState { ($0.group, Int($0.position), $0.linksChangedAt) }
        if let known = group?.loaded(relationship.slot, key),
            let current = current(known, relationship, key, ownerChangedAt: changedAt)
        {
            return current
        }
        guard faulting != .forbidden else {
            let path = "\(runtime.entities[relationship.source].name).\(relationship.model.name)"
            throw KindredError(
                .faultingForbidden,
                "\(path) is not loaded, and this context loads no relationship by itself; prefetch it with the objects"
                    + (place.map { " (used at \($0))" } ?? ""),
                entity: runtime.entities[relationship.source].name.description,
                key: relationship.model.name
            )
        }
        return try await client.called(at: place) {
            try await load(relationship, key, for: object, of: group, from: position, changedAt)
        }
    }

    private func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        for object: DatabaseObject,
        of group: LoadGroup?,
        from position: Int,
        _ changedAt: UInt64
    ) async throws -> LoadGroup.Loaded {
        guard faulting == .batch, let group else { return try await loadAlone(relationship, key) }
        TransactionJournal.current?.recordLoad(group)
        group.forget(relationship.slot, before: withMap { $0.lostRows(of: relationship) })
        let loaded = try await group.load(relationship.slot, key, from: position) { element in
            try candidate(element, relationship)
        } load: { keys in
            try await query(relationship, keys)
        }
        if let current = current(loaded, relationship, key, ownerChangedAt: changedAt) { return current }
        return try await loadAlone(relationship, key)
    }

    private func loadAlone(_ relationship: RelationshipRuntime, _ key: ObjectKey) async throws -> LoadGroup.Loaded {
        let (members, askedAt) = try await query(relationship, [key])
        let group = LoadGroup(.members([]))
        return group.keep(members, [key], relationship.slot, askedAt, wanted: key)
    }

    /// The key by which another element of the group asks for the relationship; nil if it has nothing to ask for.
    private func candidate(_ element: LoadGroup.Element, _ relationship: RelationshipRuntime) throws -> ObjectKey? {
        var row: Row?
        switch element {
        case .key(let key):
            row = liveObject(runtime.entities[relationship.source], key)?.rowLacking(relationship.slot)
        case .object(let object):
            row = object.rowLacking(relationship.slot)
        case .member(let member):
            row = member.row
        }
        guard let row else { return nil }
        if case .foreignKey(let columns, let referenced) = relationship.link,
            try liveObject(runtime.entities[relationship.destination], where: referenced, equal: row, columns) != nil
        {
            return nil
        }
        return try ObjectKey(row, relationship.ownColumns)
    }

    /// One query for the members of all owners with the given keys.
    func query(
        _ relationship: RelationshipRuntime,
        _ keys: [ObjectKey]
    ) async throws -> (members: LoadGroup.OwnedMembers, askedAt: UInt64) {
        let query = RelationshipQuery(
            runtime: runtime,
            relationship: relationship,
            source: runtime.entities[relationship.source]
        )
        withMap { $0.noteKnown(relationship.source) }
        let askedAt = now
        let result = try await client.execute(try query.statement(for: keys))
        return (try grouped(result, query), askedAt)
    }

    /// The rows of a result by owner.
    private func grouped(_ result: QueryResult, _ query: RelationshipQuery) throws -> LoadGroup.OwnedMembers {
        let entity = query.destination
        var found = LoadGroup.OwnedMembers()
        var places: [ObjectKey: Int] = [:]
        let rows = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            guard let owner = try ObjectKey(result, position, query.ownerColumns) else { continue }
            // Objects without a key are never found again; their place stands for one.
            let key = try entity.key.isEmpty ? .integer(Int64(position)) : ObjectKey(result, position, entity.key)
            guard let key else { continue }
            if query.mayRepeatMembers {
                if let place = places[key] {
                    found.share(place, with: owner)
                    continue
                }
                places[key] = found.distinct.count
            }
            found.append(key, try rows[position], to: owner)
        }
        return found
    }

    func keep(_ loaded: LoadedRelationship, _ slot: Int, of owner: DatabaseObject, askedAt: UInt64) {
        TransactionJournal.current?.record(owner)
        owner.withState { state in
            guard state.linksChangedAt <= askedAt, state.status != .deleted else { return }
            state.relationships[slot] = loaded
        }
    }

    /// Refuses an object whose row is known to be gone.
    func requireLive(_ object: DatabaseObject) throws {
        guard object.isGone else { return }
        throw KindredError(
            .objectDeleted,
            "\(object) has been deleted",
            entity: object.runtime.name.description
        )
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
