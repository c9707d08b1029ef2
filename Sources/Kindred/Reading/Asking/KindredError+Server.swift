import KindredPostgres

extension KindredError {
    /// The server's refusal of a write in this layer's terms: entity, key and constraint.
    ///
    /// nil unless an integrity constraint (SQLSTATE class 23) or the type of a column (class 22) refused it, or it does not fit
    /// the database: other failures are passed on as they are.
    init?(
        refused error: PostgresError, entity: EntityRuntime, key: String?, among objects: [DatabaseObject] = [],
        advice: String = ""
    ) {
        let reason: String
        var code = Code.constraintViolation
        switch error.sqlState {
        case .uniqueViolation?: reason = "another row already has this value"
        case .foreignKeyViolation?, .restrictViolation?:
            reason = "a row that it references is missing, or rows still reference it"
        case .checkViolation?: reason = "the value breaks the rule"
        case .exclusionViolation?: reason = "it conflicts with another row"
        case .notNullViolation?:
            code = .missingValue
            reason = "\(error.server?.table ?? entity.name.name).\(error.server?.column ?? "a column") may not be NULL"
        case .stringDataRightTruncation?, .numericValueOutOfRange?:
            code = .valueTooLarge
            reason = "a value is longer or larger than its column takes"
        case let state? where state.class == .dataException:
            code = .wrongType
            reason = "the server cannot use a value, or a calculation over it has failed (SQLSTATE \(state))"
        default:
            self.init(misfit: error, entity: entity.name)
            return
        }
        let constraint = error.server?.constraint
        let name = constraint.map { " by constraint \"\($0)\"" } ?? ""
        let refused = RefusedRow(error, among: objects)
        let key = key ?? error.server?.column ?? refused.key ?? entity.onlyAttribute(ofTypeIn: error)
        let object = refused.object
        let what = object.map { "\($0)" } ?? "\(entity.name)"
        let message = "The change of \(what)\(key.map { ".\($0)" } ?? "") was refused\(name): \(reason)\(advice)"
        self.init(
            code,
            message,
            entity: entity.name.description,
            key: key,
            constraint: constraint,
            underlying: error,
            problems: [
                ValidationProblem(
                    code,
                    message,
                    object: object,
                    entity: entity.name.description,
                    key: key,
                    constraint: constraint
                )
            ]
        )
    }
}

extension EntityRuntime {
    /// The attribute that a value was too large for: the server names its type, and there may be but one of that.
    fileprivate func onlyAttribute(ofTypeIn error: PostgresError) -> String? {
        guard error.sqlState == .stringDataRightTruncation,
            let type = error.server?.message.firstRange(of: " for type ").flatMap({ range in
                error.server?.message[range.upperBound...]
            })
        else { return nil }
        let found = entity.attributes.filter { $0.typeName == type }
        return found.count == 1 ? found[0].name : nil
    }
}

extension DatabaseContext {
    /// What a COMMIT was refused for, by a constraint that is looked at there, as an error like any other refusal.
    func refusedAtEnd(_ error: PostgresError, among objects: [DatabaseObject]) -> any Error {
        let entity = runtime.entities.first { entity in
            entity.name.name == error.server?.table && entity.name.schema == error.server?.schema
        }
        guard let entity else { return error }
        let own = objects.filter { $0.runtime === entity }
        return KindredError(refused: error, entity: entity, key: nil, among: own) ?? error
    }
}
