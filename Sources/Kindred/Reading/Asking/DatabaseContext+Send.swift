import KindredPostgres
import KindredSchema

// Sends statements to the server, and translates its errors.
extension DatabaseContext {
    var client: PostgresClient { database.client }

    /// Sends statements as one: outside a transaction they form an implicit transaction.
    func send(
        _ statements: [Statement],
        _ entity: EntityRuntime,
        key: String? = nil,
        for objects: [DatabaseObject] = []
    ) async throws -> [QueryResult] {
        do {
            if statements.count == 1 { return [try await client.execute(statements[0])] }
            return try await client.executeBatch(statements)
        } catch let error as PostgresError {
            throw KindredError(refused: error, entity: entity, key: key, among: objects) ?? error
        }
    }
}

extension PostgresClient {
    /// Runs a statement generated from the model.
    ///
    /// Throws `KindredError` if the statement does not fit the database, or the role may not run it.
    func execute(_ statement: consuming Statement, for entity: QualifiedName) async throws -> QueryResult {
        do {
            return try await execute(statement)
        } catch let error as PostgresError {
            throw KindredError(rejectedStatement: error, entity: entity) ?? error
        }
    }
}
