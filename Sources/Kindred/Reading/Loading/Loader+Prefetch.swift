import KindredPostgres
import KindredSchema
import Synchronization

extension Loader {
    /// Loads relationships of objects, and parts of them: one query for each and each level, none if all are loaded.
    ///
    /// The objects' groups keep the answers, as after a first access.
    func prefetch(_ tree: PrefetchTree, of objects: [DatabaseObject]) async throws {
        guard !tree.isEmpty, !objects.isEmpty else { return }
        for branch in tree.branches {
            let (relationship, deeper) = (branch.relationship, branch.tree)
            let loaded = try await LoadedBranch(
                relationship, part: branch.part, of: objects, leavingOut: deeper.leftOut, in: core)
            // Members that were loaded before may lack columns.
            let mayBePartial = core.mayBePartial.load(ordering: .acquiring)
            guard !deeper.isEmpty || mayBePartial else { continue }
            // Held until the deeper levels are loaded, because groups only know keys of objects in memory.
            var destinations: [DatabaseObject] = []
            var seen: Set<ObjectIdentifier> = []
            for object in objects where !object.isGone {
                for destination in try await loaded.destinations(of: object)
                where seen.insert(ObjectIdentifier(destination)).inserted {
                    destinations.append(destination)
                }
            }
            if mayBePartial { try await ColumnLoader(core).load(besides: deeper.leftOut, forAll: destinations) }
            try await prefetch(deeper, of: destinations)
        }
    }

    /// Loads a relationship for all objects that have not loaded it: one SELECT, or none if memory has all other ends.
    ///
    /// - Parameter leftOut: the members' columns that are left out; nil for the lazy ones.
    func load(
        _ relationship: RelationshipRuntime, forAll objects: [DatabaseObject], leavingOut leftOut: ColumnSet? = nil
    ) async throws {
        core.note(leavingOut: leftOut)
        try await core.follow(relationship)
        var groups: [ObjectIdentifier: FetchGroup] = [:]
        // Neighbouring objects mostly belong to one group.
        var latest: FetchGroup?
        var owners: [LoadingOwner] = []
        var keys = KeyNumbers()
        var known = KnownEnds(relationship, core)
        for object in objects where !object.isGone && !object.isInserted {
            guard let key = try keyToLoad(relationship, for: object) else { continue }
            if let known = try known?.find(key, from: object) {
                core.keep(.one(known), relationship, of: object)
                continue
            }
            let group = ownGroup(of: object)
            owners.append(LoadingOwner(object: object, key: key))
            keys.insert(key)
            if group !== latest {
                groups[ObjectIdentifier(group)] = group
                latest = group
            }
        }
        guard !owners.isEmpty else { return }
        let batch = try await query(relationship, keys, leavingOut: leftOut)
        for group in groups.values {
            group.keep(batch, relationship.slot)
        }
        for owner in owners { keepAnswer(relationship, owner.key, for: owner.object) }
    }

    /// The key by which an object's relationship is loaded; nil if it is loaded already.
    private func keyToLoad(_ relationship: RelationshipRuntime, for object: DatabaseObject) throws -> ObjectKey? {
        let source = LinkSource(object, relationship)
        guard relationship.holdsForeignKey else {
            guard core.loadedMembers(of: relationship, owner: object, source) == nil else { return nil }
            return try relationship.ownKey(source.storedRow)
        }
        guard let key = try relationship.ownKey(source.row) else { return nil }
        return currentOne(relationship, key, from: source) == nil ? key : nil
    }

    /// Copies the group's answer to the object, so that it stays when the object joins another group.
    private func keepAnswer(_ relationship: RelationshipRuntime, _ key: ObjectKey, for object: DatabaseObject) {
        let source = LinkSource(object, relationship)
        if !relationship.holdsForeignKey {
            _ = core.loadedMembers(of: relationship, owner: object, source)
        } else if let one = currentOne(relationship, key, from: source) {
            core.keep(.one(one), relationship, of: object)
        }
    }

    /// The group of the rows that an object was read with, or a new one.
    func ownGroup(of object: DatabaseObject) -> FetchGroup {
        object.withState { state in
            if let group = state.group { return group }
            let made = FetchGroup(.members([]), askedAt: .never)
            state.group = made
            state.position = 0
            return made
        }
    }
}

/// The other ends of a foreign key that are in memory, and are not read again.
///
/// The owners keep their rows: they are known after the objects have left memory, too.
private struct KnownEnds {
    private let relationship: RelationshipRuntime
    private let core: ContextCore
    private let time: ContextTime
    private var found: [ObjectKey: LoadedOne] = [:]

    /// nil where no object could be known, or none tells that a foreign key leads to it.
    init?(_ relationship: RelationshipRuntime, _ core: ContextCore) {
        guard relationship.holdsForeignKey, core.mayTrustObject(of: relationship),
            core.withMap({ $0.holdsObjects(of: relationship.destination) })
        else { return nil }
        (self.relationship, self.core, time) = (relationship, core, core.now)
    }

    /// The row that an object's foreign key leads to; nil if it has to be read.
    mutating func find(_ key: ObjectKey, from object: DatabaseObject) throws -> LoadedOne? {
        if let one = found[key] { return one }
        guard let end = try Loader(core).liveDestination(of: relationship, key, object.row) else { return nil }
        let (isCurrent, row) = end.withState { ($0.status == .persistent && !$0.isStale, $0.storedRow) }
        guard isCurrent, !core.isPartial(end), let memberKey = end.key, !memberKey.isTemporary else { return nil }
        let member = Member(key: memberKey, row: row)
        let batch = Answer([member], askedAt: time, in: core.writing?.scope)
        let one = LoadedOne(foreignKey: key, member: member, batch: batch)
        found[key] = one
        return one
    }
}

/// An object whose relationship is being loaded, with the key that it is loaded by.
private struct LoadingOwner {
    let object: DatabaseObject
    let key: ObjectKey
}
