import KindredSchema

@testable import Kindred
@testable import KindredPostgres

/// A context whose database is never queried: changes in memory can be tested without a server.
struct OfflineContext {
    let context: DatabaseContext
    /// `title`, with an `id` and a `name`.
    let entity: EntityRuntime

    init() throws {
        let client = try PostgresClient(try PostgresConfiguration(uri: "postgres://localhost:1/none"), nil)
        let runtime = try SchemaRuntime(ConditionFixture.schema, classes: TypedClasses()).checked()
        context = Database(client: client, runtime: runtime, overrides: [], logger: nil).makeContext()
        entity = try context.core.runtime.entity(named: "title")
    }

    func row(_ id: Int, _ name: String) throws -> Row {
        var cells = RowCells()
        try cells.set(.integer(Int64(id)), at: 0, of: entity, nil)
        try cells.set(.string(name), at: 1, of: entity, nil)
        return cells.row(entity.emptyRow(context.core.types).columns)
    }

    /// The object of a row that was read.
    func object(_ id: Int, _ name: String) throws -> DatabaseObject {
        let object = context.core.make(entity, try row(id, name), in: nil, at: 0)
        _ = context.core.withMap { $0.insert(object, of: entity, key: .integer(Int64(id))) }
        return object
    }

    func journal() -> TransactionJournal { TransactionJournal(context.core.database, ContextTurns()) { true } }

    /// Gives an object the row that a statement of the task's transaction has written.
    func write(_ name: String, to object: DatabaseObject, in journal: TransactionJournal?) async throws {
        let row = try row(1, name)
        try await TransactionJournal.with(journal) { try context.core.take(row, for: object) }
    }
}

extension DatabaseObject {
    /// The name in the database as far as the object knows.
    var storedName: String? { get throws { try storedRow.decode(1, as: String.self) } }
    /// The name that the object shows.
    var shownName: String? { get throws { try row.decode(1, as: String.self) } }
}

/// Tests write a time as a number.
extension ContextTime: ExpressibleByIntegerLiteral {
    init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}
