#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Bool: PostgresEncodable, PostgresDecodable {
    /// A `boolean`.
    public var postgresValue: PostgresValue? { .bool(self) }
    /// `boolean`.
    public static var postgresDataType: PostgresDataType { .bool }

    /// Reads a `boolean`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .bool(let bool) = value else { throw Self.mismatch(value) }
        self = bool
    }

    /// Reads the binary form.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Bool? {
        guard column.dataType == .bool, column.format == .binary else { return nil }
        return bytes.bigEndian(UInt8.self).map { $0 != 0 }
    }
}

extension Double: PostgresEncodable, PostgresDecodable {
    /// A `double precision`.
    public var postgresValue: PostgresValue? { .double(self) }
    /// `double precision`.
    public static var postgresDataType: PostgresDataType { .float8 }

    /// Reads a floating-point number, or an integer that a double holds exactly.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .double(let double): self = double
        case .float(let float): self = Double(float)
        case .integer(let integer):
            guard let exact = Double(exactly: integer) else { throw Self.inexact(value) }
            self = exact
        default: throw Self.mismatch(value)
        }
    }

    /// Reads the binary form.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Double? {
        guard column.dataType == .float8, column.format == .binary else { return nil }
        return bytes.bigEndian(UInt64.self).map(Double.init(bitPattern:))
    }
}

extension Float: PostgresEncodable, PostgresDecodable {
    /// A `real`.
    public var postgresValue: PostgresValue? { .float(self) }
    /// `real`.
    public static var postgresDataType: PostgresDataType { .float4 }

    /// Reads a `real`, or an integer that a float holds exactly.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .float(let float): self = float
        case .integer(let integer):
            guard let exact = Float(exactly: integer) else { throw Self.inexact(value) }
            self = exact
        default: throw Self.mismatch(value)
        }
    }
}

extension Decimal: PostgresEncodable, PostgresDecodable {
    /// A `numeric`.
    public var postgresValue: PostgresValue? { .numeric(PostgresNumeric(self)) }
    /// `numeric`.
    public static var postgresDataType: PostgresDataType { .numeric }

    /// Reads a `numeric` of as many digits as a decimal holds, or an integer.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .numeric(let numeric):
            guard let exact = Decimal(exactly: numeric) else { throw Self.inexact(value) }
            self = exact
        case .integer(let integer): self = Decimal(integer)
        default: throw Self.mismatch(value)
        }
    }
}

extension PostgresNumeric: PostgresEncodable, PostgresDecodable {
    /// A `numeric`.
    public var postgresValue: PostgresValue? { .numeric(self) }
    /// `numeric`.
    public static var postgresDataType: PostgresDataType { .numeric }

    /// Reads a `numeric`, or an integer.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .numeric(let numeric): self = numeric
        case .integer(let integer): self.init(integer)
        default: throw Self.mismatch(value)
        }
    }
}
