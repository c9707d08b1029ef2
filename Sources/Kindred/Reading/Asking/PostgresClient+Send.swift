import KindredPostgres
import KindredSchema

// Sends statements to the server, and translates its errors.
extension PostgresClient {
    /// Sends statements as one: outside a transaction they form an implicit transaction.
    func send(
        _ statements: [Statement],
        _ entity: EntityRuntime,
        key: String? = nil,
        for objects: [DatabaseObject] = []
    ) async throws -> [QueryResult] {
        do {
            let results = try await executeBatch(statements)
            guard results.count == statements.count else { throw PostgresError.noResult }
            return results
        } catch let error as PostgresError {
            throw KindredError(refused: error, entity: entity, key: key, among: objects) ?? error
        }
    }

    /// Runs a statement generated from the model.
    ///
    /// Throws `KindredError` if the statement does not fit the database, or the role may not run it.
    @inline(__always)
    package func execute(_ statement: consuming Statement, for entity: QualifiedName) async throws -> QueryResult {
        do {
            return try await execute(statement)
        } catch let error as PostgresError {
            throw KindredError(rejectedStatement: error, entity: entity) ?? error
        }
    }

    /// The keys whose rows exist, one SELECT for each 10,000 keys, in one round trip.
    package func storedKeys(among keys: [ObjectKey], of entity: EntityRuntime) async throws -> Set<ObjectKey> {
        guard !keys.isEmpty else { return [] }
        let batch = try keys.slices().map {
            try DeletionStatements.rows(entity, $0, columns: entity.key, isLocked: false)
        }
        return try await send(batch, entity).reduce(into: []) { found, result in
            found.formUnion(try result.indices.compactMap { try ObjectKey(result, row: $0, Array(entity.key.indices)) })
        }
    }

    /// The rows that statements find, by key.
    package func rows(_ statements: [Statement], _ entity: EntityRuntime) async throws -> [ObjectKey: Row] {
        var rows: [ObjectKey: Row] = [:]
        for result in try await send(statements, entity) {
            let found = try EntityRows(result, of: entity)
            for position in 0..<found.count {
                let row = try found[position]
                if let key = try ObjectKey(row, entity.key) { rows[key] = row }
            }
        }
        return rows
    }

    /// Throws for a lock that would end with its own statement.
    func requireTransaction() throws {
        guard !isInTransaction else { return }
        throw KindredError(
            .invalidRequest, "A lock lasts until the end of its transaction: take it inside context.transaction { }")
    }
}
