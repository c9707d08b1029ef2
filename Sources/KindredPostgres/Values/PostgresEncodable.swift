#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A Swift value that can be bound as a parameter.
public protocol PostgresEncodable: Sendable {
    /// The value as PostgreSQL sees it; nil for NULL.
    ///
    /// Throws `PostgresError` `.invalidParameter` where there is no exact one, such as for integers past 64 bits.
    var postgresValue: PostgresValue? { get throws }
}

extension PostgresValue: PostgresEncodable {
    /// The value itself.
    public var postgresValue: PostgresValue? { self }
}

extension Bool: PostgresEncodable {
    /// A `boolean`.
    public var postgresValue: PostgresValue? { .bool(self) }
}

extension PostgresEncodable where Self: FixedWidthInteger {
    /// An integer; throws past 64 bits.
    public var postgresValue: PostgresValue? {
        get throws {
            if let value = Int64(exactly: self) { return .integer(value) }
            throw PostgresError(.invalidParameter, "The integer is out of the range of bigint")
        }
    }
}

extension Int: PostgresEncodable {}
extension Int8: PostgresEncodable {}
extension Int16: PostgresEncodable {}
extension Int32: PostgresEncodable {}
extension Int64: PostgresEncodable {}
extension UInt: PostgresEncodable {}
extension UInt8: PostgresEncodable {}
extension UInt16: PostgresEncodable {}
extension UInt32: PostgresEncodable {}
extension UInt64: PostgresEncodable {}

extension Float: PostgresEncodable {
    /// A `real`.
    public var postgresValue: PostgresValue? { .float(self) }
}

extension Double: PostgresEncodable {
    /// A `double precision`.
    public var postgresValue: PostgresValue? { .double(self) }
}

extension String: PostgresEncodable {
    /// A text.
    public var postgresValue: PostgresValue? { .string(self) }
}

extension Substring: PostgresEncodable {
    /// A text.
    public var postgresValue: PostgresValue? { .string(String(self)) }
}

extension UUID: PostgresEncodable {
    /// A `uuid`.
    public var postgresValue: PostgresValue? { .uuid(self) }
}

extension Date: PostgresEncodable {
    /// A `timestamp with time zone`, to the nearest microsecond; throws beyond PostgreSQL's range.
    public var postgresValue: PostgresValue? {
        get throws {
            if let timestamp = PostgresTimestamp(self) { return .timestampTZ(timestamp) }
            throw PostgresError(.invalidParameter, "The date is out of the range of timestamp with time zone")
        }
    }
}

extension Data: PostgresEncodable {
    /// A `bytea`.
    public var postgresValue: PostgresValue? { .bytes(Array(self)) }
}

extension Decimal: PostgresEncodable {
    /// A `numeric`.
    public var postgresValue: PostgresValue? { .numeric(PostgresNumeric(self)) }
}

extension PostgresNumeric: PostgresEncodable {
    /// A `numeric`.
    public var postgresValue: PostgresValue? { .numeric(self) }
}

extension PostgresDate: PostgresEncodable {
    /// A `date`.
    public var postgresValue: PostgresValue? { .date(self) }
}

extension PostgresTime: PostgresEncodable {
    /// A `time`.
    public var postgresValue: PostgresValue? { .time(self) }
}

extension PostgresTimeTZ: PostgresEncodable {
    /// A `time with time zone`.
    public var postgresValue: PostgresValue? { .timeTZ(self) }
}

extension PostgresTimestamp: PostgresEncodable {
    /// A `timestamp without time zone`; where one with time zone is wanted, it is taken as UTC.
    public var postgresValue: PostgresValue? { .timestamp(self) }
}

extension PostgresInterval: PostgresEncodable {
    /// An `interval`.
    public var postgresValue: PostgresValue? { .interval(self) }
}

extension PostgresJSON: PostgresEncodable {
    /// A `jsonb`.
    public var postgresValue: PostgresValue? { .json(self) }
}

extension PostgresArray: PostgresEncodable {
    /// An array.
    public var postgresValue: PostgresValue? { .array(self) }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The wrapped value, or NULL.
    public var postgresValue: PostgresValue? {
        get throws { try self?.postgresValue }
    }
}

extension Array: PostgresEncodable where Element: PostgresEncodable {
    /// An array of the type that the elements have; `text[]` if all are NULL or there are none.
    public var postgresValue: PostgresValue? {
        get throws {
            let values = try map { try $0.postgresValue }
            let element = values.lazy.compactMap { $0?.naturalType }.first ?? .text
            return .array(PostgresArray(elementType: element, elements: values))
        }
    }
}
