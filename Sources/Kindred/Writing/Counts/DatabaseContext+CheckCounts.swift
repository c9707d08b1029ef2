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
            let statements = CountStatements(relationship, runtime)
            for keys in ends.map(\.owner).slices() {
                locks.append(try statements.lockOwners(keys))
                counts.append((relationship, try statements.outsideLimits(keys)))
            }
        }
        guard let first = counts.first else { return [] }
        let results = try await send(
            locks + counts.map(\.statement), runtime.entities[first.relationship.source])
        return try zip(counts, results.dropFirst(locks.count)).flatMap { count, result in
            try (0..<result.count).map { try problem(count.relationship, result, row: $0) }
        }
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
