extension FetchRequest where Object: TypedObject {
    /// Keeps the objects that fulfil a condition: `where { $0.surname == "Smith" && $0.emails.contains { … } }`.
    ///
    /// Values are always bound. Sends nothing. Throws `KindredError` `.unknownKey` for a property that is no column,
    /// `.wrongType` for what cannot be compared.
    public func `where`(_ condition: (Columns<Object>) throws -> Condition) throws -> FetchRequest {
        try self.where(try condition(Columns()))
    }

    /// Sorts by a column or a path over to-one relationships, after the keys given before: `sorted { $0.surname }`.
    ///
    /// Sends nothing.
    public func sorted<Value>(
        ascending: Bool = true,
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>
    ) throws -> FetchRequest {
        switch try column(Columns()).expression {
        case .path(let keys): return try sorted(path: keys, ascending: ascending)
        case .count(let keys): return try sorted(path: keys + ["@count"], ascending: ascending)
        case .invalid(let error): throw error
        default: throw KindredError(.invalidRequest, "A request is sorted by columns, not by calculations")
        }
    }

    /// Sorts by the column of a property; NULL stands where PostgreSQL has it, or is less than every value.
    package func sorted(keyPath: AnyKeyPath, ascending: Bool, nullsAreLowest: Bool) throws -> FetchRequest {
        let keys = try ColumnPath().appending(keyPath, of: Object.self).checkedKeys()
        let mayBeNull = keys.first.flatMap { entity.entity.attribute(named: $0) }.map { !$0.isNotNull }
        let nulls: SortTerm.Nulls = nullsAreLowest && mayBeNull == true ? (ascending ? .first : .last) : .standard
        return try sorted(path: keys, ascending: ascending, nulls: nulls)
    }
}

extension FetchRequest where Object: TypedObject {
    /// Gives the rows that the request selects new values: `update { [\.stock: $0.stock - 1, \.note: nil] }`.
    ///
    /// One UPDATE. A value may be calculated from the row's columns. As with a dictionary of values in everything
    /// else.
    @discardableResult
    public func update(
        _ values: (Columns<Object>) throws -> [PartialKeyPath<Object>: (any PropertyValue)?], fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Int {
        return try await context.client.called(at: fileID, line) {
            try await update(try context.named(try values(Columns()), entity))
        }
    }
}
