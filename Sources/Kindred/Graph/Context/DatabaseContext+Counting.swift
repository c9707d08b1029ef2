import KindredPostgres
import KindredSchema

/// Whether the task writes, so that what is noted of rows is its own doing, and not what it has read.
enum CountedWrite {
    @TaskLocal static var isRunning = false
}

// Which owners a transaction gives members to or takes them from. They are counted at its end: see `countProblems`.
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

    /// The limits to heed, and where to note what may break them; nil where nothing is written or has limits.
    private var counting: (limits: CountLimits, journal: TransactionJournal)? {
        guard let limits = runtime.countLimits, CountedWrite.isRunning, let journal else { return nil }
        return (limits, journal)
    }

    /// Notes that a row was stored, changed or deleted.
    func countMove(of entity: EntityRuntime, from old: Row?, to new: Row?) {
        guard let (limits, journal) = counting else { return }
        for link in limits.links(of: entity.index) {
            let former = old.flatMap { try? ObjectKey($0, link.columns) }
            let owner = new.flatMap { try? ObjectKey($0, link.columns) }
            if former == owner { continue }
            if let former, link.relationship.minimum != nil { journal.count(link.relationship, former, in: self) }
            if let owner, link.relationship.maximum != nil { journal.count(link.relationship, owner, in: self) }
        }
    }

    /// Notes that members of an owner came or left.
    func count(_ relationship: RelationshipRuntime, of owner: DatabaseObject) {
        guard relationship.minimum != nil || relationship.maximum != nil, let journal = counting?.journal else {
            return
        }
        for key in ownKeys(relationship, owner) where !key.isTemporary { journal.count(relationship, key, in: self) }
    }

    /// Notes that an owner's pair came or left, of whom the key alone is known.
    func count(_ relationship: RelationshipRuntime, ofOwner key: ObjectKey) {
        guard relationship.minimum != nil || relationship.maximum != nil, let journal = counting?.journal else {
            return
        }
        journal.count(relationship, key, in: self)
    }

    /// Notes that a new row has sets that may not be empty.
    func countNew(_ row: Row, of entity: EntityRuntime) {
        guard let (limits, journal) = counting else { return }
        for relationship in limits.required(of: entity.index) {
            if let key = try? ObjectKey(row, relationship.ownColumns) { journal.count(relationship, key, in: self) }
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

/// The question to whom rows belong.
struct FormerOwners {
    let statement: Statement
    /// What it selects.
    let columns: [Int]
    let links: [CountLimits.Link]
}
