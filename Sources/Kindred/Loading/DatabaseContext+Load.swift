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
        let source = object.withState { LinkSource($0, relationship.slot) }
        try requireLive(object, source.status)
        if let staging = source.staging {
            if let new = staging.destinations[relationship.slot] { return new }
            if case .referenced = relationship.link {
                return try await stagedPartner(of: relationship, object, at: place)
            }
        }
        guard let key = try ObjectKey(source.row, relationship.ownColumns) else { return nil }
        let isForeignKey = relationship.holdsForeignKey
        if isForeignKey, let known = try liveDestination(of: relationship, key, source.row) { return known }
        var found: LoadedOne
        if case .one(let one) = source.loaded, !isForeignKey || one.foreignKey == key,
            isCurrent(source.loaded, relationship, of: object)
        {
            found = one
        } else {
            let loaded = try await load(relationship, key, for: object, source, at: place)
            found = LoadedOne(
                foreignKey: isForeignKey ? key : nil, member: loaded.members.first, group: loaded.members.group,
                validAt: loaded.askedAt)
            if !isForeignKey { apply(stagedChange(relationship, of: object), to: &found) }
            keep(.one(found), relationship.slot, of: object, askedAt: loaded.askedAt)
        }
        guard let member = found.member else { return nil }
        let entity = runtime.entities[relationship.destination]
        if let partner = self.object(member, of: entity, found.group, validAt: found.validAt) { return partner }
        return try await destination(of: relationship, from: object, at: place)
    }

    /// The object at the other end of a to-one relationship, if it is in memory.
    func loadedDestination(of relationship: RelationshipRuntime, from object: DatabaseObject) -> DatabaseObject? {
        let source = object.withState { LinkSource($0, relationship.slot) }
        guard source.status != .deleted, source.status != .deleting else { return nil }
        if let staging = source.staging {
            if let new = staging.destinations[relationship.slot] { return new }
            if case .referenced = relationship.link, let joined = stagedChange(relationship, of: object)?.joined.last {
                return joined
            }
        }
        guard let key = try? ObjectKey(source.row, relationship.ownColumns) else { return nil }
        if relationship.holdsForeignKey, let known = try? liveDestination(of: relationship, key, source.row) {
            return known
        }
        let entity = runtime.entities[relationship.destination]
        if case .one(let one) = source.loaded, one.foreignKey == nil || one.foreignKey == key,
            isCurrent(source.loaded, relationship, of: object)
        {
            return one.member.flatMap { self.object($0, of: entity, one.group, validAt: one.validAt) }
        }
        guard let found = foundByGroup(relationship, key, source), let member = found.members.first else { return nil }
        return self.object(member, of: entity, found.members.group, validAt: found.askedAt)
    }

    /// The object in memory that a foreign key of a row leads to, if any.
    func liveDestination(
        of relationship: RelationshipRuntime,
        _ key: ObjectKey,
        _ row: Row
    ) throws -> DatabaseObject? {
        let entity = runtime.entities[relationship.destination]
        guard case .foreignKey(let columns, let referenced) = relationship.link else { return nil }
        // Nearly always the key itself, whose value is at hand.
        if referenced == entity.key { return liveObject(entity, key) }
        return try liveObject(entity, where: referenced, equal: row, columns)
    }

    /// The partner of an object that has staged changes, by the foreign key that the partner holds.
    private func stagedPartner(
        of relationship: RelationshipRuntime,
        _ object: DatabaseObject,
        at place: SourcePlace?
    ) async throws -> DatabaseObject? {
        let change = stagedChange(relationship, of: object)
        if let joined = change?.joined.last { return joined }
        let source = object.withState { LinkSource($0, relationship.slot) }
        guard source.status == .persistent, let key = try ObjectKey(source.storedRow, relationship.ownColumns) else {
            return nil
        }
        var found: LoadedOne
        if case .one(let one) = source.loaded, isCurrent(source.loaded, relationship, of: object) {
            found = one
        } else {
            let loaded = try await load(relationship, key, for: object, source, at: place)
            found = LoadedOne(
                foreignKey: nil, member: loaded.members.first, group: loaded.members.group, validAt: loaded.askedAt)
            apply(change, to: &found)
            keep(.one(found), relationship.slot, of: object, askedAt: loaded.askedAt)
        }
        guard let member = found.member else { return nil }
        let entity = runtime.entities[relationship.destination]
        if let partner = self.object(member, of: entity, found.group, validAt: found.validAt) { return partner }
        return try await stagedPartner(of: relationship, object, at: place)
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
        let source = owner.withState { LinkSource($0, relationship.slot) }
        try requireLive(owner, source.status)
        var found = loadedMembers(of: relationship, owner: owner, source)
        if found == nil, let key = try ObjectKey(source.storedRow, relationship.ownColumns) {
            var loaded = try await load(relationship, key, for: owner, source, at: place)
            apply(stagedChange(relationship, of: owner), to: &loaded.members)
            keep(.many(loaded.members), relationship.slot, of: owner, askedAt: loaded.askedAt)
            found = loaded.members
        }
        guard let found else { return [] }
        if let objects = objects(found, of: runtime.entities[relationship.destination]) { return objects }
        return try await members(of: relationship, owner: owner, at: place)
    }

    /// The members that are in memory, the owner's own or those that its group has loaded for it.
    func loadedMembers(of relationship: RelationshipRuntime, owner: DatabaseObject) -> LoadedMembers? {
        loadedMembers(of: relationship, owner: owner, owner.withState { LinkSource($0, relationship.slot) })
    }

    /// Whether a row is among the members that are in memory; nil if they are not.
    func isLoadedMember(_ key: ObjectKey, of relationship: RelationshipRuntime, owner: DatabaseObject) -> Bool? {
        guard var members = loadedMembers(of: relationship, owner: owner) else { return nil }
        // Where they stand, so that what is made to look for one is there for the next.
        let found: Bool? = owner.withState { state in
            guard case .many(var members) = state.relationships[relationship.slot] else { return nil }
            state.relationships[relationship.slot] = nil
            defer { state.relationships[relationship.slot] = .many(members) }
            return members.contains(key)
        }
        return found ?? members.contains(key)
    }

    private func loadedMembers(
        of relationship: RelationshipRuntime,
        owner: DatabaseObject,
        _ source: LinkSource
    ) -> LoadedMembers? {
        if case .many(let members) = source.loaded, isCurrent(source.loaded, relationship, of: owner) {
            return sorted(members, relationship, of: owner, changedAt: source.linksChangedAt)
        }
        if source.status == .inserted {
            let askedAt = now
            var members = LoadedMembers()
            apply(stagedChange(relationship, of: owner), to: &members)
            members.isUnsorted = true
            members.validAt = askedAt
            keep(.many(members), relationship.slot, of: owner, askedAt: askedAt)
            return sorted(members, relationship, of: owner, changedAt: source.linksChangedAt)
        }
        guard let key = try? ObjectKey(source.storedRow, relationship.ownColumns),
            var found = foundByGroup(relationship, key, source)
        else { return nil }
        apply(stagedChange(relationship, of: owner), to: &found.members)
        keep(.many(found.members), relationship.slot, of: owner, askedAt: found.askedAt)
        return found.members
    }

    /// Whether what an object has loaded of a relationship is still right, as far as is known.
    func isCurrent(
        _ loaded: LoadedRelationship?,
        _ relationship: RelationshipRuntime,
        of object: DatabaseObject
    ) -> Bool {
        // Mostly nothing was ever lost.
        !mayBeOutdated || isCurrentAfterLosses(loaded, relationship, of: object)
    }

    private func isCurrentAfterLosses(
        _ loaded: LoadedRelationship?,
        _ relationship: RelationshipRuntime,
        of object: DatabaseObject
    ) -> Bool {
        guard let loaded else { return false }
        let time = now
        let (isOutdated, isInDoubt) = withMap { map in
            (map.isOutdated(loaded, relationship), map.isInDoubt(loaded, relationship))
        }
        if isOutdated { return false }
        if isInDoubt { return true }
        // So that nobody has to look again, unless it has changed meanwhile.
        object.withState { state in
            if state.relationships[relationship.slot]?.validAt == loaded.validAt {
                state.relationships[relationship.slot]?.validAt = time
            }
        }
        return true
    }

    /// What the owner's group has loaded for it, unless that is outdated.
    private func foundByGroup(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        _ source: LinkSource
    ) -> LoadGroup.Found? {
        guard let found = source.group?.found(relationship.slot, key) else { return nil }
        return current(found, relationship, key, ownerChangedAt: source.linksChangedAt)
    }

    /// A group's knowledge without the members deleted since; nil if the relationship was changed since.
    func current(
        _ found: LoadGroup.Found,
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        ownerChangedAt: UInt64
    ) -> LoadGroup.Found? {
        let (changedAt, hasNotes) = withMap { map in
            (map.changedAt(relationship, key), map.hasNotes(relationship.destination))
        }
        guard max(ownerChangedAt, changedAt) <= found.askedAt else { return nil }
        guard hasNotes else { return found }
        let keys = found.members.members.map(\.key)
        let gone = withMap { map in keys.filter { map.isDeleted(relationship.destination, $0, since: found.askedAt) } }
        if gone.isEmpty { return found }
        var left = found
        left.members.remove(Set(gone))
        return left
    }

    /// Loads a relationship for an object, and for those it was read with.
    private func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        for object: DatabaseObject,
        _ source: LinkSource,
        at place: SourcePlace?
    ) async throws -> LoadGroup.Found {
        if let current = foundByGroup(relationship, key, source) { return current }
        try requireFaulting(relationship, at: place)
        return try await client.called(at: place) {
            try await load(relationship, key, source)
        }
    }

    /// Refuses to ask the database about a relationship that should have been prefetched.
    func requireFaulting(_ relationship: RelationshipRuntime, at place: SourcePlace?) throws {
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
    }

    func keep(_ loaded: LoadedRelationship, _ slot: Int, of owner: DatabaseObject, askedAt: UInt64) {
        // What it says may be what the transaction has written: others that are undone do not put it back.
        journal?.record(owner)
        owner.withState { state in
            guard state.relationships.changedAt(slot) <= askedAt, state.status != .deleted else { return }
            state.relationships[slot] = loaded
        }
    }

    /// Refuses an object whose row is known to be gone.
    func requireLive(_ object: DatabaseObject) throws {
        try requireLive(object, object.withState { $0.status })
    }

    private func requireLive(_ object: DatabaseObject, _ status: ObjectState.Status) throws {
        guard status == .deleted else { return }
        throw KindredError(
            .objectDeleted,
            "\(object) has been deleted",
            entity: object.runtime.name.description
        )
    }
}
