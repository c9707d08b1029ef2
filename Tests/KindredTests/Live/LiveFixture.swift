import KindredPostgres

@testable import Kindred
@testable import KindredLive
@testable import KindredSchema

/// Rows and live requests of the conditions' schema, without a server.
struct LiveFixture {
    let offline: OfflineContext
    let person: EntityRuntime
    let email: EntityRuntime

    init() throws {
        offline = try OfflineContext()
        person = try offline.context.core.runtime.entity(named: "person")
        email = try offline.context.core.runtime.entity(named: "email")
    }

    var core: ContextCore { offline.context.core }

    func row(of entity: EntityRuntime, _ values: [String: PostgresValue]) throws -> Row {
        var cells = RowCells()
        for (name, value) in values {
            guard let column = entity.attributeIndex(of: name) else { throw entity.unknownKey(name) }
            try cells.set(value, at: column, of: entity, nil)
        }
        return cells.row(entity.emptyRow(core.types).columns)
    }

    func member(_ id: Int64, _ values: [String: PostgresValue] = [:], of entity: EntityRuntime? = nil) throws -> Member
    {
        let row = try row(of: entity ?? person, values.merging(["id": .integer(id)]) { first, _ in first })
        return Member(key: .integer(id), row: row)
    }

    /// A live request of tables without policies.
    func query(_ request: FetchRequest<DatabaseObject>) throws -> LiveQuery {
        let reads = try LiveQuery.reads(of: request.query, prefetching: request.prefetched, in: core.runtime)
        let names = reads.names(in: core.runtime)
        let tables = names.map {
            LiveTables.Relation(start: $0, isOwn: true, name: $0, kind: "r", isTracked: true, definition: "")
        }
        return try LiveQuery(
            request.query, prefetching: request.prefetched, of: request.entity, in: core, reading: reads,
            from: LiveTables(names: names, relations: Set(tables)))
    }

    static func batch(_ changes: [String: TableChanges]) -> CommittedBatch {
        CommittedBatch(
            changes: Dictionary(uniqueKeysWithValues: changes.map { (ConditionFixture.name($0), $1) }))
    }
}
