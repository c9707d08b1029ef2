import KindredDDL
import KindredPostgres

/// The server refused a statement of a plan.
struct FailedStatement: Error {
    let sql: String
    let reason: String
    /// Whether it was stopped because it took too long.
    let isCut: Bool
}

extension SchemaStep {
    /// Runs the statements as the step says; throws ``FailedStatement`` for the first that fails.
    ///
    /// No query of a materialized view runs.
    ///
    /// - Parameter done: Statements that made extensions before.
    func run(on client: PostgresClient, without done: Set<ServerText> = []) async throws {
        let statements = statements.filter { !done.contains($0.sql) }
        func run(_ statement: SchemaStatement) async throws {
            do {
                try await ScratchServer.run(DDL.withoutRows(statement.sql), on: client)
            } catch let error as PostgresError {
                throw FailedStatement(
                    sql: statement.sql, reason: error.server?.message ?? error.message, isCut: error.isCut)
            }
        }
        if isTransaction {
            try await client.withTransaction { _ in for statement in statements { try await run(statement) } }
        } else {
            for statement in statements { try await run(statement) }
        }
    }
}
