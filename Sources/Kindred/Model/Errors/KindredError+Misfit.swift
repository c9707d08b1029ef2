import KindredPostgres
import KindredSchema

extension KindredError {
    /// The server's refusal of a statement that this layer made of the model: the database has changed since the model was
    /// read, the role may not do this, or a condition's value or calculation fails.
    ///
    /// nil for all other failures, which are passed on as they are.
    init?(misfit error: PostgresError, entity: QualifiedName) {
        let code: Code
        let advice: String
        switch error.sqlState {
        case .undefinedTable?, .undefinedColumn?, .undefinedObject?, .invalidSchemaName?:
            code = .schemaChanged
            advice =
                "the database has changed since the model was read: call refreshSchema(), and generate typed classes anew"
        case .insufficientPrivilege?:
            code = .accessDenied
            advice = "grant the role the privilege, or see the table's row-level security policies"
        case let state? where state.class == .dataException:
            code = .invalidCondition
            advice = "look at the values and calculations of its conditions"
        default: return nil
        }
        self.init(
            code, "A statement for \(entity) was refused: \(error.message); \(advice)", entity: entity.description,
            underlying: error)
    }
}

extension PostgresClient {
    /// Runs a statement that this layer made of the model.
    ///
    /// Throws `KindredError` where the statement does not fit the database, or the role may not run it.
    func execute(_ statement: consuming Statement, for entity: QualifiedName) async throws -> QueryResult {
        do {
            return try await execute(statement)
        } catch let error as PostgresError {
            throw KindredError(misfit: error, entity: entity) ?? error
        }
    }
}
