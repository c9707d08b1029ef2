#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Codec {
    /// Appends a value as the given type, in binary form unless the library does not know the type's; returns the
    /// format.
    ///
    /// The conversion is exact, or throws. A string is accepted for the text family, for types that it can spell (dates,
    /// times, intervals, uuid, json), and for types unknown to the library, which the server parses. Throws
    /// `PostgresError` `.invalidParameter` naming both types, never the value.
    package static func encode(
        _ value: PostgresValue,
        as type: PostgresDataType,
        types: TypeRegistry? = nil,
        into bytes: inout [UInt8]
    ) throws -> PostgresFormat {
        try encode(value, as: type, types: types, into: &bytes, depth: 0)
    }

    static func encode(
        _ value: PostgresValue,
        as type: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int
    ) throws -> PostgresFormat {
        switch type {
        case .int8: bytes.appendBigEndian(try integer(value, type) as Int64)
        case .int4: bytes.appendBigEndian(try integer(value, type) as Int32)
        case .text, .varchar, .bpchar, .name, .xml, .unknown:
            guard case .string(let text) = value else { throw mismatch(value, type) }
            try text.appendBytes(to: &bytes)
        case .int2: bytes.appendBigEndian(try integer(value, type) as Int16)
        case .oid: bytes.appendBigEndian(try integer(value, type) as UInt32)
        case .bool:
            guard case .bool(let value) = value else { throw mismatch(value, type) }
            bytes.append(value ? 1 : 0)
        case .uuid: bytes.append(try uuid(value))
        case .timestamp, .timestamptz: bytes.appendBigEndian(try timestamp(value, type).microsecondsSince2000)
        case .date: bytes.appendBigEndian(try date(value).daysSince2000)
        case .numeric: append(try numeric(value), &bytes)
        case .float8: bytes.appendBigEndian(try double(value).bitPattern)
        case .float4: bytes.appendBigEndian(try float(value).bitPattern)
        case .json: try json(value, type).appendBytes(to: &bytes)
        case .jsonb:
            let text = try json(value, type)
            guard !text.holdsEscapedNUL else {
                throw PostgresError(
                    .invalidParameter, #"The JSON document has a NUL character ("\u0000"), which jsonb cannot store"#)
            }
            bytes.append(1)
            try text.appendBytes(to: &bytes)
        case .bytea:
            guard case .bytes(let value) = value else { throw mismatch(value, type) }
            bytes.append(contentsOf: value)
        case .time, .timetz, .interval: try appendTime(value, as: type, into: &bytes)
        case .char: bytes.append(try character(value))
        default: return try encodeOther(value, as: type, types: types, into: &bytes, depth: depth)
        }
        return .binary
    }

    /// Appends arrays and types that are not built in.
    private static func encodeOther(
        _ value: PostgresValue,
        as type: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int
    ) throws -> PostgresFormat {
        guard depth < TypeRegistry.maximumDepth else { throw mismatch(value, type) }
        if type.isKnownScalar { return try encodeScalar(value, as: type, into: &bytes) }
        let kind = type.builtInKind ?? types?.kind(of: type)
        return try encode(value, kind: kind, of: type, types: types, into: &bytes, depth: depth)
    }

    /// Appends a value within another value, its length first; returns its format.
    static func appendElement(
        _ value: PostgresValue?,
        as element: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int = 0
    ) throws -> PostgresFormat {
        guard let value else {
            bytes.appendBigEndian(-1 as Int32)
            return .binary
        }
        let lengthAt = bytes.count
        bytes.appendBigEndian(0 as Int32)
        let format = try encode(value, as: element, types: types, into: &bytes, depth: depth + 1)
        guard let length = Int32(exactly: bytes.count - lengthAt - 4) else {
            throw PostgresError(.invalidParameter, "A part of a value exceeds PostgreSQL's limit")
        }
        bytes.replaceBigEndian(length, at: lengthAt)
        return format
    }

    /// Appends a structured value in binary form, or as text if a part has only a text form.
    static func binaryOrText(
        _ value: PostgresValue,
        into bytes: inout [UInt8],
        write: (inout [UInt8]) throws -> PostgresFormat
    ) throws -> PostgresFormat {
        let start = bytes.count
        if try write(&bytes) == .binary { return .binary }
        bytes.removeSubrange(start...)
        return try appendText(value, &bytes)
    }

    /// Appends the text of a value, for the server to parse.
    static func appendText(_ value: PostgresValue, _ bytes: inout [UInt8]) throws -> PostgresFormat {
        guard value.hasText else {
            throw PostgresError(.invalidParameter, "Bytes of a type unknown to the library cannot be sent as text")
        }
        try value.description.appendBytes(to: &bytes)
        return .text
    }

    private static func append(_ numeric: PostgresNumeric, _ bytes: inout [UInt8]) {
        // At most 16,383 digits after the point and 131,072 before it keep the number of groups far below 65,536.
        bytes.appendBigEndian(UInt16(clamping: numeric.groups.count))
        bytes.appendBigEndian(numeric.weight)
        bytes.appendBigEndian(numeric.sign.rawValue)
        bytes.appendBigEndian(UInt16(clamping: numeric.scale))
        for group in numeric.groups { bytes.appendBigEndian(group) }
    }

    private static func appendTime(
        _ value: PostgresValue,
        as type: PostgresDataType,
        into bytes: inout [UInt8]
    ) throws {
        switch (type, try spelled(value, type)) {
        case (.time, .time(let time)): bytes.appendBigEndian(time.microseconds)
        case (.timetz, .timeTZ(let time)):
            bytes.appendBigEndian(time.time.microseconds)
            // The server counts seconds west of Greenwich.
            bytes.appendBigEndian(Int32(clamping: -time.secondsFromGMT))
        case (.interval, .interval(let interval)):
            bytes.appendBigEndian(interval.microseconds)
            bytes.appendBigEndian(interval.days)
            bytes.appendBigEndian(interval.months)
        default: throw mismatch(value, type)
        }
    }
}
