import KindredPostgres
import KindredSchema

/// Counts and looks for members of sets: in memory where they are loaded, else by one query for all owners that were
/// read together.
struct MemberCounter: Sendable {
    private let core: ContextCore
    private var loader: Loader { Loader(core) }

    init(_ core: ContextCore) { self.core = core }

    /// The number of an owner's members.
    func count(
        of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Int {
        if let loaded = try await loadedCount(of: relationship, owner: owner) { return loaded }
        if mustLoad(relationship, of: owner) {
            return try await loader.members(of: relationship, owner: owner, at: place).count
        }
        return try await tally(.count, of: relationship, owner: owner, at: place)
    }

    /// Whether an owner has any member.
    func hasMembers(
        of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Bool {
        if let loaded = try await loadedCount(of: relationship, owner: owner) { return loaded > 0 }
        if mustLoad(relationship, of: owner) {
            return try await !loader.members(of: relationship, owner: owner, at: place).isEmpty
        }
        return try await tally(.existence, of: relationship, owner: owner, at: place) > 0
    }

    /// Whether an object is a member; false for one of another entity or context, and for a deleted one.
    func contains(
        _ object: DatabaseObject, in relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Bool {
        try await requireLive(owner, relationship)
        guard object.core === core, object.runtime === relationship.destination, !object.isDeleted,
            let key = object.key
        else { return false }
        if relationship.isComparedByServer { try await loader.compareStagedKeys(relationship, of: owner) }
        if let isLoaded = core.isLoadedMember(key, of: relationship, owner: owner) { return isLoaded }
        if let change = core.stagedChange(relationship, of: owner) {
            if change.joined.contains(where: { $0 === object }) { return true }
            if change.left.contains(key) { return false }
        }
        if object.isInserted { return false }
        try loader.requireFaulting(relationship, at: place)
        if leadsToViewByHelper(relationship) {
            return try await loader.members(of: relationship, owner: owner).contains(object)
        }
        return try await isMember(object, of: relationship, owner: owner)
    }

    private func requireLive(_ owner: DatabaseObject, _ relationship: RelationshipRuntime) async throws {
        try owner.requireLive(try await Refresher(core).source(of: relationship, from: owner).status)
    }

    /// The number of members, if they are loaded.
    private func loadedCount(of relationship: RelationshipRuntime, owner: DatabaseObject) async throws -> Int? {
        if core.following != nil { try await core.follow(relationship) }
        try await requireLive(owner, relationship)
        if relationship.isComparedByServer { try await loader.compareStagedKeys(relationship, of: owner) }
        return core.loadedMembers(of: relationship, owner: owner)?.count
    }

    /// Whether the members have to be loaded to be counted: staged changes are in memory only, and a pair in the helper
    /// need not have a row in the view.
    private func mustLoad(_ relationship: RelationshipRuntime, of owner: DatabaseObject) -> Bool {
        core.stagedChange(relationship, of: owner) != nil || leadsToViewByHelper(relationship)
    }

    private func leadsToViewByHelper(_ relationship: RelationshipRuntime) -> Bool {
        guard relationship.helper != nil else { return false }
        return relationship.destination.entity.isView
    }

    private func tally(
        _ tally: MemberTally, of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Int {
        if let following = core.following {
            return try await followedCount(of: relationship, owner: owner, following, at: place)
        }
        return try await unfollowedTally(tally, of: relationship, owner: owner, at: place).number
    }

    /// The number of members as it was counted last, or counted now; a context that follows changes keeps it up to date.
    private func followedCount(
        of relationship: RelationshipRuntime, owner: DatabaseObject, _ following: ChangeFollowing,
        at place: SourcePlace?
    ) async throws -> Int {
        let source = LinkSource(owner, relationship)
        guard let key = try relationship.ownKey(source.storedRow) else { return 0 }
        func changedAt() -> ContextTime { loader.changedAt(relationship, key, ownKey: source.key) }
        if let known = following.count(relationship, key, since: changedAt()) { return known }
        let (number, askedAt) = try await unfollowedTally(.count, of: relationship, owner: owner, at: place)
        // An answer of a transaction may be rolled back.
        if core.journal == nil {
            let count = ChangeFollowing.Count(owner: owner, number: number, askedAt: askedAt)
            following.keep(count, of: relationship, key)
            if changedAt() > askedAt { following.mustCheck(at: core.now) }
        }
        return number
    }

    private func unfollowedTally(
        _ tally: MemberTally, of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> (number: Int, askedAt: ContextTime) {
        let source = LinkSource(owner, relationship)
        guard let key = try relationship.ownKey(source.storedRow) else { return (0, core.now) }
        try loader.requireFaulting(relationship, at: place)
        return try await core.client.called(at: place) {
            // An owner read alone has its own query, each time.
            guard core.faulting == .batch, let group = source.group, group.count > 1 else {
                let askedAt = core.now
                let number = try await queryAlone(tally, of: relationship, owner: owner)
                return (number, core.counted(askedAt))
            }
            let slot = tally.slot(of: relationship)
            let lostAt = core.withMap { $0.notes.lostAt(relationship) }
            group.forget(slot, before: lostAt)
            let batch = try await group.load(
                slot, key, staleSince: loader.changedAt(relationship, key, ownKey: source.key), from: source.position,
                in: core.client.transactionScope, isFoundByKey: relationship.ownColumns == relationship.source.key
            ) { element in
                try loader.candidate(element, relationship, mayBeKnown: false, lostAt: lostAt)
            } stale: { element, key in
                loader.changedAt(relationship, key, ownKey: element.key)
            } load: { keys in
                try await query(tally, of: relationship, keys)
            }
            if let count = batch.count(of: key),
                loader.changedAt(relationship, key, ownKey: source.key) <= batch.askedAt
            {
                return (count, batch.askedAt)
            }
            let askedAt = core.now
            let number = try await queryAlone(tally, of: relationship, owner: owner)
            return (number, core.counted(askedAt))
        }
    }

    /// One query for all owners with the given keys.
    private func query(
        _ tally: MemberTally, of relationship: RelationshipRuntime, _ keys: KeyNumbers
    ) async throws -> LoadedBatch {
        core.withMap { $0.notes.noteKnown(relationship.source) }
        let time = core.now
        let counts = try await counts(tally, of: relationship, keys)
        return LoadedBatch(counts: counts, of: keys, askedAt: core.counted(time), in: core.writing?.scope)
    }

    /// The numbers of members, by the owners' numbers: one query.
    func counts(
        _ tally: MemberTally, of relationship: RelationshipRuntime, _ keys: KeyNumbers
    ) async throws -> [Int] {
        let statements = CountStatements(relationship)
        let statement = try statements.tally(tally, of: keys.keys)
        let result = try await core.client.execute(statement, for: statements.rows.name)
        var counts = Array(repeating: 0, count: keys.count)
        for row in 0..<result.count {
            guard let number = try result.integer(row: row, column: 0), 1 <= number, number <= counts.count
            else { continue }
            counts[Int(number) - 1] = tally == .count ? Int(try result.integer(row: row, column: 1) ?? 0) : 1
        }
        return counts
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members.
    private func queryAlone(
        _ tally: MemberTally, of relationship: RelationshipRuntime, owner: DatabaseObject
    ) async throws -> Int {
        let statements = CountStatements(relationship)
        guard let statement = try statements.tally(tally, of: owner.storedRow) else { return 0 }
        switch try await core.client.execute(statement, for: statements.rows.name).first?[0] {
        case .integer(let count): return Int(count)
        case .bool(true): return 1
        default: return 0
        }
    }

    /// `SELECT EXISTS` of one member.
    private func isMember(
        _ member: DatabaseObject, of relationship: RelationshipRuntime, owner: DatabaseObject
    ) async throws -> Bool {
        let statements = CountStatements(relationship)
        guard let statement = try statements.exists(member.storedRow, of: owner.storedRow) else { return false }
        let result = try await core.client.execute(statement, for: statements.rows.name)
        return try result.first?[0] == .bool(true)
    }
}
