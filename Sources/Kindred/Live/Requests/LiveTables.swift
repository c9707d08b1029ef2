import KindredPostgres
import KindredSchema

/// The tables that stand behind the relations which live requests read.
struct LiveTables: Sendable {
    /// A relation whose changes may change the rows of another.
    private struct Relation: Sendable {
        /// The relation that is read.
        let start: QualifiedName
        /// Whether it is that relation itself, or the table of which it is a partition.
        let isOwn: Bool
        let name: QualifiedName
        let kind: String
        let isTracked: Bool
    }

    private let relations: [Relation]

    /// Asks the catalog, in one statement.
    init(behind names: some Collection<QualifiedName>, in schema: DatabaseSchema, _ client: PostgresClient) async throws
    {
        var starts: [Int64: QualifiedName] = [:]
        for name in names {
            if let oid = schema[name]?.oid { starts[Int64(oid)] = name }
        }
        let statement = try LiveStatements.tables(read: starts.keys.sorted())
        let rows = try await KindredError.tracking(client) { try await client.execute(statement) }
        if let row = rows.first { try Tracking.requireCompatible(row, at: 6) }
        relations = try rows.compactMap { row in
            guard let start = try row.decode(0, as: Int64.self).flatMap({ starts[$0] }),
                let isOwn = try row.decode(1, as: Bool.self), let kind = try row.decode(2, as: String.self),
                let schema = try row.decode(3, as: String.self), let name = try row.decode(4, as: String.self),
                let isTracked = try row.decode(5, as: Bool.self)
            else { return nil }
            return Relation(
                start: start, isOwn: isOwn, name: QualifiedName(schema: schema, name: name), kind: kind,
                isTracked: isTracked)
        }
    }

    /// A request's reads by tables.
    struct Found: Sendable {
        var reads = LiveReads()
        /// The tables that views and policies name.
        var indirect: Set<QualifiedName> = []
    }

    /// Finds the tables of a request's reads: views and policies stand for the tables that they name.
    ///
    /// Throws `KindredError` `.invalidRequest` for relations that cannot be followed, `.trackingNotEnabled` with the names of
    /// all tables whose changes are not recorded.
    func resolve(_ reads: LiveReads) throws -> Found {
        var found = Found()
        var untracked: Set<QualifiedName> = []
        for relation in relations {
            if let what = Self.unfollowable[relation.kind] { throw Self.unfollowable(relation.name, what) }
            guard relation.kind == "r" || relation.kind == "p" else { continue }
            if !relation.isTracked { untracked.insert(relation.name) }
            if !relation.isOwn { found.indirect.insert(relation.name) }
            if relation.isOwn, let columns = reads.tables[relation.start], let columns {
                for column in columns { found.reads.add(column, of: relation.name) }
            } else {
                found.reads.add(relation.name)
            }
        }
        guard untracked.isEmpty else { throw KindredError(untracked: untracked) }
        return found
    }

    /// Whether the changes of all tables are recorded.
    var areTracked: Bool { relations.allSatisfy { $0.isTracked || $0.kind == "v" } }

    private static let unfollowable = ["f": "a foreign table", "m": "a materialized view"]

    /// The error for a relation whose changes cannot be known.
    static func unfollowable(_ name: QualifiedName, _ what: String) -> KindredError {
        KindredError(
            .invalidRequest, "\(name) is \(what), whose changes are not recorded: a live request cannot read it",
            entity: name.description)
    }
}
