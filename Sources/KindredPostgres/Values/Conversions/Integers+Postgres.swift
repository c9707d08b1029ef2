extension PostgresEncodable where Self: FixedWidthInteger {
    /// An integer; throws past 64 bits.
    public var postgresValue: PostgresValue? {
        get throws {
            if let value = Int64(exactly: self) { return .integer(value) }
            throw PostgresError(.invalidParameter, "The integer is out of the range of the type bigint")
        }
    }

    /// `bigint`.
    public static var postgresDataType: PostgresDataType { .int8 }
}

extension PostgresDecodable where Self: FixedWidthInteger {
    /// Reads an integer, or a `numeric` without a fraction, that is in range.
    public init(postgresValue value: PostgresValue) throws {
        let exact: Self? =
            switch value {
            case .integer(let integer): Self(exactly: integer)
            case .numeric(let numeric): Self(exactly: numeric)
            default: throw Self.mismatch(value)
            }
        guard let exact else { throw Self.inexact(value) }
        self = exact
    }

    /// Reads integers in binary form.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Self? {
        guard column.format == .binary else { return nil }
        // The slow path reports why a value does not fit.
        switch column.dataType {
        case .int4: return bytes.bigEndian(Int32.self).flatMap { Self(exactly: $0) }
        case .int8: return bytes.bigEndian(Int64.self).flatMap { Self(exactly: $0) }
        case .int2: return bytes.bigEndian(Int16.self).flatMap { Self(exactly: $0) }
        default: return nil
        }
    }
}

extension Int: PostgresEncodable, PostgresDecodable {}
extension Int8: PostgresEncodable, PostgresDecodable {}
extension Int16: PostgresEncodable, PostgresDecodable {}
extension Int32: PostgresEncodable, PostgresDecodable {}
extension Int64: PostgresEncodable, PostgresDecodable {}
extension UInt: PostgresEncodable, PostgresDecodable {}
extension UInt8: PostgresEncodable, PostgresDecodable {}
extension UInt16: PostgresEncodable, PostgresDecodable {}
extension UInt32: PostgresEncodable, PostgresDecodable {}
extension UInt64: PostgresEncodable, PostgresDecodable {}
