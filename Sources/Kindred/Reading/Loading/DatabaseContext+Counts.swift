import KindredPostgres
import KindredSchema

// Small questions about a set that is not loaded: one query for all owners that were read together.
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
        guard case .helper = relationship.link else { return false }
        return runtime.entities[relationship.destination].entity.isView
    }

    private func tally(
        _ tally: MemberTally, _ relationship: RelationshipRuntime, _ owner: DatabaseObject, at place: SourcePlace?
    ) async throws -> Int {
        let source = LinkSource(owner, relationship.slot)
        guard let key = try ObjectKey(source.storedRow, relationship.ownColumns) else { return 0 }
        try requireFaulting(relationship, at: place)
        return try await client.called(at: place) {
            // Who was read alone asks for itself alone, each time anew.
            guard faulting == .batch, let group = source.group, group.count > 1 else {
                return try await queryAlone(tally, relationship, owner)
            }
            let slot = tally.slot(of: relationship)
            let entity = runtime.entities[relationship.source]
            let lostAt = withMap { $0.lostRows(of: relationship) }
            group.forget(slot, before: lostAt)
            let batch = try await group.load(
                slot, key, changedAt: changedAt(relationship, key, source.key), from: source.position,
                in: client.transactionScope, isFoundByKey: relationship.ownColumns == entity.key
            ) { element in
                try candidate(element, of: entity, relationship, mayBeKnown: false, lostAt)
            } change: { element, key in
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
        let (entity, columns) = runtime.linkColumns(relationship)
        let attributes = columns.map { entity.entity.attributes[$0] }
        let text = try runtime.entities[relationship.source].text("\(tally) \(relationship.slot)") {
            try tally.text(entity, columns, attributes)
        }
        var bindings = Bindings()
        try KeySet.append(keys.keys, attributes, to: &bindings)
        withMap { $0.noteKnown(relationship.source) }
        let (time, scope) = (now, journal?.scope)
        let statement = Statement(text: text, bindings: bindings, resultFormat: .binary)
        let result = try await client.execute(statement, for: entity.name)
        var counts = Array(repeating: 0, count: keys.count)
        for row in 0..<result.count {
            guard let number = try result.integer(row: row, column: 0), 1 <= number, number <= counts.count
            else { continue }
            counts[Int(number) - 1] = tally == .count ? Int(try result.integer(row: row, column: 1) ?? 0) : 1
        }
        return LoadedBatch(counts: counts, of: keys, askedAt: counted(time), in: scope)
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members.
    private func queryAlone(
        _ tally: MemberTally, _ relationship: RelationshipRuntime, _ owner: DatabaseObject
    ) async throws -> Int {
        guard let rows = try linkRows(relationship, owner) else { return 0 }
        let text = try rows.entity.text("\(tally) \(rows.columns)") {
            let members = """
                FROM \(try rows.entity.quotedName) WHERE \(try rows.entity.equality(rows.columns, firstParameter: 1))
                """
            return tally == .count ? "SELECT count(*) \(members)" : "SELECT EXISTS (SELECT \(members))"
        }
        let statement = Statement(text: text, bindings: rows.bindings, resultFormat: .binary)
        switch try await client.execute(statement, for: rows.entity.name).first?[0] {
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
        guard var rows = try linkRows(relationship, owner) else { return false }
        let row = member.storedRow
        let memberColumns: [Int]
        switch relationship.link {
        case .helper(let link):
            memberColumns = link.destinationColumns
            try rows.entity.append(try link.destination.map { try row[$0] }, for: memberColumns, to: &rows.bindings)
        case .referenced, .foreignKey:
            memberColumns = rows.entity.key
            try rows.entity.append(try memberColumns.map { try row[$0] }, for: memberColumns, to: &rows.bindings)
        }
        let columns = rows.columns + memberColumns
        let text = try rows.entity.text("exists \(columns)") {
            """
            SELECT EXISTS (SELECT FROM \(try rows.entity.quotedName) \
            WHERE \(try rows.entity.equality(columns, firstParameter: 1)))
            """
        }
        let statement = Statement(text: text, bindings: rows.bindings, resultFormat: .binary)
        let result = try await client.execute(statement, for: rows.entity.name)
        return try result.first?[0] == .bool(true)
    }

    /// The rows that make a relationship, members' or the helper's, and the owner's values that select them.
    ///
    /// nil where the owner's referenced columns are NULL, so that nothing can reference it.
    private func linkRows(
        _ relationship: RelationshipRuntime,
        _ owner: DatabaseObject
    ) throws -> (entity: EntityRuntime, columns: [Int], bindings: Bindings)? {
        let (entity, columns) = runtime.linkColumns(relationship)
        let row = owner.storedRow
        let values = try relationship.ownColumns.map { try row[$0] }
        guard !values.contains(nil) else { return nil }
        var bindings = Bindings()
        try entity.append(values, for: columns, to: &bindings)
        return (entity, columns, bindings)
    }
}

/// What is asked of many owners' sets at once without reading their members.
private enum MemberTally {
    /// How many members there are.
    case count
    /// Whether there are any: the server stops at the first.
    case existence

    /// Where a group keeps the answers: negative, beside the members' own places.
    func slot(of relationship: RelationshipRuntime) -> Int {
        switch self {
        case .count: -1 - 2 * relationship.slot
        case .existence: -2 - 2 * relationship.slot
        }
    }

    /// The query, which answers with the owners' places in the arrays: the server alone compares the keys.
    func text(_ entity: EntityRuntime, _ columns: [Int], _ attributes: [Attribute]) throws -> String {
        let names = columns.indices.map { "k\($0)" }
        let keys = KeySet.rows(attributes, firstParameter: 1)
        let owners = "\(keys) WITH ORDINALITY AS o(\(names.joined(separator: ", ")), n)"
        let pairs = try zip(names, columns).map { "t.\(try entity.quoted($1)) = o.\($0)" }.joined(separator: " AND ")
        let table = "\(try entity.quotedName) AS t"
        switch self {
        case .count: return "SELECT o.n, count(*) FROM \(owners) JOIN \(table) ON \(pairs) GROUP BY o.n"
        case .existence: return "SELECT o.n FROM \(owners) WHERE EXISTS (SELECT FROM \(table) WHERE \(pairs))"
        }
    }
}
