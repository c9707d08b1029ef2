import Kindred
import KindredPostgres
import KindredSchema

/// The tables that stand behind the relations which live requests read, as the catalog said.
struct LiveTables: Sendable, Equatable {
    /// A relation whose changes may change the rows of another.
    struct Relation: Sendable, Hashable {
        /// The relation that is read.
        let start: QualifiedName
        /// Whether it is that relation itself, or the partitioned table above it.
        let isOwn: Bool
        let name: QualifiedName
        let kind: String
        let isTracked: Bool
        /// A text that changes when the view, its policies or its keys change.
        let definition: String
    }

    /// The relations that requests read, in a model.
    struct Key: Hashable, Sendable {
        let runtime: SchemaRuntime
        let tenant: TenantNames?
        let names: Set<QualifiedName>

        static func == (left: Key, right: Key) -> Bool {
            left.runtime === right.runtime && left.tenant == right.tenant && left.names == right.names
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(runtime))
            hasher.combine(tenant)
            hasher.combine(names)
        }
    }

    /// The relations that are read.
    let names: Set<QualifiedName>
    private let relations: Set<Relation>
    /// The tenant whose tables they are; nil for tables that all share.
    private let tenant: TenantNames?

    /// Asks the catalog, in one statement.
    ///
    /// - Parameters:
    ///   - names: the names in the model.
    ///   - tenant: the tenant whose tables are meant.
    init(behind names: Set<QualifiedName>, of tenant: TenantNames?, _ client: PostgresClient) async throws {
        (self.names, self.tenant) = (names, tenant)
        let starts = Array(names)
        let statement = try LiveStatements.tables(read: starts.map { tenant?.name(inDatabase: $0) ?? $0 })
        let rows = try await KindredError.tracking(client) { try await client.execute(statement) }
        if let row = rows.first { try Tracking.requireCompatible(row, at: 7) }
        relations = try Set(
            rows.compactMap { row in
                guard let number = try row.decode(0, as: Int.self), starts.indices.contains(number - 1),
                    let isOwn = try row.decode(1, as: Bool.self), let kind = try row.decode(2, as: String.self),
                    let schema = try row.decode(3, as: String.self), let name = try row.decode(4, as: String.self),
                    let isTracked = try row.decode(5, as: Bool.self),
                    let definition = try row.decode(6, as: String.self)
                else { return nil }
                let found = QualifiedName(schema: schema, name: name)
                return Relation(
                    start: starts[number - 1], isOwn: isOwn, name: tenant?.name(inModel: found) ?? found,
                    kind: kind, isTracked: isTracked, definition: definition)
            })
    }

    /// The tables that stand behind some of the relations.
    func part(behind names: Set<QualifiedName>) -> LiveTables {
        LiveTables(names: names, relations: relations.filter { names.contains($0.start) }, of: tenant)
    }

    init(names: Set<QualifiedName>, relations: Set<Relation>, of tenant: TenantNames? = nil) {
        (self.names, self.relations, self.tenant) = (names, relations, tenant)
    }

    /// A table that stands behind relations that a request reads.
    struct Source: Sendable {
        /// The relations that have its rows as they are: the table itself, and a partition.
        var relations: [QualifiedName] = []
        /// Whether views or policies name it, so that any of its columns may decide.
        var isIndirect = false
    }

    /// Finds the tables behind the relations: views and policies stand for the tables that they name.
    ///
    /// Throws `KindredError` `.invalidRequest` for relations that cannot be followed, `.trackingNotEnabled` with the names of
    /// all tables whose changes are not recorded.
    func sources() throws -> [QualifiedName: Source] {
        var found: [QualifiedName: Source] = [:]
        var untracked: Set<QualifiedName> = []
        for relation in relations {
            if let what = Self.unfollowable[relation.kind] { throw Self.unfollowable(relation.name, what) }
            guard relation.kind == "r" || relation.kind == "p" else { continue }
            if !relation.isTracked { untracked.insert(tenant?.name(inDatabase: relation.name) ?? relation.name) }
            if relation.isOwn {
                found[relation.name, default: Source()].relations.append(relation.start)
            } else {
                found[relation.name, default: Source()].isIndirect = true
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
            .invalidRequest,
            """
            \(name) is \(what), whose changes are not recorded: neither a live request nor a context that tracks changes can \
            read it
            """,
            entity: name.description)
    }
}
