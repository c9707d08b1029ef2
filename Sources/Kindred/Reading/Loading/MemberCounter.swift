import KindredPostgres
import KindredSchema

/// Counts and looks for the members of an owner's set: in memory where they are loaded, else by one query for all owners that
/// were read together.
struct MemberCounter: Sendable {
    private let core: ContextCore
    private let relationship: RelationshipRuntime
    private let owner: DatabaseObject
    /// The place in the program that asks.
    private let place: SourcePlace?
    private var loader: Loader { Loader(core) }

    init(_ core: ContextCore, of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?) {
        (self.core, self.relationship, self.owner, self.place) = (core, relationship, owner, place)
    }

    /// The number of members.
    func count() async throws -> Int {
        if let loaded = try await loadedCount() { return loaded }
        return try await mustLoad ? members().count : tally(.count)
    }

    /// Whether there are any members.
    func hasMembers() async throws -> Bool {
        if let loaded = try await loadedCount() { return loaded > 0 }
        return try await mustLoad ? !members().isEmpty : tally(.existence) > 0
    }

    /// Whether an object is a member; false for one of another entity or context, and for a deleted one.
    func contains(_ object: DatabaseObject) async throws -> Bool {
        try await requireLive()
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
        return try await leadsToViewByHelper ? members().contains(object) : isMember(object)
    }

    private func members() async throws -> [DatabaseObject] {
        try await loader.members(of: relationship, owner: owner, at: place)
    }

    private func requireLive() async throws {
        try owner.requireLive(try await Refresher(core).source(of: relationship, from: owner).status)
    }

    /// The number of members, if they are loaded.
    private func loadedCount() async throws -> Int? {
        if core.following != nil { try await core.follow(relationship) }
        try await requireLive()
        if relationship.isComparedByServer { try await loader.compareStagedKeys(relationship, of: owner) }
        return core.loadedMembers(of: relationship, owner: owner)?.count
    }

    /// Whether the members have to be loaded to be counted: staged changes are in memory only, and a pair in the helper
    /// need not have a row in the view.
    private var mustLoad: Bool { core.stagedChange(relationship, of: owner) != nil || leadsToViewByHelper }

    private var leadsToViewByHelper: Bool { relationship.helper != nil && relationship.destination.entity.isView }

    private func tally(_ tally: MemberTally) async throws -> Int {
        if let following = core.following { return try await followedCount(following) }
        return try await unfollowedTally(tally).number
    }

    /// The number of members as it was counted last, or counted now; a context that follows changes keeps it up to date.
    private func followedCount(_ following: ChangeFollowing) async throws -> Int {
        let source = LinkSource(owner, relationship)
        guard let key = try relationship.ownKey(source.storedRow) else { return 0 }
        func changedAt() -> ContextTime { core.changedAt(relationship, key, ownKey: source.key) }
        if let known = following.count(relationship, key, since: changedAt()) { return known }
        let (number, askedAt) = try await unfollowedTally(.count)
        // An answer of a transaction may be rolled back.
        if core.journal == nil {
            let count = ChangeFollowing.Count(owner: owner, number: number, askedAt: askedAt)
            following.keep(count, of: relationship, key)
            if changedAt() > askedAt { core.becomeStale() }
        }
        return number
    }

    private func unfollowedTally(_ tally: MemberTally) async throws -> (number: Int, askedAt: ContextTime) {
        let source = LinkSource(owner, relationship)
        guard let key = try relationship.ownKey(source.storedRow) else { return (0, core.now) }
        try loader.requireFaulting(relationship, at: place)
        return try await core.client.called(at: place) {
            // An owner read alone has its own query, each time.
            guard core.loading == .batch, let group = source.group, group.count > 1 else {
                let askedAt = core.now
                return (try await queryAlone(tally), core.counted(askedAt))
            }
            let asker = Asker(TallyQuestion(tally, of: relationship, core), in: group, at: source.position)
            let answer = try await asker.answer(for: key, ownKey: source.key)
            return (answer.count(of: key) ?? 0, answer.askedAt)
        }
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members.
    private func queryAlone(_ tally: MemberTally) async throws -> Int {
        let statements = CountStatements(relationship)
        guard let statement = try statements.tally(tally, of: owner.storedRow) else { return 0 }
        switch try await core.read(statement, for: statements.rows.name).first?[0] {
        case .integer(let count): return Int(count)
        case .bool(true): return 1
        default: return 0
        }
    }

    /// `SELECT EXISTS` of one member.
    private func isMember(_ member: DatabaseObject) async throws -> Bool {
        let statements = CountStatements(relationship)
        guard let statement = try statements.exists(member.storedRow, of: owner.storedRow) else { return false }
        let result = try await core.read(statement, for: statements.rows.name)
        return try result.first?[0] == .bool(true)
    }
}

/// How many members owners have, or whether they have any.
private struct TallyQuestion: Question {
    let core: ContextCore
    private let tally: MemberTally
    private let relationship: RelationshipRuntime
    private let members: MembersQuestion

    init(_ tally: MemberTally, of relationship: RelationshipRuntime, _ core: ContextCore) {
        (self.tally, self.relationship, self.core) = (tally, relationship, core)
        members = MembersQuestion(relationship, core)
    }

    var slot: Int { tally.slot(of: relationship) }
    var isFoundByKey: Bool { members.isFoundByKey }
    var lostAt: ContextTime { members.lostAt }

    func staleSince(_ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        core.changedAt(relationship, key, ownKey: ownKey)
    }

    func candidate(_ element: FetchGroup.Element) throws -> ObjectKey? { try members.candidate(element) }

    func ask(_ owners: KeyNumbers) async throws -> Answer {
        core.willAsk(relationship)
        let time = core.now
        let counts = try await Loader(core).counts(tally, of: relationship, owners)
        return Answer(counts: counts, of: owners, askedAt: core.counted(time), in: core.writing?.scope)
    }
}

extension Loader {
    /// The numbers of members, by the owners' numbers: one query.
    package func counts(
        _ tally: MemberTally, of relationship: RelationshipRuntime, _ keys: KeyNumbers
    ) async throws -> [Int] {
        let statements = CountStatements(relationship)
        let statement = try statements.tally(tally, of: keys.keys)
        let result = try await core.read(statement, for: statements.rows.name)
        var counts = Array(repeating: 0, count: keys.count)
        for row in 0..<result.count {
            guard let number = try result.integer(row: row, column: 0), 1 <= number, number <= counts.count
            else { continue }
            counts[Int(number) - 1] = tally == .count ? Int(try result.integer(row: row, column: 1) ?? 0) : 1
        }
        return counts
    }
}
