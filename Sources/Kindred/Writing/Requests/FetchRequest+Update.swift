import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// Sets new values in the rows that the request selects, all of them or none, and returns their number.
    ///
    /// ```swift
    /// let sold = try await context.fetch("product").where("stock > 0")
    ///     .update(["stock": Formula("stock - %@", 1), "checked": true])
    /// ```
    ///
    /// One UPDATE; order, limit and offset are honoured, and ``lock(_:_:)`` can skip rows locked by other transactions.
    /// A value may be an attribute's, an object for a to-one relationship whose foreign key the rows hold, nil, or a
    /// ``Formula`` over the row's former values. The objects in memory follow, and staged changes stay staged;
    /// `willSave` and validations of the program do not run, since most of the rows have no object.
    ///
    /// Throws `KindredError`, before anything is sent: `.unknownKey`, `.wrongType`, `.missingValue` for nil where a
    /// value is required, `.readOnly` for the key and for generated columns; `.constraintViolation` if the database
    /// refuses.
    @discardableResult
    public func update(_ values: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line)
        async throws -> Int
    {
        return try await context.client.called(at: fileID, line) {
            guard !entity.entity.isReadOnly, !entity.key.isEmpty else {
                throw entity.notWritable
            }
            let update = try RequestUpdate(values, of: entity, in: context.core)
            guard !update.columns.isEmpty else {
                throw KindredError(
                    .invalidRequest, "An update needs at least one value", entity: entity.name.description)
            }
            return try await ConditionWriter(context.core).update(query, of: entity, update.written)
        }
    }
}
