import KindredPostgres
import KindredSchema

extension EntityRuntime {
    /// Binds a value as a column's type; throws before anything is sent if it does not fit.
    func bind(_ value: PostgresValue?, as column: Int, to bindings: inout Bindings) throws {
        let attribute = entity.attributes[column]
        do {
            try bindings.append(value, for: attribute)
        } catch let error as PostgresError {
            throw KindredError(
                .wrongType,
                "\(name).\(attribute.name) is of type \(attribute.typeName): \(error.message)",
                entity: name.description,
                key: attribute.name,
                underlying: error
            )
        }
    }
}

extension Bindings {
    /// Appends a value as a column's type.
    ///
    /// The server infers a type that was made in the database, since it may have been made anew after the model was
    /// read. It infers a row's type in assignments only.
    mutating func append(_ value: PostgresValue?, for attribute: Attribute) throws {
        var isRow = false
        if case .composite = attribute.structure { isRow = !attribute.isArray }
        let isInferred = attribute.baseType.isUserDefined && !isRow
        try append(value, as: attribute.baseType, isInferred: isInferred)
    }
}
