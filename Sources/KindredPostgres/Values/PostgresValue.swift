#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value of a column or a parameter; NULL is nil, not a value.
///
/// Integers of every width are one case, and so are the types of the text family, enums included.
public enum PostgresValue: Sendable {
    /// `boolean`.
    case bool(Bool)
    /// `smallint`, `integer`, `bigint`, `oid`
    case integer(Int64)
    /// `real`.
    case float(Float)
    /// `double precision`.
    case double(Double)
    /// `numeric`, exactly.
    case numeric(PostgresNumeric)
    /// The text family: `text`, `varchar`, `character`, `name`, `xml`, labels of enums.
    case string(String)
    /// `bytea`.
    case bytes([UInt8])
    /// `date`.
    case date(PostgresDate)
    /// `time without time zone`.
    case time(PostgresTime)
    /// `time with time zone`.
    case timeTZ(PostgresTimeTZ)
    /// `timestamp without time zone`.
    case timestamp(PostgresTimestamp)
    /// `timestamp with time zone`.
    case timestampTZ(PostgresTimestamp)
    /// `interval`.
    case interval(PostgresInterval)
    /// `uuid`.
    case uuid(UUID)
    /// `json` and `jsonb`
    case json(PostgresJSON)
    /// An array of any dimensions.
    case array(PostgresArray)
    /// A value of a type that the library does not know, as it came.
    case other(PostgresRawValue)
}

extension PostgresValue {
    /// The type that a value has when nothing else says so.
    package var naturalType: PostgresDataType {
        switch self {
        case .bool: .bool
        case .integer: .int8
        case .float: .float4
        case .double: .float8
        case .numeric: .numeric
        case .string: .text
        case .bytes: .bytea
        case .date: .date
        case .time: .time
        case .timeTZ: .timetz
        case .timestamp: .timestamp
        case .timestampTZ: .timestamptz
        case .interval: .interval
        case .uuid: .uuid
        case .json: .jsonb
        case .array(let array): array.elementType.arrayType ?? .unspecified
        case .other(let raw): raw.dataType
        }
    }

    /// What kind of value it is, for error messages.
    package var kindName: String {
        switch self {
        case .other: "a value of an unknown type"
        case .integer: "an integer"
        case .string: "a string"
        case .array: "an array"
        default: "a \(naturalType)"
        }
    }
}

extension PostgresValue: Hashable {
    /// Whether the values are the same.
    ///
    /// Strings are compared by their bytes, as the server does: two spellings of "é" are two values.
    public static func == (left: PostgresValue, right: PostgresValue) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): a.isSame(as: b)
        case (.integer(let a), .integer(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
        case (.double(let a), .double(let b)): a == b || a.isNaN && b.isNaN
        case (.numeric(let a), .numeric(let b)): a == b
        case (.bytes(let a), .bytes(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.time(let a), .time(let b)): a == b
        case (.timeTZ(let a), .timeTZ(let b)): a == b
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.timestampTZ(let a), .timestampTZ(let b)): a == b
        case (.interval(let a), .interval(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.json(let a), .json(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.other(let a), .other(let b)): a == b
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): text.hashBytes(into: &hasher)
        case .integer(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.isNaN ? Float.zero : value)
        case .double(let value): hasher.combine(value.isNaN ? Double.zero : value)
        case .numeric(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .time(let value): hasher.combine(value)
        case .timeTZ(let value): hasher.combine(value)
        case .timestamp(let value), .timestampTZ(let value): hasher.combine(value)
        case .interval(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .json(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .other(let value): hasher.combine(value)
        }
    }
}

extension PostgresValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension PostgresValue: CustomStringConvertible {
    /// The value as the server prints it.
    public var description: String {
        switch self {
        case .bool(let value): value ? "t" : "f"
        case .integer(let value): "\(value)"
        case .float(let value): Codec.text(value)
        case .double(let value): Codec.text(value)
        case .numeric(let value): value.description
        case .string(let value): value
        case .bytes(let value): Codec.hex(value)
        case .date(let value): value.description
        case .time(let value): value.description
        case .timeTZ(let value): value.description
        case .timestamp(let value): value.description
        case .timestampTZ(let value): value.text(zone: "+00")
        case .interval(let value): value.description
        case .uuid(let value): value.uuidString.lowercased()
        case .json(let value): value.text
        case .array(let value): value.description
        case .other(let value): value.description
        }
    }
}
