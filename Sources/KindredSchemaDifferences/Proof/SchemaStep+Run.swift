import KindredDDL
import KindredPostgres

/// The server refused a statement of a plan.
struct FailedStatement: Error {
    let sql: String
    let reason: String
    let kind: Kind

    enum Kind {
        case failed
        /// It took too long and was stopped.
        case cut
        /// Only another role may run it, such as the superuser that owns the things of an extension.
        case refused
    }
}

extension SchemaStep {
    /// Runs the statements as the step says; throws ``FailedStatement`` for the first that fails.
    ///
    /// No query of a materialized view runs.
    ///
    /// - Parameter done: Statements that made extensions before.
    func run(on client: PostgresClient, without done: Set<ServerText> = []) async throws {
        let statements = statements.filter { !done.contains($0.sql) }
        // The things of an extension belong to the superuser.
        func isAboutExtension(_ sql: String) -> Bool {
            sql.hasPrefix("ALTER EXTENSION ") || sql.hasPrefix("DROP EXTENSION ")
        }
        func run(_ statement: SchemaStatement) async throws {
            do {
                try await ScratchServer.run(DDL.withoutRows(statement.sql), on: client)
            } catch let error as PostgresError {
                let isRefused = error.sqlState == .insufficientPrivilege && isAboutExtension(statement.sql)
                throw FailedStatement(
                    sql: statement.sql, reason: error.server?.message ?? error.message,
                    kind: error.isCut ? .cut : isRefused ? .refused : .failed)
            }
        }
        if isTransaction {
            try await client.withTransaction { _ in for statement in statements { try await run(statement) } }
        } else {
            for statement in statements { try await run(statement) }
        }
    }
}
