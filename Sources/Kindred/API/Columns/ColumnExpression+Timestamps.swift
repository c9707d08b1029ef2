public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type of moments, for the arithmetic of columns: a timestamp, a date, or Foundation's `Date`.
public protocol PostgresMoment: PostgresEncodable {
    /// The type of a moment plus an interval.
    associatedtype MovedMoment
    /// The type of the difference of two moments.
    associatedtype MomentDistance
}

extension PostgresTimestamp: PostgresMoment {
    /// A timestamp plus an interval is a timestamp.
    public typealias MovedMoment = PostgresTimestamp
    /// The time between two timestamps.
    public typealias MomentDistance = PostgresInterval
}

extension Date: PostgresMoment {
    /// A moment plus an interval is a moment.
    public typealias MovedMoment = Date
    /// The time between two moments.
    public typealias MomentDistance = PostgresInterval
}

extension PostgresDate: PostgresMoment {
    /// Midnight at the start of the day, plus an interval.
    public typealias MovedMoment = PostgresTimestamp
    /// The number of days between two dates.
    public typealias MomentDistance = Int
}

// Moments and the time between them; NULL makes the result NULL.
extension ColumnExpression where Value: PostgresMoment {
    /// The moment plus an interval; for a date from midnight at the start of the day.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<Value.MovedMoment> {
        calculate(.plus, of: left, and: bound(right))
    }

    /// The moment minus an interval; for a date from midnight at the start of the day.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<Value.MovedMoment> {
        calculate(.minus, of: left, and: bound(right))
    }

    /// The moment plus a column's interval; for a date from midnight at the start of the day.
    public static func + (
        left: ColumnExpression, right: ColumnExpression<PostgresInterval>
    ) -> ColumnExpression<Value.MovedMoment> {
        calculate(.plus, of: left, and: right.expression)
    }

    /// The moment minus a column's interval; for a date from midnight at the start of the day.
    public static func - (
        left: ColumnExpression, right: ColumnExpression<PostgresInterval>
    ) -> ColumnExpression<Value.MovedMoment> {
        calculate(.minus, of: left, and: right.expression)
    }

    /// The time since another moment; for dates the number of days.
    public static func - (left: ColumnExpression, right: Value) -> ColumnExpression<Value.MomentDistance> {
        calculate(.minus, of: left, and: bound(right))
    }

    /// The time since another column's moment; for dates the number of days.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression<Value.MomentDistance> {
        calculate(.minus, of: left, and: right.expression)
    }
}
