#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Converts a value to another type: exactly, or throws.
extension Codec {
    static func mismatch(_ value: PostgresValue, _ type: PostgresDataType) -> PostgresError {
        PostgresError(.invalidParameter, "\(value.kindName) was given where the type \(type) is expected")
    }

    private static func inexact(_ value: PostgresValue, _ type: PostgresDataType) -> PostgresError {
        PostgresError(
            .invalidParameter,
            "\(value.kindName) is beyond the range or precision of the type \(type)"
        )
    }

    static func integer<T: FixedWidthInteger>(_ value: PostgresValue, _ type: PostgresDataType) throws -> T {
        let integer: T? =
            switch value {
            case .integer(let integer): T(exactly: integer)
            case .numeric(let numeric): T(exactly: numeric)
            case .double(let double): T(exactly: double)
            case .float(let float): T(exactly: float)
            default: throw mismatch(value, type)
            }
        guard let integer else { throw inexact(value, type) }
        return integer
    }

    /// Floating-point numbers count as the shortest decimal that reads as them, as their texts do.
    static func numeric(_ value: PostgresValue) throws -> PostgresNumeric {
        switch value {
        case .numeric(let numeric): numeric
        case .integer(let integer): PostgresNumeric(integer)
        case .double(let double): PostgresNumeric(double)
        case .float(let float): PostgresNumeric(float)
        default: throw mismatch(value, .numeric)
        }
    }

    /// Accepts a decimal if the nearest double has the same text, as 0.1 has.
    static func double(_ value: PostgresValue) throws -> Double {
        switch value {
        case .double(let double): return double
        case .float(let float): return Double(float)
        case .integer(let integer):
            if let double = Double(exactly: integer) { return double }
        case .numeric(let numeric):
            let double = Double(numeric)
            if PostgresNumeric(double) == numeric { return double }
        default: throw mismatch(value, .float8)
        }
        throw inexact(value, .float8)
    }

    /// Accepts a double if it is a float, or if the nearest float has the same text, as 0.1 has.
    package static func float(_ value: PostgresValue) throws -> Float {
        switch value {
        case .float(let float): return float
        case .double(let double):
            let float = Float(double)
            if Double(float) == double || double.isNaN || NumberText.text(float) == NumberText.text(double) {
                return float
            }
        case .integer(let integer):
            if let float = Float(exactly: integer) { return float }
        case .numeric(let numeric):
            let float = Float(numeric)
            if PostgresNumeric(float) == numeric { return float }
        default: throw mismatch(value, .float4)
        }
        throw inexact(value, .float4)
    }

    /// The session's time zone is UTC, so timestamps with and without time zone are the same number.
    static func timestamp(_ value: PostgresValue, _ type: PostgresDataType) throws -> PostgresTimestamp {
        switch try spelled(value, type) {
        case .timestamp(let timestamp), .timestampTZ(let timestamp): return timestamp
        case .date(let date):
            guard let timestamp = PostgresTimestamp(date: date) else { throw inexact(value, type) }
            return timestamp
        default: throw mismatch(value, type)
        }
    }

    /// Accepts a timestamp at midnight.
    static func date(_ value: PostgresValue) throws -> PostgresDate {
        switch try spelled(value, .date) {
        case .date(let date): return date
        case .timestamp(let timestamp), .timestampTZ(let timestamp):
            guard timestamp.time ?? .midnight == .midnight else { throw inexact(value, .date) }
            return timestamp.date
        default: throw mismatch(value, .date)
        }
    }

    static func uuid(_ value: PostgresValue) throws -> UUID {
        guard case .uuid(let uuid) = try spelled(value, .uuid) else { throw mismatch(value, .uuid) }
        return uuid
    }

    static func json(_ value: PostgresValue, _ type: PostgresDataType) throws -> String {
        switch value {
        case .json(let json): json.text
        case .string(let text): text
        default: throw mismatch(value, type)
        }
    }

    /// The byte of a `"char"`: zero for an empty string; an octal number is a byte beyond ASCII.
    static func character(_ value: PostgresValue) throws -> UInt8 {
        guard case .string(let text) = value else { throw mismatch(value, .char) }
        let bytes = Array(text.utf8)
        if bytes.isEmpty { return 0 }
        if bytes.count == 1, bytes[0] != 0 { return bytes[0] }
        let octal = bytes.count == 4 && bytes[0] == UInt8(ascii: "\\") ? UInt8(String(text.dropFirst()), radix: 8) : nil
        guard let octal, octal >= 0x80 else { throw inexact(value, .char) }
        return octal
    }

    /// Parses a string as the type; returns any other value unchanged.
    static func spelled(_ value: PostgresValue, _ type: PostgresDataType) throws -> PostgresValue {
        guard case .string(let text) = value else { return value }
        guard let spelled = TextDecoder.value(text, type) else {
            throw PostgresError(.invalidParameter, "a string was given that is not a valid value of the type \(type)")
        }
        return spelled
    }
}
