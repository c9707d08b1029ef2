public import KindredPostgres

/// A type whose values have a sum and a mean: numbers and intervals.
public protocol PostgresSummable: PostgresEncodable, PostgresDecodable {
    /// The type of a sum.
    associatedtype Sum: PostgresEncodable & PostgresDecodable
    /// The type of a mean.
    associatedtype Mean: PostgresEncodable & PostgresDecodable
}

extension Int: PostgresSummable {
    /// Whole numbers; a sum past 64 bits is an error.
    public typealias Sum = Int
    /// The mean of whole numbers has a fraction.
    public typealias Mean = PostgresNumeric
}

extension PostgresNumeric: PostgresSummable {
    /// Exact.
    public typealias Sum = PostgresNumeric
    /// As PostgreSQL divides.
    public typealias Mean = PostgresNumeric
}

extension Float: PostgresSummable {
    /// A `real`, with its precision.
    public typealias Sum = Float
    /// A `double precision`.
    public typealias Mean = Double
}

extension Double: PostgresSummable {
    /// A `double precision`.
    public typealias Sum = Double
    /// A `double precision`.
    public typealias Mean = Double
}

extension PostgresInterval: PostgresSummable {
    /// A span of time.
    public typealias Sum = PostgresInterval
    /// A span of time.
    public typealias Mean = PostgresInterval
}
