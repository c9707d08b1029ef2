import KindredPostgres
import KindredSchema

/// The question to whom rows belong.
struct FormerOwners {
    let statement: Statement
    /// What it selects.
    let columns: [Int]
    let links: [CountLimits.Link]
}

// Before rows are written that sets need: whose they are in the database, which memory need not know.
extension DatabaseContext {
    /// Runs a write of an entity's rows, in a transaction of its own where it may break the limits of a set.
    ///
    /// - Parameter columns: those that are written; nil for new rows.
    func write<T>(
        of entity: EntityRuntime, _ columns: [Int]? = nil, _ body: () async throws -> T
    ) async throws -> T {
        guard journal == nil, runtime.countLimits?.concern(entity.index, columns) == true else {
            return try await write(body)
        }
        do {
            return try await transaction { try await write(body) }
        } catch let error as PostgresError {
            throw refusedAtEnd(error, among: [])
        }
    }

    /// The statement that locks rows before columns of theirs are written, and tells the owners that they leave.
    ///
    /// In memory they may have others. nil where no owner needs them.
    func formerOwners(of keys: [ObjectKey], _ entity: EntityRuntime, writing columns: [Int]) throws -> FormerOwners? {
        guard let limits = counting?.limits else { return nil }
        let links = limits.requiredLinks(of: entity.index, among: columns)
        guard !links.isEmpty, !keys.isEmpty else { return nil }
        let selected = Set(links.flatMap(\.columns)).sorted()
        let statement = try DeletionStatements(runtime: runtime)
            .rows(entity, keys, columns: selected, isLocked: true)
        return FormerOwners(statement: statement, columns: selected, links: links)
    }

    /// Notes the owners that objects are about to leave, by one SELECT where an owner needs its members.
    func countFormer(_ objects: [DatabaseObject], _ entity: EntityRuntime, writing columns: [Int]) async throws {
        guard let former = try formerOwners(of: objects.compactMap(\.key), entity, writing: columns) else { return }
        try count(former, try await send([former.statement], entity)[0])
    }

    func count(_ former: FormerOwners, _ result: QueryResult) throws {
        for row in 0..<result.count {
            for link in former.links {
                if let key = try ObjectKey(result, row, link.columns.compactMap(former.columns.firstIndex(of:))) {
                    journal?.count(link.relationship, key, in: self)
                }
            }
        }
    }
}
