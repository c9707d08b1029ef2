public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Calculations, which the database carries out; NULL in them makes the result NULL.
extension ColumnExpression where Value: PostgresEncodable & Numeric {
    /// The sum.
    public static func + (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The difference.
    public static func - (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The product.
    public static func * (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.times, left, bound(right))
    }

    /// The quotient: without remainder for integers; dividing by zero is an error of the server's.
    public static func / (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.divide, left, bound(right))
    }
}

extension ColumnExpression where Value == PostgresNumeric {
    /// The sum.
    public static func + (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The difference.
    public static func - (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The product.
    public static func * (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.times, left, bound(right))
    }

    /// The quotient; dividing by zero is an error of the server's.
    public static func / (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.divide, left, bound(right))
    }
}

extension ColumnExpression {
    static func calculate<Result>(
        _ operation: ConditionExpression.Arithmetic,
        _ left: ColumnExpression,
        _ right: ConditionExpression
    ) -> ColumnExpression<Result> {
        ColumnExpression<Result>(.arithmetic(operation, left.expression, right))
    }

    /// The sum of two columns.
    public static func + (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The difference of two columns.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The product of two columns.
    public static func * (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.times, left, right.expression)
    }

    /// The quotient of two columns: without remainder for integers.
    public static func / (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.divide, left, right.expression)
    }

    /// The column's value with the other sign.
    public static prefix func - (column: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.negative(column.expression))
    }
}

extension ColumnExpression where Value == PostgresTimestamp {
    /// A moment later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// A moment earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }
}

extension ColumnExpression where Value == PostgresDate {
    /// A moment later than the beginning of the day by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.plus, left, bound(right))
    }

    /// A moment earlier than the beginning of the day by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.minus, left, bound(right))
    }
}

extension ColumnExpression where Value == Date {
    /// A moment later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// A moment earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }
}
