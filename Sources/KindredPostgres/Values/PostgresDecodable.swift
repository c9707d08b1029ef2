#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A Swift type that values of columns can be read as: exactly, or not at all.
public protocol PostgresDecodable: Sendable {
    /// Reads a value. Throws `PostgresError` `.decodingFailed` where it is none of this type exactly.
    init(postgresValue: PostgresValue) throws
}

extension PostgresDecodable {
    fileprivate static func mismatch(_ value: PostgresValue) -> PostgresError {
        PostgresError(.decodingFailed, "\(value.kindName) cannot be read as \(Self.self)")
    }
}

extension PostgresValue: PostgresDecodable {
    /// The value itself.
    public init(postgresValue: PostgresValue) { self = postgresValue }
}

extension Bool: PostgresDecodable {
    /// Reads a `boolean`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .bool(let bool) = value else { throw Self.mismatch(value) }
        self = bool
    }
}

extension PostgresDecodable where Self: FixedWidthInteger {
    /// Reads an integer, or a `numeric` without a fraction, that is in range.
    public init(postgresValue value: PostgresValue) throws {
        let integer: Int64?
        switch value {
        case .integer(let value): integer = value
        case .numeric(let numeric): integer = Int64(exactly: numeric)
        default: integer = nil
        }
        guard let exact = integer.flatMap(Self.init(exactly:)) else { throw Self.mismatch(value) }
        self = exact
    }
}

extension Int: PostgresDecodable {}
extension Int8: PostgresDecodable {}
extension Int16: PostgresDecodable {}
extension Int32: PostgresDecodable {}
extension Int64: PostgresDecodable {}
extension UInt: PostgresDecodable {}
extension UInt8: PostgresDecodable {}
extension UInt16: PostgresDecodable {}
extension UInt32: PostgresDecodable {}
extension UInt64: PostgresDecodable {}

extension Double: PostgresDecodable {
    /// Reads a floating-point number, or an integer that a double holds exactly.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .double(let double): self = double
        case .float(let float): self = Double(float)
        case .integer(let integer):
            guard let exact = Double(exactly: integer) else { throw Self.mismatch(value) }
            self = exact
        default: throw Self.mismatch(value)
        }
    }
}

extension Float: PostgresDecodable {
    /// Reads a `real`, or an integer that a float holds exactly.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .float(let float): self = float
        case .integer(let integer):
            guard let exact = Float(exactly: integer) else { throw Self.mismatch(value) }
            self = exact
        default: throw Self.mismatch(value)
        }
    }
}

extension String: PostgresDecodable {
    /// Reads a text, or a JSON document as its text.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .string(let text): self = text
        case .json(let json): self = json.text
        case .other(let raw):
            guard let text = raw.text else { throw Self.mismatch(value) }
            self = text
        default: throw Self.mismatch(value)
        }
    }
}

extension UUID: PostgresDecodable {
    /// Reads a `uuid`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .uuid(let uuid) = value else { throw Self.mismatch(value) }
        self = uuid
    }
}

extension Date: PostgresDecodable {
    /// Reads a `timestamp with time zone`; an infinity is none.
    public init(postgresValue value: PostgresValue) throws {
        guard case .timestampTZ(let timestamp) = value, let date = Date(timestamp) else { throw Self.mismatch(value) }
        self = date
    }
}

extension Data: PostgresDecodable {
    /// Reads a `bytea`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .bytes(let bytes) = value else { throw Self.mismatch(value) }
        self = Data(bytes)
    }
}

extension Decimal: PostgresDecodable {
    /// Reads a `numeric` of as many digits as a decimal holds, or an integer.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .numeric(let numeric):
            guard let exact = Decimal(exactly: numeric) else { throw Self.mismatch(value) }
            self = exact
        case .integer(let integer): self = Decimal(integer)
        default: throw Self.mismatch(value)
        }
    }
}

extension PostgresNumeric: PostgresDecodable {
    /// Reads a `numeric`, or an integer.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .numeric(let numeric): self = numeric
        case .integer(let integer): self.init(integer)
        default: throw Self.mismatch(value)
        }
    }
}

extension PostgresDate: PostgresDecodable {
    /// Reads a `date`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .date(let date) = value else { throw Self.mismatch(value) }
        self = date
    }
}

extension PostgresTime: PostgresDecodable {
    /// Reads a `time`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .time(let time) = value else { throw Self.mismatch(value) }
        self = time
    }
}

extension PostgresTimeTZ: PostgresDecodable {
    /// Reads a `time with time zone`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .timeTZ(let time) = value else { throw Self.mismatch(value) }
        self = time
    }
}

extension PostgresTimestamp: PostgresDecodable {
    /// Reads a timestamp, with or without time zone.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .timestamp(let timestamp), .timestampTZ(let timestamp): self = timestamp
        default: throw Self.mismatch(value)
        }
    }
}

extension PostgresInterval: PostgresDecodable {
    /// Reads an `interval`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .interval(let interval) = value else { throw Self.mismatch(value) }
        self = interval
    }
}

extension PostgresJSON: PostgresDecodable {
    /// Reads a `json` or `jsonb`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .json(let json) = value else { throw Self.mismatch(value) }
        self = json
    }
}

extension PostgresArray: PostgresDecodable {
    /// Reads an array of any dimensions.
    public init(postgresValue value: PostgresValue) throws {
        guard case .array(let array) = value else { throw Self.mismatch(value) }
        self = array
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// Reads an array of one dimension without NULLs.
    public init(postgresValue value: PostgresValue) throws {
        guard case .array(let array) = value, array.dimensions.count <= 1 else { throw Self.mismatch(value) }
        self = try array.elements.map { element in
            guard let element else { throw Self.mismatch(value) }
            return try Element(postgresValue: element)
        }
    }
}
