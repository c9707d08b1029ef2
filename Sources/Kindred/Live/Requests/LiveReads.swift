import KindredPostgres
import KindredSchema

/// What a live request reads: a change of anything else cannot change its answer.
struct LiveReads: Sendable {
    /// The columns by table; nil for all of them.
    private(set) var tables: [QualifiedName: Set<String>?] = [:]

    /// Adds all columns of a table.
    mutating func add(_ table: QualifiedName) { tables.updateValue(nil, forKey: table) }

    /// Adds a column of a table.
    mutating func add(_ column: String, of table: QualifiedName) {
        guard let known = tables[table] else {
            tables[table] = .some([column])
            return
        }
        if let known { tables[table] = .some(known.union([column])) }
    }

    /// The changes of a table that may change the answer, if there are any.
    ///
    /// Rows that come and go count always, and those whose changed columns are not known.
    func concerns(_ table: QualifiedName, _ changes: TableChanges) -> Bool {
        guard let columns = tables[table] else { return false }
        guard let columns, changes.gap == nil, changes.inserted.isEmpty, changes.deleted.isEmpty else { return true }
        return changes.updated.values.contains { $0.map { !$0.isDisjoint(with: columns) } ?? true }
    }
}

extension LiveReads {
    /// What a request reads, by the names of the model's entities: condition, order, and all of what it shows.
    init(_ query: SelectQuery, _ prefetched: PrefetchTree, of entity: EntityRuntime, in schema: DatabaseSchema) throws {
        for column in try query.reads(in: schema).columns { add(column.name, of: column.entity) }
        add(entity.name)
        add(prefetched)
    }

    private mutating func add(_ tree: PrefetchTree) {
        for (relationship, deeper) in tree.branches {
            add(relationship.destination.name)
            if let helper = relationship.helper { add(helper.entity.name) }
            add(deeper)
        }
    }
}

/// Asks the catalog which tables stand behind what a request reads.
struct LiveTables: Sendable {
    let client: PostgresClient
    let schema: DatabaseSchema

    /// The request's reads by tables: views and policies stand for the tables that they name, which `indirect` has.
    ///
    /// Throws `KindredError` `.invalidRequest` for relations that cannot be followed, `.trackingNotEnabled` with the names of all
    /// tables whose changes are not recorded.
    func resolve(_ reads: LiveReads) async throws -> (reads: LiveReads, indirect: Set<QualifiedName>) {
        var names: [Int64: QualifiedName] = [:]
        for name in reads.tables.keys {
            guard let oid = schema[name]?.oid else { continue }
            names[Int64(oid)] = name
        }
        let statement = try LiveStatements.tables(read: names.keys.sorted().map { UInt32(truncatingIfNeeded: $0) })
        var found = LiveReads()
        var (indirect, untracked): (Set<QualifiedName>, Set<QualifiedName>) = ([], [])
        for row in try await client.execute(statement) {
            guard let start = try row.decode(0, as: Int64.self).flatMap({ names[$0] }),
                let kind = try row.decode(2, as: String.self), let schema = try row.decode(3, as: String.self),
                let table = try row.decode(4, as: String.self)
            else { continue }
            let name = QualifiedName(schema: schema, name: table)
            if let what = Self.unfollowable[kind] { throw Self.unfollowable(name, what) }
            guard kind == "r" || kind == "p" else { continue }
            if try row.decode(5, as: Bool.self) != true { untracked.insert(name) }
            guard try row.decode(1, as: Bool.self) == true else {
                found.add(name)
                indirect.insert(name)
                continue
            }
            guard let columns = reads.tables[start], let columns else {
                found.add(name)
                continue
            }
            for column in columns { found.add(column, of: name) }
        }
        guard untracked.isEmpty else { throw Self.untracked(untracked) }
        return (found, indirect)
    }

    private static let unfollowable = ["f": "a foreign table", "m": "a materialized view"]

    /// The error for a relation whose changes cannot be known.
    static func unfollowable(_ name: QualifiedName, _ what: String) -> KindredError {
        KindredError(
            .invalidRequest, "\(name) is \(what), whose changes are not recorded: a live request cannot read it",
            entity: name.description)
    }

    private static func untracked(_ tables: Set<QualifiedName>) -> KindredError {
        let names = tables.map(\.description).sorted()
        return KindredError(
            .trackingNotEnabled,
            """
            The changes of \(names.joined(separator: ", ")) are not recorded: run `kindred enable \
            \(names.joined(separator: " "))`, or call database.tracking.enable
            """, entity: names.count == 1 ? names[0] : nil)
    }
}
