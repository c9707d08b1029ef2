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
    /// `inet` and `cidr`
    case inet(PostgresInet)
    /// `macaddr` and `macaddr8`
    case macAddress(PostgresMACAddress)
    /// `bit` and `bit varying`
    case bits(PostgresBits)
    /// `money`.
    case money(PostgresMoney)
    /// `point`.
    case point(PostgresPoint)
    /// `line`.
    indirect case line(PostgresLine)
    /// `lseg`.
    indirect case lineSegment(PostgresLineSegment)
    /// `box`.
    indirect case box(PostgresBox)
    /// `path`.
    case path(PostgresPath)
    /// `polygon`.
    case polygon(PostgresPolygon)
    /// `circle`.
    indirect case circle(PostgresCircle)
    /// `tsvector`.
    case tsVector(PostgresTSVector)
    /// `tsquery`.
    case tsQuery(PostgresTSQuery)
    /// `hstore`.
    case hstore(PostgresHStore)
    /// `vector`.
    case vector(PostgresVector)
    /// A range of values.
    indirect case range(PostgresRange<PostgresValue>)
    /// A multirange.
    case multirange(PostgresMultirange<PostgresValue>)
    /// A value of a composite type, or a row made by `ROW(…)`.
    case composite(PostgresComposite)
    /// An array of any dimensions.
    case array(PostgresArray)
    /// A value of a type unknown to the library, undecoded.
    case other(PostgresRawValue)
}

extension PostgresValue {
    /// The value's default type.
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
        case .inet: .inet
        case .macAddress(let address): address.isEUI64 ? .macaddr8 : .macaddr
        case .bits: .varbit
        case .money: .money
        case .point: .point
        case .line: .line
        case .lineSegment: .lseg
        case .box: .box
        case .path: .path
        case .polygon: .polygon
        case .circle: .circle
        case .tsVector: .tsvector
        case .tsQuery: .tsquery
        case .hstore, .vector, .multirange: .unspecified
        case .range(let range): (range.lower.bound ?? range.upper.bound)?.naturalType.rangeType ?? .unspecified
        case .composite(let composite): composite.dataType == .record ? .unspecified : composite.dataType
        case .array(let array): array.elementType.arrayType ?? .unspecified
        case .other(let raw): raw.dataType
        }
    }

    /// The kind of value, for error messages.
    package var kindName: String {
        switch self {
        case .other: "a value of an unknown type"
        case .integer: "an integer"
        case .string: "a string"
        case .array: "an array"
        case .hstore: "an hstore"
        case .vector: "a vector"
        case .range: "a range"
        case .multirange: "a multirange"
        case .composite: "a composite value"
        default: "a \(naturalType)"
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
        case .float(let value): NumberText.text(value)
        case .double(let value): NumberText.text(value)
        case .numeric(let value): value.description
        case .string(let value): value
        case .bytes(let value): HexText.text(value)
        case .date(let value): value.description
        case .time(let value): value.description
        case .timeTZ(let value): value.description
        case .timestamp(let value): value.description
        case .timestampTZ(let value): value.text(zone: "+00")
        case .interval(let value): value.description
        case .uuid(let value): value.uuidString.lowercased()
        case .json(let value): value.text
        case .inet(let value): value.description
        case .macAddress(let value): value.description
        case .bits(let value): value.description
        case .money(let value): value.description
        case .point(let value): value.description
        case .line(let value): value.description
        case .lineSegment(let value): value.description
        case .box(let value): value.description
        case .path(let value): value.description
        case .polygon(let value): value.description
        case .circle(let value): value.description
        case .tsVector(let value): value.description
        case .tsQuery(let value): value.description
        case .hstore(let value): value.description
        case .vector(let value): value.description
        case .range(let value): value.description
        case .multirange(let value): value.description
        case .composite(let value): value.description
        case .array(let value): value.description
        case .other(let value): value.description
        }
    }
}
