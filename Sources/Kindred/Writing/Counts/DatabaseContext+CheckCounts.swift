import KindredPostgres
import KindredSchema

extension TransactionJournal {
    /// Throws `KindredError` `.countOutOfRange` if the transaction leaves a set with fewer or more members than
    /// allowed.
    ///
    /// Sends nothing unless members of such sets have come or gone; else one round trip for each context.
    func checkCounts() async throws {
        var problems: [ValidationProblem] = []
        for (core, ends) in takeCounted() { problems += try await core.context.countProblems(ends) }
        // Wraps several problems in one error.
        if let error = KindredError(problems) {
            throw KindredError(
                .countOutOfRange, error.message, entity: error.entity, key: error.key, problems: error.problems)
        }
    }
}

extension DatabaseContext {
    /// The sets of the given owners that have fewer or more members than allowed.
    ///
    /// Locks the owners first, in the order of their keys, so that of two concurrent transactions the second counts the
    /// rows of the first. Skips owners that are gone.
    fileprivate func countProblems(_ ends: Set<StagedLinks.End>) async throws -> [ValidationProblem] {
        let groups = Dictionary(grouping: ends, by: \.relationship).sorted { $0.key < $1.key }
        var locks: [Statement] = []
        var counts: [(relationship: RelationshipRuntime, statement: Statement)] = []
        for (relationship, ends) in groups {
            let statements = CountStatements(relationship)
            for keys in ends.map(\.owner).slices() {
                locks.append(try statements.lockOwners(keys))
                counts.append((relationship, try statements.outsideLimits(keys)))
            }
        }
        guard let first = counts.first else { return [] }
        let results = try await send(
            locks + counts.map(\.statement), first.relationship.source)
        return try zip(counts, results.dropFirst(locks.count)).flatMap { count, result in
            try (0..<result.count).map { try problem(count.relationship, result, row: $0) }
        }
    }

    private func problem(
        _ relationship: RelationshipRuntime, _ result: QueryResult, row: Int
    ) throws -> ValidationProblem {
        let entity = relationship.source
        let own = relationship.ownColumns
        let key = try ObjectKey(result, row, Array(own.indices))
        let count = Int(try result.integer(row: row, column: own.count) ?? 0)
        let name = relationship.model.name
        let owner = try key.flatMap { key in
            entity.isKey(own)
                ? core.liveObject(entity, entity.identity(key))
                : try core.withMap { try $0.objects(entity, where: own, equal: key) }
                    .first { entity.isReferenced($0.storedRow) }
        }
        let what =
            owner.map { "\($0)" }
            ?? key.flatMap { entity.isKey(own) ? "\(ObjectID(entity, entity.identity($0)))" : nil }
        let reason =
            if let minimum = relationship.minimum, count < minimum {
                "at least \(minimum) objects, and has \(count)"
            } else {
                "at most \(relationship.maximum ?? 0) objects, and has more"
            }
        return ValidationProblem(
            .countOutOfRange, "\(what ?? "\(entity.name)").\(name) must have \(reason)", object: owner,
            entity: entity.name.description, key: name)
    }
}

/// A query for the owners of rows.
struct FormerOwners {
    let statement: Statement
    /// The selected columns.
    let columns: [Int]
    let links: [CountLimits.Link]
}

// Before a write of rows that sets require, reads their owners from the database, because memory need not know them.
extension DatabaseContext {
    /// Runs a write of an entity's rows, in its own transaction if it may break the limits of a set, or if rules may put
    /// rows elsewhere: then also in a savepoint of a running one.
    ///
    /// - Parameter columns: the columns written; nil for new rows.
    func write<T>(
        of entity: EntityRuntime, _ columns: [Int]? = nil, _ body: () async throws -> T
    ) async throws -> T {
        guard entity.hasRules || core.journal == nil && core.runtime.countLimits?.concern(entity, columns) == true
        else {
            return try await core.write(body)
        }
        do {
            return try await transaction { try await core.write(body) }
        } catch let error as PostgresError {
            throw refusedAtEnd(error, among: [])
        }
    }

    /// Locks rows before some of their columns are written, and selects the owners that they leave.
    ///
    /// Memory may have other owners. Nil if no owner has limits.
    func formerOwners(of keys: [ObjectKey], _ entity: EntityRuntime, writing columns: [Int]) throws -> FormerOwners? {
        guard let limits = core.counting?.limits else { return nil }
        let links = limits.requiredLinks(of: entity, among: columns)
        guard !links.isEmpty, !keys.isEmpty else { return nil }
        let selected = Set(links.flatMap(\.columns)).sorted()
        let statement = try DeletionStatements.rows(entity, keys, columns: selected, isLocked: true)
        return FormerOwners(statement: statement, columns: selected, links: links)
    }

    /// Notes the owners that objects are about to leave, by one SELECT if an owner has limits.
    func countFormer(_ objects: [DatabaseObject], _ entity: EntityRuntime, writing columns: [Int]) async throws {
        guard core.counting != nil,
            let former = try formerOwners(of: objects.compactMap(\.key), entity, writing: columns)
        else { return }
        try count(former, try await send([former.statement], entity)[0])
    }

    func count(_ former: FormerOwners, _ result: QueryResult) throws {
        for row in 0..<result.count {
            for link in former.links {
                if let key = try ObjectKey(result, row, link.columns.compactMap(former.columns.firstIndex(of:))) {
                    core.journal?.count(link.relationship, key, in: core)
                }
            }
        }
    }
}
