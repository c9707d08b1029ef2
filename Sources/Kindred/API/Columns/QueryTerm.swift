public import KindredPostgres

/// A part of a query that stands for something in the database: a column, an object, members, a condition.
///
/// It has no value in Swift, and can neither be tested for nil there nor become a text.
public protocol QueryTerm: CustomStringConvertible, Sendable {}

extension QueryTerm {
    /// A text that says that there is no value; it is refused where it is bound as one.
    public var description: String { ColumnMark.text }
}

extension ColumnExpression: QueryTerm {}
extension Columns: QueryTerm {}
extension MemberColumns: QueryTerm {}
extension Condition: QueryTerm {}

// Swift makes an optional of any operand, which is never nil, and a text of any value. An unavailable overload would
// lose to these conversions; an overload that throws wins, and does not compile without `try`. The error that it throws
// says the same as its message.
extension QueryTerm {
    /// Not available: only the database knows whether there is a value.
    @available(*, deprecated, message: "only the database knows whether this is nil: it is a condition, and no Bool")
    public static func == (left: Self, right: _OptionalNilComparisonType) throws -> Bool { throw ColumnMark.noValue }

    /// Not available: only the database knows whether there is a value.
    @available(*, deprecated, message: "only the database knows whether this is nil: it is a condition, and no Bool")
    public static func != (left: Self, right: _OptionalNilComparisonType) throws -> Bool { throw ColumnMark.noValue }

    /// Not available: only the database knows whether there is a value.
    @available(*, deprecated, message: "only the database knows whether this is nil: it is a condition, and no Bool")
    public static func == (left: _OptionalNilComparisonType, right: Self) throws -> Bool { throw ColumnMark.noValue }

    /// Not available: only the database knows whether there is a value.
    @available(*, deprecated, message: "only the database knows whether this is nil: it is a condition, and no Bool")
    public static func != (left: _OptionalNilComparisonType, right: Self) throws -> Bool { throw ColumnMark.noValue }

    /// Not available: only columns and totals have other values in place of NULL.
    @available(*, deprecated, message: "?? is for columns and totals of groups alone")
    public static func ?? (left: Self, right: Self) throws -> Self { throw ColumnMark.noValue }
}

extension DefaultStringInterpolation {
    /// Not available: only the database knows the value of a column, an object or a condition.
    @available(*, deprecated, message: "only the database knows the value of a column: write + to join texts")
    public mutating func appendInterpolation(_ term: some QueryTerm) throws { throw ColumnMark.noValue }
}

extension ColumnMark {
    static var noValue: KindredError {
        KindredError(.invalidRequest, "A part of a query has no value in Swift: only the database knows it")
    }
}

// More specialized than the operators above, so that the results are conditions wherever a condition is wanted.
extension ColumnExpression where Value: PostgresEncodable {
    /// Whether the value is NULL.
    public static func == (left: ColumnExpression, right: _OptionalNilComparisonType) -> Condition {
        left.compare(.equal, .value(nil))
    }

    /// Whether there is a value.
    public static func != (left: ColumnExpression, right: _OptionalNilComparisonType) -> Condition {
        left.compare(.notEqual, .value(nil))
    }
}

extension Columns {
    /// Whether the relationship leads to no object.
    public static func == (left: Columns, right: _OptionalNilComparisonType) -> Condition {
        left.path.compare(.equal, nil)
    }

    /// Whether the relationship leads to an object.
    public static func != (left: Columns, right: _OptionalNilComparisonType) -> Condition {
        left.path.compare(.notEqual, nil)
    }
}
