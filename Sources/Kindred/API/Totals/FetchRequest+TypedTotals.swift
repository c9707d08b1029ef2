import KindredPostgres

// Totals of a typed class's rows, in types of their own: `sum { $0.amount }`, or `sum(\.amount)`.
extension FetchRequest where Object: TypedObject {
    /// The sum of a column, of a path over to-one relationships, or of a calculation; nil for no values.
    ///
    /// One query over the rows that the request selects, limit and offset included. Throws `KindredError` `.unknownKey` for a
    /// property that is no column, before anything is sent, and `PostgresError` `.decodingFailed` for a sum that its type cannot
    /// hold.
    public func sum<Value: PostgresSummable>(
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>, fileID: String = #fileID, line: Int = #line
    ) async throws -> Value.Sum? {
        try await total(.sum, of: column, fileID: fileID, line: line)
    }

    /// The mean of a column, of a path over to-one relationships, or of a calculation; nil for no values.
    ///
    /// One query. Throws as a sum does.
    public func average<Value: PostgresSummable>(
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>, fileID: String = #fileID, line: Int = #line
    ) async throws -> Value.Mean? {
        try await total(.average, of: column, fileID: fileID, line: line)
    }

    /// The smallest value of a column, of a path over to-one relationships, or of a calculation; nil for no values.
    ///
    /// One query. Throws as a sum does, and `.invalidRequest` for a type without a minimum.
    public func minimum<Value: Sendable>(
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>, fileID: String = #fileID, line: Int = #line
    ) async throws -> Value? {
        try await total(.minimum, of: column, fileID: fileID, line: line)
    }

    /// The greatest value of a column, of a path over to-one relationships, or of a calculation; nil for no values.
    ///
    /// One query. Throws as a sum does, and `.invalidRequest` for a type without a maximum.
    public func maximum<Value: Sendable>(
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>, fileID: String = #fileID, line: Int = #line
    ) async throws -> Value? {
        try await total(.maximum, of: column, fileID: fileID, line: line)
    }

    /// Not available: only numbers and intervals have a sum.
    @available(*, unavailable, message: "only numbers and intervals have a sum")
    @_disfavoredOverload
    public func sum<Value>(_ column: (Columns<Object>) throws -> ColumnExpression<Value>) async throws -> Value? { nil }

    /// Not available: only numbers and intervals have a mean.
    @available(*, unavailable, message: "only numbers and intervals have a mean")
    @_disfavoredOverload
    public func average<Value>(
        _ column: (Columns<Object>) throws -> ColumnExpression<Value>
    ) async throws -> Value? { nil }

    private func total<Value, Result: Sendable>(
        _ function: AggregateTerm.Function, of column: (Columns<Object>) throws -> ColumnExpression<Value>,
        fileID: String, line: Int
    ) async throws -> Result? {
        let value = try await total(try AggregateTerm(function, over: column), fileID: fileID, line: line)
        return try property(value, as: Result?.self)
    }
}

extension AggregateTerm {
    /// A function of a closure's column, with a name for errors.
    init<Root: TypedObject, Value>(
        _ function: Function, over column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows {
        self.init(function, of: try Columns.value(column), label: function.label)
    }
}

extension AggregateTerm.Function {
    fileprivate var label: String {
        switch self {
        case .count: "count"
        case .sum: "sum"
        case .average: "average"
        case .minimum: "minimum"
        case .maximum: "maximum"
        }
    }
}
