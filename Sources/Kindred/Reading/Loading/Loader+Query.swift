import KindredPostgres
import KindredSchema

// The queries that load relationships: one for all objects of a group.
extension Loader {
    /// Loads a relationship for an object, and for the objects of its group that have not loaded it.
    func load(
        _ relationship: RelationshipRuntime,
        _ key: ObjectKey,
        from source: LinkSource
    ) async throws -> LoadedMembers {
        let asker = Asker(MembersQuestion(relationship, core), in: source.group, at: source.position)
        return try await asker.answer(for: key, ownKey: source.key).knownMembers(of: key)
    }

    /// One query for the members of all owners with the given keys.
    ///
    /// - Parameter leftOut: the members' columns that are left out; nil for the lazy ones.
    package func query(
        _ relationship: RelationshipRuntime, _ keys: KeyNumbers, leavingOut leftOut: ColumnSet? = nil
    ) async throws -> Answer {
        core.willAsk(relationship)
        let time = core.now
        let found = try await answer(relationship, keys, leavingOut: leftOut)
        let batch = found.build(askedAt: core.counted(time), in: core.writing?.scope)
        try core.take(batch, of: relationship.destination)
        return batch
    }

    /// The members of all owners with the given keys, which memory does not have yet: one query.
    ///
    /// - Parameters:
    ///   - leftOut: the members' columns that are left out; nil for the lazy ones.
    ///   - lacking: columns that the members' table may no longer have.
    package func answer(
        _ relationship: RelationshipRuntime, _ keys: KeyNumbers, leavingOut leftOut: ColumnSet? = nil,
        lacking: ColumnSet = []
    ) async throws -> Answer.Builder {
        let query = RelationshipQuery(relationship)
        func statement(for owners: [ObjectKey]) throws -> Statement {
            try query.statement(for: owners, leavingOut: leftOut, lacking: lacking)
        }
        let result = try await core.read(try statement(for: keys.keys), for: query.destination.name)
        var found = Answer.Builder(owners: keys, count: result.count)
        var places = KeyNumbers()
        try add(result, query, to: &found, places: &places)
        // The answer has one of several equal forms of a key, although each foreign key leads to a row.
        let mayMissForms = relationship.isComparedByServer && relationship.holdsForeignKey
        guard found.hasOthers || mayMissForms && !found.hasMembersOfAll else { return found }
        return try await answerEach(query, keys, asking: statement)
    }

    /// One query per owner, in one round trip, where only the server can compare keys: texts that ignore case or
    /// trailing spaces, intervals, documents.
    private func answerEach(
        _ query: RelationshipQuery, _ keys: KeyNumbers, asking statement: ([ObjectKey]) throws -> Statement
    ) async throws -> Answer.Builder {
        let owners = keys.keys
        let statements = try owners.map { try statement([$0]) }
        let results = try await core.read(statements, query.destination)
        var found = Answer.Builder(owners: keys, count: 0)
        var places = KeyNumbers()
        for (owner, result) in zip(owners, results) {
            try add(result, query, to: &found, places: &places, owner: owner)
        }
        return found
    }

    /// Adds the rows of a result, to the owners that they name, or all to one.
    private func add(
        _ result: QueryResult,
        _ query: RelationshipQuery,
        to found: inout Answer.Builder,
        places: inout KeyNumbers,
        owner: ObjectKey? = nil
    ) throws {
        let entity = query.destination
        let rows = try EntityRows(result, of: entity)
        let (ownerKeys, memberKeys) = (
            try ResultKeys(result, query.ownerColumns), try ResultKeys(result, entity.key)
        )
        for position in 0..<result.count {
            guard let owner = try owner ?? ownerKeys[position] else { continue }
            // Objects without a key are never looked up; their position identifies them.
            let key = try entity.key.isEmpty ? .integer(Int64(position)) : memberKeys[position]
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
    }
}

/// Which rows are the members of owners, or to which row a foreign key leads.
struct MembersQuestion: Question {
    let core: ContextCore
    private let relationship: RelationshipRuntime
    /// Whether an object may be in memory that foreign keys lead to.
    private let mayBeKnown: Bool

    init(_ relationship: RelationshipRuntime, _ core: ContextCore) {
        (self.relationship, self.core) = (relationship, core)
        // Skips the look-up where no object is in memory that foreign keys could lead to.
        mayBeKnown =
            relationship.holdsForeignKey && core.mayTrustObject(of: relationship)
            && core.withMap { $0.holdsObjects(of: relationship.destination) }
    }

    var slot: Int { relationship.slot }
    // An element asked for by its own key needs no object to tell that it is loaded.
    var isFoundByKey: Bool { relationship.ownColumns == relationship.source.key }
    var lostAt: ContextTime { core.lostAt(relationship) }

    func staleSince(_ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        core.staleSince(relationship, key, ownKey: ownKey)
    }

    func candidate(_ element: FetchGroup.Element) throws -> ObjectKey? {
        let row: Row
        switch element {
        case .key(let key):
            guard let object = core.liveObject(relationship.source, key) else { return nil }
            let (stored, batch) = object.withState { state -> (Row?, Answer?) in
                guard state.status == .persistent, !state.isStale else { return (nil, nil) }
                return (state.row, relationship.isToMany ? state.relationships[relationship.slot]?.batch : nil)
            }
            guard let stored else { return nil }
            if let batch, core.isUsableByGroup(batch, in: relationship, of: object) { return nil }
            row = stored
        case .member(let member): row = member.row
        }
        guard let key = try relationship.ownKey(row) else { return nil }
        guard mayBeKnown, let known = try Loader(core).liveDestination(of: relationship, key, row) else { return key }
        return core.isPartial(known) ? key : nil
    }

    func ask(_ owners: KeyNumbers) async throws -> Answer { try await Loader(core).query(relationship, owners) }
}

/// The keys in some columns of a result.
private struct ResultKeys {
    private let result: QueryResult
    private let columns: [Int]
    /// The keys, if they are integers and none is NULL.
    private let integers: [Int64]?

    init(_ result: QueryResult, _ columns: [Int]) throws {
        self.result = result
        self.columns = columns
        let isInteger = columns.count == 1 && result.columns.isInteger(at: columns[0])
        integers = isInteger ? try result.integers(column: columns[0]) : nil
    }

    /// The key in a row; nil if a part of it is NULL.
    subscript(row: Int) -> ObjectKey? {
        get throws {
            if let integers { return .integer(integers[row]) }
            return try ObjectKey(result, row: row, columns)
        }
    }
}
