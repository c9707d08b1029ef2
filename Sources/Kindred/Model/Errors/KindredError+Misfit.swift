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
