import KindredPostgres
import KindredSchema

extension TransactionJournal {
    /// Throws `KindredError` `.countOutOfRange` if the transaction leaves a set with fewer or more members than
    /// allowed.
    ///
    /// Sends nothing unless members of such sets have come or gone; else one round trip for each context.
    func checkCounts() async throws {
        var problems: [KindredError.Problem] = []
        for (core, ends) in takeCounted() { problems += try await CountCheck(core).problems(ends) }
        // Wraps several problems in one error.
        if let error = KindredError(problems) {
            throw KindredError(
                .countOutOfRange, error.message, entity: error.entity, key: error.key, problems: error.problems)
        }
    }
}

/// Checks that sets with declared counts keep them.
///
/// Owners are noted where their members change. Before a write of rows that sets require, their owners are read from the
/// database, because memory need not know them.
struct CountCheck: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Locks rows before some of their columns are written, and selects the owners that they leave.
    ///
    /// Memory may have other owners. None if no owner has limits; several where Citus distributes rows of several tenants.
    func formerOwners(of keys: [ObjectKey], _ entity: EntityRuntime, writing columns: [Int]) throws -> [FormerOwners] {
        guard let limits = core.counting?.limits, !keys.isEmpty else { return [] }
        let links = limits.requiredLinks(of: entity, among: columns)
        return try entity.tenantGroups(keys, of: entity.key) { $0 }.compactMap { keys in
            try FormerOwners(links) { selected in
                try DeletionStatements.rows(entity, keys, columns: selected, isLocked: true)
            }
        }
    }

    /// Notes the owners that objects are about to leave, by one SELECT if an owner has limits.
    func noteFormer(_ objects: [DatabaseObject], writing columns: [Int]) async throws {
        guard core.counting != nil, let entity = objects.first?.runtime else { return }
        for former in try formerOwners(of: objects.compactMap(\.key), entity, writing: columns) {
            try note(former, try await core.client.send([former.statement], entity)[0])
        }
    }

    /// Notes the owners that a query has found.
    func note(_ former: FormerOwners, _ result: QueryResult) throws {
        for row in 0..<result.count {
            for link in former.links {
                if let key = try ObjectKey(result, row: row, link.columns.compactMap(former.columns.firstIndex(of:))) {
                    core.journal?.count(link.relationship, key, in: core)
                }
            }
        }
    }

    /// The sets of the given owners that have fewer or more members than allowed.
    ///
    /// Locks the owners first, in the order of their keys, so that of two concurrent transactions the second counts the
    /// rows of the first. Skips owners that are gone.
    func problems(_ given: Set<StagedLinks.End>) async throws -> [KindredError.Problem] {
        let ends = try await self.ends(given)
        let groups = Dictionary(grouping: ends, by: \.relationship).sorted { $0.key < $1.key }
        var locks: [Statement] = []
        var counts: [(relationship: RelationshipRuntime, statement: Statement)] = []
        for (relationship, ends) in groups {
            let statements = CountStatements(relationship)
            for keys in relationship.source.slices(ends.map(\.owner), of: relationship.ownColumns) {
                locks.append(try statements.lockOwners(keys))
                counts.append((relationship, try statements.outsideLimits(keys)))
            }
        }
        guard let first = counts.first else { return [] }
        let results = try await core.client.send(
            locks + counts.map(\.statement), first.relationship.source)
        return try zip(counts, results.dropFirst(locks.count)).flatMap { count, result in
            try (0..<result.count).map { try problem(count.relationship, result, row: $0) }
        }
    }

    /// The ends of owners, including owners with which members are paired: one SELECT for each set of such members.
    private func ends(_ given: Set<StagedLinks.End>) async throws -> Set<StagedLinks.End> {
        var ends = given.filter { !$0.isOfMember }
        guard ends.count < given.count else { return ends }
        let members = Dictionary(grouping: given.filter(\.isOfMember), by: \.relationship)
        for (relationship, members) in members.sorted(by: { $0.key < $1.key }) {
            guard let helper = relationship.helper else { continue }
            let statements = CountStatements(relationship)
            for keys in members.map(\.owner).slices() {
                let result = try await core.client.send(
                    [try statements.owners(of: keys, through: helper)], relationship.source)[0]
                for row in result.indices {
                    if let owner = try ObjectKey(result, row: row, Array(helper.sourceColumns.indices)) {
                        ends.insert(StagedLinks.End(relationship: relationship, owner: owner))
                    }
                }
            }
        }
        return ends
    }

    private func problem(
        _ relationship: RelationshipRuntime, _ result: QueryResult, row: Int
    ) throws -> KindredError.Problem {
        let entity = relationship.source
        let own = relationship.ownColumns
        let key = try ObjectKey(result, row: row, Array(own.indices))
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
        return KindredError.Problem(
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

extension FormerOwners {
    /// A query that selects the columns of foreign keys; nil if there are none.
    init?(_ links: [CountLimits.Link], selecting query: (_ columns: [Int]) throws -> Statement) rethrows {
        guard !links.isEmpty else { return nil }
        let columns = Set(links.flatMap(\.columns)).sorted()
        self.init(statement: try query(columns), columns: columns, links: links)
    }
}
