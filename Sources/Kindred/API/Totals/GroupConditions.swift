/// The totals of a group within a condition or an order: `having { $0.count > 3 }`.
///
/// They are compared as columns are: a comparison with NULL, the sum of no values, is false, except that `== nil` and `!=` treat nil as a
/// value.
public struct GroupConditions<Root: TypedObject>: Sendable {
    /// The number of rows of the group.
    public var count: ColumnExpression<Int> { ColumnExpression(.total(AggregateTerm(.count, of: nil, label: "count"))) }

    /// The number of rows of the group in which a column is not NULL.
    public func count<Value>(
        of column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Int> {
        ColumnExpression(.total(try AggregateTerm(.count, over: column)))
    }

    /// The sum of a column or calculation over the group.
    public func sum<Value: PostgresSummable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value.Sum> {
        ColumnExpression(.total(try AggregateTerm(.sum, over: column)))
    }

    /// The mean of a column or calculation over the group.
    public func average<Value: PostgresSummable>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value.Mean> {
        ColumnExpression(.total(try AggregateTerm(.average, over: column)))
    }

    /// The smallest value of a column or calculation in the group.
    public func minimum<Value>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value> {
        ColumnExpression(.total(try AggregateTerm(.minimum, over: column)))
    }

    /// The greatest value of a column or calculation in the group.
    public func maximum<Value>(
        _ column: (Columns<Root>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value> {
        ColumnExpression(.total(try AggregateTerm(.maximum, over: column)))
    }
}
