import KindredPostgres
import KindredSchema

/// The names of a table's shard in the server's error: Citus says `person_102008` and `person_pkey_102008`, often in the message
/// alone.
///
/// A number is cut off only where the whole name is no constraint of the model and the rest is one of the table, so that the
/// errors of other servers stay as they are.
struct ShardNames {
    private let server: ServerMessage
    private let entity: EntityRuntime
    /// The names in the message: servers put them between quotes, whatever else they translate.
    private let quoted: [String]

    init?(_ error: PostgresError, _ entity: EntityRuntime) {
        guard let server = error.server, error.sqlState?.class == .integrityConstraintViolation else { return nil }
        self.server = server
        self.entity = entity
        let parts = server.message.split(separator: "\"", omittingEmptySubsequences: false)
        quoted = parts.count.isMultiple(of: 2) ? [] : parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// The table's constraint that refused the change, if the server's fields do not name it already.
    var constraint: String? {
        guard isOfTable else { return nil }
        if let named = server.constraint { return constraint(named) }
        for name in quoted {
            if entity.entity.constraintNames.contains(name) { return name }
            if let found = constraint(name) { return found }
        }
        return nil
    }

    /// The column that must not be NULL, if the server's fields do not name it.
    var column: String? {
        guard server.sqlState == .notNullViolation, server.column == nil, isOfTable else { return nil }
        return quoted.first { entity.attributeIndex(of: $0) != nil }
    }

    /// Whether the error may be about the table: it names the table, or its shard, or none.
    private var isOfTable: Bool {
        if let table = server.table { return isTable(table) }
        // Only a unique index needs no table in its message.
        return quoted.count == 1 || quoted.contains(where: isTable)
    }

    private func isTable(_ name: String) -> Bool {
        name == entity.name.name || Self.withoutNumber(name) == entity.name.name
    }

    private func constraint(_ name: String) -> String? {
        guard !entity.constraintsOfModel.contains(name), let rest = Self.withoutNumber(name) else { return nil }
        return entity.entity.constraintNames.contains(rest) ? rest : nil
    }

    /// The name without the number of a shard behind it; nil if there is none.
    private static func withoutNumber(_ name: String) -> String? {
        guard let end = name.lastIndex(of: "_") else { return nil }
        let number = name[name.index(after: end)...]
        guard !number.isEmpty, number.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return String(name[..<end])
    }
}

extension PostgresError {
    /// The error with the entity's names in place of its shard's names; the error itself if the server has named no
    /// shard of it.
    func naming(_ entity: EntityRuntime) -> PostgresError {
        guard let server, let names = ShardNames(self, entity) else { return self }
        let (constraint, column) = (names.constraint, names.column)
        guard constraint != nil || column != nil else { return self }
        return PostgresError(
            code, message, sqlState: sqlState,
            server: ServerMessage(
                severity: server.severity, sqlState: server.sqlState, message: server.message, detail: server.detail,
                hint: server.hint, position: server.position, context: server.context, schema: entity.name.schema,
                table: entity.name.name, column: column ?? server.column, dataType: server.dataType,
                constraint: constraint ?? server.constraint, routine: server.routine),
            statement: statement, underlying: underlying, transactionID: transactionID,
            mayHaveTakenEffect: mayHaveTakenEffect)
    }

    /// The error with the names of the entity whose constraint's shard it names; itself if there is none.
    func naming(in runtime: SchemaRuntime) -> PostgresError {
        // As every server but a distributed one says it.
        if let schema = server?.schema, let table = server?.table,
            runtime[QualifiedName(schema: schema, name: table)] != nil
        {
            return self
        }
        let found = runtime.entities.first { ShardNames(self, $0)?.constraint != nil }
        return found.map(naming) ?? self
    }
}
