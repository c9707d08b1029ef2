import KindredPostgres
import KindredSchema

// Counts and tests members of sets that are not loaded: one query for all owners that were read together.
extension DatabaseContext {
    /// The number of members of an owner whose set is not loaded.
    func countMembers(
        of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Int {
        // A pair in the helper need not have a row in the view.
        if leadsToViewByHelper(relationship) {
            return try await members(of: relationship, owner: owner, at: place).count
        }
        return try await tally(.count, relationship, owner, at: place)
    }

    /// Whether an owner whose set is not loaded has any member.
    func hasMembers(
        of relationship: RelationshipRuntime, owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Bool {
        if leadsToViewByHelper(relationship) {
            return try await !members(of: relationship, owner: owner, at: place).isEmpty
        }
        return try await tally(.existence, relationship, owner, at: place) > 0
    }

    private func leadsToViewByHelper(_ relationship: RelationshipRuntime) -> Bool {
        guard relationship.helper != nil else { return false }
        return relationship.destination.entity.isView
    }

    private func tally(
        _ tally: MemberTally, _ relationship: RelationshipRuntime, _ owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Int {
        let source = LinkSource(owner, relationship)
        guard let key = try relationship.ownKey(source.storedRow) else { return 0 }
        try requireFaulting(relationship, at: place)
        return try await client.called(at: place) {
            // An owner read alone has its own query, each time.
            guard faulting == .batch, let group = source.group, group.count > 1 else {
                return try await queryAlone(tally, relationship, owner)
            }
            let slot = tally.slot(of: relationship)
            let entity = relationship.source
            let lostAt = core.withMap { $0.notes.lostAt(relationship) }
            group.forget(slot, before: lostAt)
            let batch = try await group.load(
                slot, key, staleSince: changedAt(relationship, key, source.key), from: source.position,
                in: client.transactionScope, isFoundByKey: relationship.ownColumns == entity.key
            ) { element in
                try candidate(element, of: entity, relationship, mayBeKnown: false, lostAt)
            } stale: { element, key in
                changedAt(relationship, key, element.key)
            } load: { keys in
                try await query(tally, relationship, keys)
            }
            if let count = batch.count(of: key), changedAt(relationship, key, source.key) <= batch.askedAt {
                return count
            }
            return try await queryAlone(tally, relationship, owner)
        }
    }

    /// One query for all owners with the given keys.
    private func query(
        _ tally: MemberTally, _ relationship: RelationshipRuntime, _ keys: KeyNumbers
    ) async throws -> LoadedBatch {
        let statements = CountStatements(relationship)
        let statement = try statements.tally(tally, of: keys.keys)
        core.withMap { $0.notes.noteKnown(relationship.source) }
        let time = core.now
        let result = try await client.execute(statement, for: statements.rows.name)
        var counts = Array(repeating: 0, count: keys.count)
        for row in 0..<result.count {
            guard let number = try result.integer(row: row, column: 0), 1 <= number, number <= counts.count
            else { continue }
            counts[Int(number) - 1] = tally == .count ? Int(try result.integer(row: row, column: 1) ?? 0) : 1
        }
        return LoadedBatch(counts: counts, of: keys, askedAt: core.counted(time), in: core.writing?.scope)
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members.
    private func queryAlone(
        _ tally: MemberTally, _ relationship: RelationshipRuntime, _ owner: DatabaseObject
    ) async throws -> Int {
        let statements = CountStatements(relationship)
        guard let statement = try statements.tally(tally, of: owner.storedRow) else { return 0 }
        switch try await client.execute(statement, for: statements.rows.name).first?[0] {
        case .integer(let count): return Int(count)
        case .bool(true): return 1
        default: return 0
        }
    }

    /// `SELECT EXISTS` of one member.
    func hasMember(
        _ member: DatabaseObject, of relationship: RelationshipRuntime, owner: DatabaseObject
    ) async throws -> Bool {
        if leadsToViewByHelper(relationship) {
            return try await members(of: relationship, owner: owner).contains(member)
        }
        let statements = CountStatements(relationship)
        guard let statement = try statements.exists(member.storedRow, of: owner.storedRow) else { return false }
        let result = try await client.execute(statement, for: statements.rows.name)
        return try result.first?[0] == .bool(true)
    }
}
