import KindredPostgres
import KindredSchema

extension TransactionJournal {
    /// Throws `KindredError` `.countOutOfRange` if the transaction leaves a set with fewer or more members than allowed.
    ///
    /// Sends nothing unless members of such sets have come or gone; else one round trip for each context.
    func checkCounts() async throws {
        var problems: [ValidationProblem] = []
        for (context, ends) in takeCounted() { problems += try await context.countProblems(ends) }
        // Several are of one kind too.
        if let error = KindredError(problems) {
            throw KindredError(
                .countOutOfRange, error.message, entity: error.entity, key: error.key, problems: error.problems)
        }
    }
}

extension DatabaseContext {
    /// The sets of the given owners that have fewer or more members than allowed.
    ///
    /// The owners are locked first, in the order of their keys, so that of two transactions at once the second counts
    /// what the first has stored. Owners that are gone count no more.
    fileprivate func countProblems(_ ends: Set<StagedLinks.End>) async throws -> [ValidationProblem] {
        struct Owners: Hashable {
            let entity: Int
            let slot: Int
        }
        let groups = Dictionary(grouping: ends) { Owners(entity: $0.entity, slot: $0.slot) }
            .sorted { ($0.key.entity, $0.key.slot) < ($1.key.entity, $1.key.slot) }
        var locks: [Statement] = []
        var counts: [(relationship: RelationshipRuntime, statement: Statement)] = []
        for (owners, ends) in groups {
            let relationship = runtime.entities[owners.entity].relationships[owners.slot]
            for keys in ends.map(\.owner).slices() {
                locks.append(try lockOwners(relationship, keys))
                counts.append((relationship, try countMembers(relationship, keys)))
            }
        }
        guard let first = counts.first else { return [] }
        let results = try await send(
            locks + counts.map(\.statement), runtime.entities[first.relationship.source])
        return try zip(counts, results.dropFirst(locks.count)).flatMap { count, result in
            try (0..<result.count).map { try problem(count.relationship, result, row: $0) }
        }
    }

    /// `SELECT … ORDER BY key FOR NO KEY UPDATE`: those who add members may still refer to the owners meanwhile.
    private func lockOwners(_ relationship: RelationshipRuntime, _ keys: [ObjectKey]) throws -> Statement {
        let entity = runtime.entities[relationship.source]
        let own = relationship.ownColumns
        let text = try entity.text("count lock \(own)") {
            let columns = try own.map { "o.\(try entity.quoted($0))" }
            return """
                SELECT 1 FROM \(try entity.quotedName) AS o \
                WHERE \(KeySet.condition(columns, entity.attributes(own), firstParameter: 1)) \
                ORDER BY \(columns.joined(separator: ", ")) FOR NO KEY UPDATE OF o
                """
        }
        var bindings = Bindings()
        try KeySet.append(keys, entity.attributes(own), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// The owners with fewer or more members than allowed, and how many were counted: one too many is enough to know.
    private func countMembers(_ relationship: RelationshipRuntime, _ keys: [ObjectKey]) throws -> Statement {
        let entity = runtime.entities[relationship.source]
        let own = relationship.ownColumns
        let attributes = entity.attributes(own)
        let text = try entity.text("count \(relationship.slot)") {
            let (members, columns) = runtime.linkColumns(relationship)
            let columnNames = try own.map { "o.\(try entity.quoted($0))" }
            let pairs = try zip(columns, columnNames).map { "t.\(try members.quoted($0)) = \($1)" }
            let next = own.count + 1
            return """
                SELECT \(try entity.selectList(of: own, alias: "o")), c.n FROM \(try entity.quotedName) AS o \
                CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM \(try members.quotedName) AS t \
                WHERE \(pairs.joined(separator: " AND ")) LIMIT $\(next)) AS m) AS c \
                WHERE \(KeySet.condition(columnNames, attributes, firstParameter: 1)) \
                AND (c.n < $\(next + 1) OR c.n > $\(next + 2))
                """
        }
        let (minimum, maximum) = (relationship.minimum ?? 0, relationship.maximum ?? .max)
        var bindings = Bindings()
        try KeySet.append(keys, attributes, to: &bindings)
        for number in [maximum == .max ? minimum : max(minimum, maximum + 1), minimum, maximum] {
            try bindings.append(.integer(Int64(number)), as: .int8)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private func problem(
        _ relationship: RelationshipRuntime, _ result: QueryResult, row: Int
    ) throws -> ValidationProblem {
        let entity = runtime.entities[relationship.source]
        let own = relationship.ownColumns
        let key = try ObjectKey(result, row, Array(own.indices))
        let count = Int(try result.integer(row: row, column: own.count) ?? 0)
        let name = relationship.model.name
        let owner = try key.flatMap { key in
            own == entity.key
                ? liveObject(entity, key) : try withMap { try $0.objects(entity, where: own, equal: key) }.first
        }
        let what = owner.map { "\($0)" } ?? key.flatMap { own == entity.key ? "\(ObjectID(entity, $0))" : nil }
        let reason =
            if let minimum = relationship.minimum, count < minimum {
                "at least \(minimum) objects, and has \(count)"
            } else {
                "at most \(relationship.maximum ?? 0) objects, and has more"
            }
        return ValidationProblem(
            .countOutOfRange, "\(what ?? "\(entity.name)").\(name) has to have \(reason)", object: owner,
            entity: entity.name.description, key: name)
    }
}
