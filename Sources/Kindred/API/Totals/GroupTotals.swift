import KindredPostgres

/// The totals of a group of a typed class's rows, each with the type of its values: `{ ($0.count, $0.sum { $0.amount }) }`.
public struct GroupTotals<Root: TypedObject>: Sendable {
    /// The number of rows of the group.
    public var count: GroupTotal<Int> { GroupTotal(AggregateTerm(.count, of: nil, label: "count")) }

    /// The number of rows of the group in which a column is not NULL.
    public func count<Value>(
        of column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> GroupTotal<Int> {
        GroupTotal(try AggregateTerm(.count, over: column))
    }

    /// The sum of a column or calculation over the group; nil for no values.
    public func sum<Value: PostgresSummable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> GroupTotal<Value.Sum?> {
        GroupTotal(try AggregateTerm(.sum, over: column))
    }

    /// The mean of a column or calculation over the group; nil for no values.
    public func average<Value: PostgresSummable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> GroupTotal<Value.Mean?> {
        GroupTotal(try AggregateTerm(.average, over: column))
    }

    /// The smallest value of a column or calculation in the group; nil for no values.
    public func minimum<Value: Sendable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> GroupTotal<Value?> {
        GroupTotal(try AggregateTerm(.minimum, over: column))
    }

    /// The greatest value of a column or calculation in the group; nil for no values.
    public func maximum<Value: Sendable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> GroupTotal<Value?> {
        GroupTotal(try AggregateTerm(.maximum, over: column))
    }
}

/// A total of a group, with the type of its value.
public struct GroupTotal<Value: Sendable>: Sendable {
    let term: AggregateTerm
    /// Reads the value of a row.
    let read: @Sendable (PostgresValue?) throws -> Value

    fileprivate init(_ term: AggregateTerm) {
        self.term = term
        read = { try property($0, as: Value.self) }
    }

    private init(_ term: AggregateTerm, read: @escaping @Sendable (PostgresValue?) throws -> Value) {
        (self.term, self.read) = (term, read)
    }

    /// The total, or another value where it is nil: `$0.sum { $0.amount } ?? 0`.
    public static func ?? (total: GroupTotal<Value?>, value: Value) -> GroupTotal {
        GroupTotal(total.term) { try total.read($0) ?? value }
    }
}
