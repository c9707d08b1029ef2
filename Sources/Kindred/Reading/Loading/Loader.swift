import KindredPostgres
import KindredSchema

/// Follows relationships: from memory where the other end is known, else by one query for all objects that were read
/// together.
package struct Loader: Sendable {
    let core: ContextCore

    package init(_ core: ContextCore) { self.core = core }

    /// The object at the other end of a to-one relationship, or nil.
    func destination(
        of relationship: RelationshipRuntime,
        from object: DatabaseObject,
        at place: SourcePlace? = nil
    ) async throws -> DatabaseObject? {
        guard relationship.holdsForeignKey else {
            return try await members(of: relationship, owner: object, at: place).last
        }
        if core.following != nil { try await core.follow(relationship) }
        var source = LinkSource(object, relationship)
        if source.isStale { source = try await Refresher(core).source(of: relationship, from: object) }
        try object.requireLive(source.status)
        let key: ObjectKey
        switch try knownEnd(of: relationship, from: object, source) {
        case .known(let known): return known
        case .unread(let unread): key = unread
        }
        let entity = relationship.destination
        let loaded = try await load(relationship, key, from: source, at: place)
        let isGone = loaded.first.map { member in
            core.isDeleted(relationship.destination, member.key, since: loaded.askedAt)
        }
        // The answer stays: it still has the row, and the deletion may be rolled back.
        if isGone == true { return nil }
        let one = LoadedOne(foreignKey: key, member: loaded.first, batch: loaded.batch)
        core.keep(.one(one), relationship, of: object)
        // Another transaction may have changed the foreign key meanwhile.
        if core.following != nil, try relationship.ownKey(object.row) != key { core.becomeStale() }
        // A row that was just read is the newest.
        return one.member.flatMap { core.object($0, of: entity, one.batch.group, askedAt: .forever) }
    }

    /// The other end of a to-one relationship, as far as memory knows it.
    private enum KnownEnd {
        case known(DatabaseObject?)
        /// To be read by a foreign key.
        case unread(ObjectKey)
    }

    /// Looks for the other end of a foreign key in memory.
    private func knownEnd(
        of relationship: RelationshipRuntime, from object: DatabaseObject, _ source: __shared LinkSource
    ) throws -> KnownEnd {
        if let new = source.staging?.destinations[relationship.slot] { return .known(new) }
        guard let key = try relationship.ownKey(source.row) else { return .known(nil) }
        if core.mayTrustObject(of: relationship), let known = try liveDestination(of: relationship, key, source.row),
            !core.isPartial(known)
        {
            core.keepFollowed(known, by: key, in: relationship, of: object)
            return .known(known)
        }
        guard let one = currentOne(relationship, key, from: source) else { return .unread(key) }
        // Following contexts look at the answers that objects hold; a group's answer would become stale unnoticed.
        if core.following != nil, !source.knows(one) { core.keep(.one(one), relationship, of: object) }
        guard let member = one.member else { return .known(nil) }
        let entity = relationship.destination
        return core.object(member, of: entity, one.batch.group, askedAt: one.batch.askedAt).map { .known($0) }
            ?? .unread(key)
    }

    /// The object at the other end of a to-one relationship, if memory has it and there is nothing to wait for.
    ///
    /// Without it, each step of a walk would pay for the asynchronous calls that read from the server.
    func destinationAtHand(of relationship: RelationshipRuntime, from object: DatabaseObject) throws -> DatabaseObject?
    {
        guard relationship.holdsForeignKey, core.following == nil else { return nil }
        let source = LinkSource(object, relationship)
        guard !source.isStale, source.status != .deleted,
            case .known(let known) = try knownEnd(of: relationship, from: object, source)
        else { return nil }
        return known
    }

    /// The members of a relationship, if memory has them and there is nothing to wait for.
    func membersAtHand(of relationship: RelationshipRuntime, owner: DatabaseObject) -> [DatabaseObject]? {
        guard core.following == nil, !relationship.isComparedByServer else { return nil }
        let source = LinkSource(owner, relationship)
        guard !source.isStale, source.status != .deleted,
            let loaded = core.loadedMembers(of: relationship, owner: owner, source)
        else { return nil }
        return core.objects(loaded, of: relationship.destination)
    }

    /// The object at the other end, for a program that asks for it by name: throws if the foreign key leads to a row of
    /// another tenant, where prefetches and views show no object.
    func ownDestination(
        of relationship: RelationshipRuntime, from object: DatabaseObject, at place: SourcePlace?
    ) async throws -> DatabaseObject? {
        if let found = try await destination(of: relationship, from: object, at: place) { return found }
        let entity = relationship.destination
        guard entity.tenantColumn != nil, relationship.holdsForeignKey, !relationship.model.mayDangle,
            try relationship.ownKey(object.row) != nil
        else { return nil }
        throw core.otherTenant(entity, key: relationship.model.name)
    }

    /// The object at the other end of a to-one relationship, if it is in memory.
    func loadedDestination(of relationship: RelationshipRuntime, from object: DatabaseObject) -> DatabaseObject? {
        let source = LinkSource(object, relationship)
        guard source.status != .deleted, source.status != .deleting else { return nil }
        let entity = relationship.destination
        guard relationship.holdsForeignKey else {
            guard let members = core.loadedMembers(of: relationship, owner: object, source), let member = members.last
            else { return nil }
            return core.object(member, of: entity, members.group, askedAt: members.seenAt ?? members.askedAt)
        }
        if let new = source.staging?.destinations[relationship.slot] { return new }
        guard !source.isStale, let key = try? relationship.ownKey(source.row) else { return nil }
        if core.mayTrustObject(of: relationship), let known = try? liveDestination(of: relationship, key, source.row) {
            return known
        }
        guard let one = currentOne(relationship, key, from: source), let member = one.member else { return nil }
        return core.object(member, of: entity, one.batch.group, askedAt: one.batch.askedAt)
    }

    /// The loaded row of a foreign key, from the object or its group, if it is not stale.
    package func currentOne(
        _ relationship: RelationshipRuntime, _ key: ObjectKey, from source: LinkSource
    ) -> LoadedOne? {
        if case .one(let one) = source.loaded, one.foreignKey == key,
            core.isCurrent(one.member, one.batch, of: relationship)
        {
            return one
        }
        guard let found = source.group?.members(relationship.slot, of: key),
            core.isCurrent(found.first, found.batch, of: relationship)
        else { return nil }
        return LoadedOne(foreignKey: key, member: found.first, batch: found.batch)
    }

    /// The object in memory that a foreign key of a row leads to, if any.
    func liveDestination(
        of relationship: RelationshipRuntime,
        _ key: ObjectKey,
        _ row: Row
    ) throws -> DatabaseObject? {
        let entity = relationship.destination
        guard relationship.holdsForeignKey else { return nil }
        let referenced = relationship.otherColumns
        // Nearly always the primary key, which needs no index.
        if entity.isKey(referenced) { return core.liveObject(entity, entity.identity(key)) }
        return try core.liveObject(entity, where: referenced, equal: row, relationship.ownColumns)
    }

    /// The members of a relationship whose other end refers to the owner, or is paired with it.
    func members(
        of relationship: RelationshipRuntime,
        owner: DatabaseObject,
        at place: SourcePlace? = nil
    ) async throws -> [DatabaseObject] {
        if core.following != nil { try await core.follow(relationship) }
        var source = LinkSource(owner, relationship)
        if source.isStale { source = try await Refresher(core).source(of: relationship, from: owner) }
        try owner.requireLive(source.status)
        if relationship.isComparedByServer { try await compareStagedKeys(relationship, of: owner) }
        let entity = relationship.destination
        if let loaded = core.loadedMembers(of: relationship, owner: owner, source),
            let objects = core.objects(loaded, of: entity)
        {
            return objects
        }
        guard let key = try relationship.ownKey(source.storedRow) else { return [] }
        let found = try await load(relationship, key, from: source, at: place)
        return core.objects(core.show(found, in: relationship, of: owner), of: entity, isFresh: true) ?? []
    }

    /// Loads a relationship for an object, and for the objects read with it.
    private func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        from source: LinkSource,
        at place: SourcePlace?
    ) async throws -> LoadedMembers {
        try requireFaulting(relationship, at: place)
        return try await core.client.called(at: place) {
            try await load(relationship, key, from: source)
        }
    }

    /// Throws if the relationship should have been prefetched.
    func requireFaulting(_ relationship: RelationshipRuntime, at place: SourcePlace?) throws {
        guard core.loading != .forbidden else {
            let path = "\(relationship.source.name).\(relationship.model.name)"
            throw KindredError(
                .loadingForbidden,
                "\(path) is not loaded, and this context loads no relationship by itself; prefetch it with the objects"
                    + (place.map { " (used at \($0))" } ?? ""),
                entity: relationship.source.name.description,
                key: relationship.model.name
            )
        }
    }
}

extension LinkSource {
    /// Whether the object has an answer itself, and not the group that it was read with.
    fileprivate func knows(_ one: LoadedOne) -> Bool {
        guard case .one(let known)? = loaded else { return false }
        return known.foreignKey == one.foreignKey && known.batch.askedAt == one.batch.askedAt
    }
}
