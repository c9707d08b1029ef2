import KindredDDL
import KindredPostgres

/// The server refused a statement of a plan.
struct FailedStatement: Error {
    let sql: String
    let reason: String
}

extension SchemaStep {
    /// Runs the statements as the step says; throws ``FailedStatement`` for the first that fails.
    func run(on client: PostgresClient) async throws {
        func run(_ statement: SchemaStatement) async throws {
            do {
                try await ScratchServer.run(statement.sql, on: client)
            } catch let error as PostgresError {
                throw FailedStatement(sql: statement.sql, reason: error.server?.message ?? error.message)
            }
        }
        if isTransaction {
            try await client.withTransaction { _ in for statement in statements { try await run(statement) } }
        } else {
            for statement in statements { try await run(statement) }
        }
    }
}
