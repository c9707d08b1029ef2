public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Moments and the time between them; NULL makes the result NULL.
extension ColumnExpression where Value == PostgresTimestamp {
    /// The moment later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The moment earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The moment later by a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The moment earlier by a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The time since another.
    public static func - (left: ColumnExpression, right: PostgresTimestamp) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, bound(right))
    }

    /// The time since another column's.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, right.expression)
    }
}

extension ColumnExpression where Value == Date {
    /// The moment later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The moment earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The moment later by a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The moment earlier by a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The time since another.
    public static func - (left: ColumnExpression, right: Date) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, bound(right))
    }

    /// The time since another column's.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, right.expression)
    }
}

extension ColumnExpression where Value == PostgresDate {
    /// The beginning of the day later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.plus, left, bound(right))
    }

    /// The beginning of the day earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.minus, left, bound(right))
    }

    /// The beginning of the day later by a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression<
        PostgresTimestamp
    > {
        calculate(.plus, left, right.expression)
    }

    /// The beginning of the day earlier by a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression<
        PostgresTimestamp
    > {
        calculate(.minus, left, right.expression)
    }

    /// The number of days since another.
    public static func - (left: ColumnExpression, right: PostgresDate) -> ColumnExpression<Int> {
        calculate(.minus, left, bound(right))
    }

    /// The number of days since another column's.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<Int> {
        calculate(.minus, left, right.expression)
    }
}
