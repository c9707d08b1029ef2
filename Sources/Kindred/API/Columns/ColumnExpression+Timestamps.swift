public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Timestamps and the time between them; NULL makes the result NULL.
extension ColumnExpression where Value == PostgresTimestamp {
    /// The timestamp plus an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The timestamp minus an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The timestamp plus a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The timestamp minus a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The time since another timestamp.
    public static func - (left: ColumnExpression, right: PostgresTimestamp) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, bound(right))
    }

    /// The time since another column's timestamp.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, right.expression)
    }
}

extension ColumnExpression where Value == Date {
    /// The timestamp plus an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The timestamp minus an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The timestamp plus a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The timestamp minus a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The time since another timestamp.
    public static func - (left: ColumnExpression, right: Date) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, bound(right))
    }

    /// The time since another column's timestamp.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<PostgresInterval> {
        calculate(.minus, left, right.expression)
    }
}

extension ColumnExpression where Value == PostgresDate {
    /// Midnight at the start of the day, plus an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.plus, left, bound(right))
    }

    /// Midnight at the start of the day, minus an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.minus, left, bound(right))
    }

    /// Midnight at the start of the day, plus a column's interval.
    public static func + (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression<
        PostgresTimestamp
    > {
        calculate(.plus, left, right.expression)
    }

    /// Midnight at the start of the day, minus a column's interval.
    public static func - (left: ColumnExpression, right: ColumnExpression<PostgresInterval>) -> ColumnExpression<
        PostgresTimestamp
    > {
        calculate(.minus, left, right.expression)
    }

    /// The number of days since another date.
    public static func - (left: ColumnExpression, right: PostgresDate) -> ColumnExpression<Int> {
        calculate(.minus, left, bound(right))
    }

    /// The number of days since another column's date.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<Int> {
        calculate(.minus, left, right.expression)
    }
}
