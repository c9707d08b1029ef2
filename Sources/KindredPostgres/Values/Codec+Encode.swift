#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Codec {
    /// Appends a value as the given type; returns the format it was written in.
    ///
    /// The value is converted exactly, or to the nearest where the type itself is inexact. A string is taken for any type
    /// whose texts it may be: dates, times, uuid, json, and types that the library does not know, which the server reads.
    /// Throws `PostgresError` `.invalidParameter` naming both types.
    package static func encode(
        _ value: PostgresValue,
        as type: PostgresDataType,
        into bytes: inout [UInt8]
    ) throws -> PostgresFormat {
        switch (type, value) {
        case (.int4, .integer(let value)): try append(value, as: Int32.self, type, &bytes)
        case (.int8, .integer(let value)): bytes.appendBigEndian(value)
        case (.int2, .integer(let value)): try append(value, as: Int16.self, type, &bytes)
        case (.oid, .integer(let value)): try append(value, as: UInt32.self, type, &bytes)
        case (.int2, .numeric(let numeric)), (.int4, .numeric(let numeric)), (.int8, .numeric(let numeric)):
            guard let integer = Int64(exactly: numeric) else { throw mismatch(value, type) }
            return try encode(.integer(integer), as: type, into: &bytes)
        case (.text, .string(let text)), (.varchar, .string(let text)), (.bpchar, .string(let text)),
            (.name, .string(let text)), (.xml, .string(let text)), (.char, .string(let text)),
            (.json, .string(let text)):
            try append(text, &bytes)
        case (.jsonb, .string(let text)):
            bytes.append(1)
            try append(text, &bytes)
        case (.json, .json(let json)), (.jsonb, .json(let json)):
            return try encode(.string(json.text), as: type, into: &bytes)
        case (.bool, .bool(let value)): bytes.append(value ? 1 : 0)
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
        case (.bytea, .bytes(let value)): bytes += value
        case (.numeric, _): try append(try numeric(value), &bytes)
        case (.float8, _): bytes.appendBigEndian(try double(value, type).bitPattern)
        case (.float4, _): bytes.appendBigEndian(try float(value).bitPattern)
        case (.timestamp, _), (.timestamptz, _): bytes.appendBigEndian(try timestamp(value, type).microsecondsSince2000)
        case (.date, _): bytes.appendBigEndian(try date(value).daysSince2000)
        case (.time, .time(let time)): bytes.appendBigEndian(time.microseconds)
        case (.timetz, .timeTZ(let time)):
            bytes.appendBigEndian(time.time.microseconds)
            bytes.appendBigEndian(Int32(-time.secondsFromGMT))
        case (.interval, .interval(let interval)):
            bytes.appendBigEndian(interval.microseconds)
            bytes.appendBigEndian(interval.days)
            bytes.appendBigEndian(interval.months)
        case (.time, .string(let text)), (.timetz, .string(let text)), (.interval, .string(let text)),
            (.uuid, .string(let text)):
            guard let parsed = try TextDecoder.value(text, of: type, nil) else { throw mismatch(value, type) }
            return try encode(parsed, as: type, into: &bytes)
        case (_, .array(let array)) where type.elementType != nil || !type.isKnown:
            return try append(array, type, &bytes)
        case (_, .other(let raw)) where raw.dataType == type:
            bytes += raw.bytes
            return raw.format
        case (_, .string(let text)) where !type.isKnown:
            try append(text, &bytes)
            return .text
        default: throw mismatch(value, type)
        }
        return .binary
    }

    private static func append(_ text: String, _ bytes: inout [UInt8]) throws {
        guard !text.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "PostgreSQL text cannot hold a NUL character")
        }
        bytes.append(contentsOf: text.utf8)
    }

    private static func append<T: FixedWidthInteger>(
        _ value: Int64,
        as: T.Type,
        _ type: PostgresDataType,
        _ bytes: inout [UInt8]
    ) throws {
        guard let exact = T(exactly: value) else {
            throw PostgresError(.invalidParameter, "The integer is out of the range of \(type)")
        }
        bytes.appendBigEndian(exact)
    }

    private static func append(_ numeric: PostgresNumeric, _ bytes: inout [UInt8]) throws {
        guard let count = Int16(exactly: numeric.groups.count), let weight = Int16(exactly: numeric.weight),
            let scale = Int16(exactly: numeric.scale)
        else { throw PostgresError(.invalidParameter, "The number has more digits than numeric can hold") }
        bytes.appendBigEndian(count)
        bytes.appendBigEndian(weight)
        bytes.appendBigEndian(numeric.sign.rawValue)
        bytes.appendBigEndian(scale)
        for group in numeric.groups { bytes.appendBigEndian(group) }
    }

    /// An array in binary form, or in text form where the elements' type has no binary one.
    private static func append(
        _ array: PostgresArray,
        _ type: PostgresDataType,
        _ bytes: inout [UInt8]
    ) throws -> PostgresFormat {
        guard let element = type.elementType else {
            try append(array.description, &bytes)
            return .text
        }
        bytes.appendBigEndian(Int32(array.dimensions.count))
        bytes.appendBigEndian(Int32(array.elements.contains(nil) ? 1 : 0))
        bytes.appendBigEndian(element.rawValue)
        for dimension in array.dimensions {
            guard let count = Int32(exactly: dimension.count), let lowerBound = Int32(exactly: dimension.lowerBound)
            else {
                throw PostgresError(.invalidParameter, "The array has more elements than PostgreSQL takes")
            }
            bytes.appendBigEndian(count)
            bytes.appendBigEndian(lowerBound)
        }
        for value in array.elements {
            guard let value else {
                bytes.appendBigEndian(-1 as Int32)
                continue
            }
            var encoded: [UInt8] = []
            _ = try encode(value, as: element, into: &encoded)
            guard let length = Int32(exactly: encoded.count) else {
                throw PostgresError(.invalidParameter, "An element of the array is larger than PostgreSQL takes")
            }
            bytes.appendBigEndian(length)
            bytes += encoded
        }
        return .binary
    }

    private static func numeric(_ value: PostgresValue) throws -> PostgresNumeric {
        switch value {
        case .numeric(let numeric): return numeric
        case .integer(let integer): return PostgresNumeric(integer)
        case .double(let double): return PostgresNumeric(double)
        case .float(let float):
            // The shortest text of the float itself, not of the double it would become.
            if let numeric = PostgresNumeric(text(float)) { return numeric }
        default: break
        }
        throw mismatch(value, .numeric)
    }

    private static func double(_ value: PostgresValue, _ type: PostgresDataType) throws -> Double {
        switch value {
        case .double(let double): return double
        case .float(let float): return Double(float)
        case .numeric(let numeric): return Double(numeric)
        case .integer(let integer):
            guard let exact = Double(exactly: integer) else {
                throw PostgresError(.invalidParameter, "The integer cannot be a \(type) exactly")
            }
            return exact
        default: throw mismatch(value, type)
        }
    }

    private static func float(_ value: PostgresValue) throws -> Float {
        if case .float(let float) = value { return float }
        let double = try double(value, .float4)
        let float = Float(double)
        guard float.isFinite == double.isFinite, (float == 0) == (double == 0) else {
            throw PostgresError(.invalidParameter, "The number is out of the range of real")
        }
        return float
    }

    private static func timestamp(_ value: PostgresValue, _ type: PostgresDataType) throws -> PostgresTimestamp {
        switch value {
        // The session's time zone is UTC: a moment and what a clock there shows are the same number.
        case .timestamp(let timestamp), .timestampTZ(let timestamp): return timestamp
        case .string(let text): if let timestamp = PostgresTimestamp(text) { return timestamp }
        default: break
        }
        throw mismatch(value, type)
    }

    private static func date(_ value: PostgresValue) throws -> PostgresDate {
        switch value {
        case .date(let date): return date
        case .string(let text): if let date = PostgresDate(text) { return date }
        case .timestamp(let timestamp), .timestampTZ(let timestamp):
            if timestamp.microsecondsOfDay == 0, let date = PostgresDate(days: timestamp.days) { return date }
        default: break
        }
        throw mismatch(value, .date)
    }

    private static func mismatch(_ value: PostgresValue, _ type: PostgresDataType) -> PostgresError {
        PostgresError(.invalidParameter, "\(value.kindName) was given where \(type) is expected")
    }
}
