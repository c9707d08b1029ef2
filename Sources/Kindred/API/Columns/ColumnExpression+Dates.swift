public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// A column without time zone compared with a moment of Foundation's, which is taken as UTC.
extension ColumnExpression where Value == PostgresTimestamp {
    /// Whether the column shows this moment in UTC.
    public static func == (left: ColumnExpression, right: Date) -> Condition { left.compare(.equal, bound(right)) }

    /// Whether the column shows another moment in UTC.
    public static func != (left: ColumnExpression, right: Date) -> Condition { left.compare(.notEqual, bound(right)) }

    /// Whether the column shows an earlier moment in UTC.
    public static func < (left: ColumnExpression, right: Date) -> Condition { left.compare(.less, bound(right)) }

    /// Whether the column shows this moment in UTC, or an earlier one.
    public static func <= (left: ColumnExpression, right: Date) -> Condition {
        left.compare(.lessOrEqual, bound(right))
    }

    /// Whether the column shows a later moment in UTC.
    public static func > (left: ColumnExpression, right: Date) -> Condition { left.compare(.greater, bound(right)) }

    /// Whether the column shows this moment in UTC, or a later one.
    public static func >= (left: ColumnExpression, right: Date) -> Condition {
        left.compare(.greaterOrEqual, bound(right))
    }

    /// Whether the column shows one of these moments in UTC: one parameter for any number of them.
    public func isIn(_ moments: some Sequence<Date>) -> Condition { compare(.isIn, Self.bound(moments)) }

    /// Whether the column lies between two moments in UTC, both included.
    public func isBetween(_ lower: Date, _ upper: Date) -> Condition {
        compare(.between, .list([Self.bound(lower), Self.bound(upper)]))
    }
}
