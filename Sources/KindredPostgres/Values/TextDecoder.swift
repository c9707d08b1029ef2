#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads values as the server prints them.
///
/// Gives nil for text of the wrong shape.
enum TextDecoder {
    static func value(_ text: String, of type: PostgresDataType, _ types: TypeRegistry?) throws -> PostgresValue? {
        switch type {
        case .text, .varchar, .bpchar, .name, .xml, .unknown, .char: .string(text)
        case .int4: Int32(text).map { .integer(Int64($0)) }
        case .int8: Int64(text).map(PostgresValue.integer)
        case .int2: Int16(text).map { .integer(Int64($0)) }
        case .oid: UInt32(text).map { .integer(Int64($0)) }
        case .bool: bool(text).map(PostgresValue.bool)
        case .float8: Double(text).map(PostgresValue.double)
        case .float4: Float(text).map(PostgresValue.float)
        case .numeric: PostgresNumeric(text).map(PostgresValue.numeric)
        case .timestamp: PostgresTimestamp(text).map(PostgresValue.timestamp)
        case .timestamptz: PostgresTimestamp(text).map(PostgresValue.timestampTZ)
        case .date: PostgresDate(text).map(PostgresValue.date)
        case .uuid: UUID(uuidString: text).map(PostgresValue.uuid)
        case .json, .jsonb: .json(PostgresJSON(text: text))
        case .bytea: bytes(text).map(PostgresValue.bytes)
        case .time: PostgresTime(text).map(PostgresValue.time)
        case .timetz: PostgresTimeTZ(text).map(PostgresValue.timeTZ)
        case .interval: PostgresInterval(text).map(PostgresValue.interval)
        default:
            if let element = type.elementType {
                try array(text, element, types).map(PostgresValue.array)
            } else {
                nil
            }
        }
    }

    private static func bool(_ text: String) -> Bool? {
        switch text {
        case "t", "true": true
        case "f", "false": false
        default: nil
        }
    }

    /// `\x0aff`; the older escape format is not asked for by any connection of ours.
    private static func bytes(_ text: String) -> [UInt8]? {
        var rest = text.utf8[...]
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "x"), rest.count % 2 == 0 else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rest.count / 2)
        while let high = rest.popFirst(), let low = rest.popFirst() {
            guard let high = digit(high), let low = digit(low) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// `{1,NULL,"a b"}`, `[0:1]={…}`, nested braces for several dimensions.
    static func array(_ text: String, _ element: PostgresDataType, _ types: TypeRegistry?) throws -> PostgresArray? {
        var reader = ArrayReader(text)
        guard let (dimensions, items) = reader.read() else { return nil }
        let elements = try items.map { item in
            try item.map { text in
                try Array(text.utf8).withUnsafeBytes {
                    try Codec.decode($0, type: element, format: .text, types: types)
                }
            }
        }
        return try PostgresArray(elementType: element, dimensions: dimensions, elements: elements)
    }

    /// Splits an array's text into its items.
    private struct ArrayReader {
        private var rest: Substring.UTF8View
        private var counts: [Int] = []
        private var items: [String?] = []

        init(_ text: String) {
            rest = Substring(text).utf8
        }

        mutating func read() -> (dimensions: [PostgresArray.Dimension], items: [String?])? {
            var lowerBounds: [Int] = []
            if rest.first == UInt8(ascii: "[") {
                guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
                for part in rest[..<equals].split(separator: UInt8(ascii: "]")) {
                    let bounds = part.dropFirst().split(separator: UInt8(ascii: ":"))
                    guard let lower = bounds.first, let bound = Int(Substring(lower)) else { return nil }
                    lowerBounds.append(bound)
                }
                rest = rest[rest.index(after: equals)...]
            }
            guard braces(depth: 0), rest.isEmpty else { return nil }
            if items.isEmpty { return ([], []) }
            guard lowerBounds.isEmpty || lowerBounds.count == counts.count else { return nil }
            let dimensions = counts.enumerated().map { depth, count in
                PostgresArray.Dimension(count: count, lowerBound: lowerBounds.isEmpty ? 1 : lowerBounds[depth])
            }
            return (dimensions, items)
        }

        private mutating func braces(depth: Int) -> Bool {
            guard depth < 6, rest.popFirst() == UInt8(ascii: "{") else { return false }
            if rest.first == UInt8(ascii: "}") {
                rest.removeFirst()
                return depth == 0
            }
            var count = 0
            while true {
                count += 1
                guard rest.first == UInt8(ascii: "{") ? braces(depth: depth + 1) : item(depth: depth) else {
                    return false
                }
                switch rest.popFirst() {
                case UInt8(ascii: ",")?: continue
                case UInt8(ascii: "}")?: return note(count, depth)
                default: return false
                }
            }
        }

        /// All the braces of one depth hold the same number of items.
        private mutating func note(_ count: Int, _ depth: Int) -> Bool {
            while counts.count <= depth { counts.append(0) }
            if counts[depth] == 0 { counts[depth] = count }
            return counts[depth] == count
        }

        private mutating func item(depth: Int) -> Bool {
            var bytes: [UInt8] = []
            let isQuoted = rest.first == UInt8(ascii: "\"")
            if isQuoted { rest.removeFirst() }
            while let byte = rest.first {
                if isQuoted ? byte == UInt8(ascii: "\"") : byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") {
                    break
                }
                rest.removeFirst()
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = rest.popFirst() else { return false }
                    bytes.append(escaped)
                } else {
                    bytes.append(byte)
                }
            }
            if isQuoted { guard rest.popFirst() != nil else { return false } }
            guard let text = String(validating: bytes, as: UTF8.self) else { return false }
            items.append(!isQuoted && text.lowercased() == "null" ? nil : text)
            return true
        }
    }
}

extension PostgresValue {
    /// The value of a type that a text as the server prints it stands for.
    ///
    /// Throws `PostgresError` `.invalidParameter` for any other text.
    package init(text: String, type: PostgresDataType) throws {
        if let value = try TextDecoder.value(text, of: type, nil) {
            self = value
        } else if !type.isKnown {
            self = .string(text)
        } else {
            throw PostgresError(.invalidParameter, "The text is no value of \(type)")
        }
    }
}
