#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decodes values as the server prints them.
enum TextDecoder {
    /// The value of a built-in type other than an array; nil for every other type.
    ///
    /// Throws for malformed text.
    static func scalar(_ bytes: ByteView, _ type: PostgresDataType) throws -> PostgresValue? {
        guard type.isKnownScalar else { return nil }
        guard let value = value(try Codec.string(bytes), type) else { throw Codec.malformed(type) }
        return value
    }

    /// Parses a text as a built-in type other than an array; nil if it is invalid.
    static func value(_ text: String, _ type: PostgresDataType) -> PostgresValue? {
        switch type {
        case .text, .varchar, .bpchar, .name, .xml, .unknown, .char: .string(text)
        case .int4: Int32(text).map { .integer(Int64($0)) }
        case .int8: Int64(text).map(PostgresValue.integer)
        case .int2: Int16(text).map { .integer(Int64($0)) }
        case .oid: UInt32(text).map { .integer(Int64($0)) }
        case .bool: bool(text).map(PostgresValue.bool)
        case .float8: NumberText.number(text).map(PostgresValue.double)
        case .float4: NumberText.number(text).map(PostgresValue.float)
        case .numeric: PostgresNumeric(text).map(PostgresValue.numeric)
        case .timestamp: PostgresTimestamp(text, mayHaveOffset: false).map(PostgresValue.timestamp)
        case .timestamptz: PostgresTimestamp(text).map(PostgresValue.timestampTZ)
        case .date: PostgresDate(text).map(PostgresValue.date)
        case .uuid: uuid(text).map(PostgresValue.uuid)
        case .json, .jsonb: .json(PostgresJSON(text: text))
        case .bytea: bytes(text).map(PostgresValue.bytes)
        case .time: PostgresTime(text).map(PostgresValue.time)
        case .timetz: PostgresTimeTZ(text).map(PostgresValue.timeTZ)
        case .interval: PostgresInterval(text).map(PostgresValue.interval)
        default: type.isKnownScalar ? otherValue(text, type) : nil
        }
    }

    /// Parses a text as a less frequent built-in type; nil if it is invalid.
    private static func otherValue(_ text: String, _ type: PostgresDataType) -> PostgresValue? {
        switch type {
        case .inet: PostgresInet(text).map(PostgresValue.inet)
        case .cidr: PostgresInet(text).flatMap { $0.isNetwork ? .inet($0) : nil }
        case .macaddr: PostgresMACAddress(text).flatMap { $0.isEUI64 ? nil : .macAddress($0) }
        case .macaddr8: PostgresMACAddress(text).flatMap { $0.isEUI64 ? .macAddress($0) : nil }
        case .bit, .varbit: PostgresBits(text).map(PostgresValue.bits)
        case .money: PostgresMoney(text).map(PostgresValue.money) ?? unread(text, type)
        case .point: PostgresPoint(text).map(PostgresValue.point)
        case .line: PostgresLine(text).map(PostgresValue.line)
        case .lseg: PostgresLineSegment(text).map(PostgresValue.lineSegment)
        case .box: PostgresBox(text).map(PostgresValue.box)
        case .path: PostgresPath(text).map(PostgresValue.path)
        case .polygon: PostgresPolygon(text).map(PostgresValue.polygon)
        case .circle: PostgresCircle(text).map(PostgresValue.circle)
        case .tsvector: PostgresTSVector(text).map(PostgresValue.tsVector)
        case .tsquery: PostgresTSQuery(text).map(PostgresValue.tsQuery)
        // The server prints catalog rows by name, if they have one.
        default: UInt32(text).map { .integer(Int64($0)) } ?? .string(text)
        }
    }

    /// The format of other currencies is known only to the server.
    private static func unread(_ text: String, _ type: PostgresDataType) -> PostgresValue {
        .other(PostgresRawValue(dataType: type, format: .text, bytes: Array(text.utf8)))
    }

    private static func bool(_ text: String) -> Bool? {
        switch text {
        case "t", "true": true
        case "f", "false": false
        default: nil
        }
    }

    /// `\x0aff`; no connection of the library requests the older escape format.
    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("\\x") else { return nil }
        return HexText.bytes(text.utf8.dropFirst(2))
    }

    /// Digits in groups of 8, 4, 4, 4 and 12.
    private static func uuid(_ text: String) -> UUID? {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.map(\.count) == [8, 4, 4, 4, 12], let bytes = HexText.bytes(groups.joined()), bytes.count == 16
        else {
            return nil
        }
        return bytes.withBytes(\.uuid)
    }
}

extension PostgresValue {
    /// Parses a text as the server prints the type; returns the text itself for an unknown type.
    ///
    /// Throws `PostgresError` `.invalidParameter` for any other text.
    package init(text: String, type: PostgresDataType) throws {
        if let value = TextDecoder.value(text, type) {
            self = value
        } else if type.builtInKind != nil {
            self = try Array(text.utf8).withBytes { bytes in
                do {
                    return try Codec.decode(bytes, type: type, format: .text)
                } catch {
                    throw PostgresError(.invalidParameter, "The text is not a valid value of the type \(type)")
                }
            }
        } else if !type.isKnown {
            self = .string(text)
        } else {
            throw PostgresError(.invalidParameter, "The text is not a valid value of the type \(type)")
        }
    }
}
