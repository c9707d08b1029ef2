import KindredDDL
import KindredPostgres

/// The type of an attribute's column, with its default and limits.
struct AttributeMapping {
    /// The kinds of values that attributes have.
    enum Kind: String, CaseIterable {
        case integer16 = "Integer 16"
        case integer32 = "Integer 32"
        case integer64 = "Integer 64"
        case decimal = "Decimal"
        case double = "Double"
        case float = "Float"
        case string = "String"
        case boolean = "Boolean"
        case date = "Date"
        case binary = "Binary"
        case uuid = "UUID"
        case uri = "URI"
        case transformable = "Transformable"
        case composite = "Composite"

        /// The type in SQL; the type of a composite attribute has a name of its own.
        var type: String {
            switch self {
            case .integer16: "smallint"
            case .integer32: "integer"
            case .integer64: "bigint"
            case .decimal: "numeric"
            case .double: "double precision"
            case .float: "real"
            case .string, .uri: "text"
            case .boolean: "boolean"
            case .date: "timestamp with time zone"
            case .binary, .transformable: "bytea"
            case .uuid: "uuid"
            case .composite: ""
            }
        }
    }

    let kind: Kind

    private init(kind: Kind) {
        self.kind = kind
    }

    init?(_ type: String) {
        guard let kind = Kind(rawValue: type) else { return nil }
        self.kind = kind
    }

    /// A default as SQL; nil if the text is no value of the type.
    func value(_ text: String) -> String? {
        switch kind {
        case .string, .uri: return DDL.literal(text)
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "1": return "true"
            case "no", "false", "0": return "false"
            default: return nil
            }
        case .uuid:
            // In the form that the server shows, so that only a UUID gets there.
            let groups = text.lowercased().split(separator: "-", omittingEmptySubsequences: false)
            let isUUID =
                groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
                && groups.allSatisfy { $0.utf8.allSatisfy(Self.isHexDigit) }
            return isUUID ? "'\(text.lowercased())'::uuid" : nil
        case .binary, .transformable, .composite: return nil
        default: return number(text)
        }
    }

    /// The number for a Boolean's default text: an attribute whose type was changed in the editor keeps the text.
    func numberOfBoolean(_ text: String) -> (digit: String, value: String)? {
        switch kind {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: break
        default: return nil
        }
        guard let value = AttributeMapping(kind: .boolean).value(text) else { return nil }
        let digit = value == "true" ? "1" : "0"
        return number(digit).map { (digit, $0) }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// A limit of a type with an order; an integer's limit may lie beyond the type.
    func limit(_ text: String) -> String? {
        switch kind {
        case .integer16, .integer32, .integer64, .decimal:
            guard Self.isDecimal(text) else { return nil }
            return text.hasPrefix("+") ? String(text.dropFirst()) : text
        default: return number(text)
        }
    }

    /// A default of a type with an order, as SQL that has that type; nil if the text is no value of it.
    func number(_ text: String) -> String? {
        switch kind {
        case .integer16:
            return Int16(text).map { "\($0)" } ?? wholeFloat(text).flatMap { Int16(exactly: $0) }.map { "\($0)" }
        case .integer32:
            return Int32(text).map { "\($0)" } ?? wholeFloat(text).flatMap { Int32(exactly: $0) }.map { "\($0)" }
        case .integer64:
            return Int64(text).map { "\($0)" } ?? wholeFloat(text).flatMap { Int64(exactly: $0) }.map { "\($0)" }
        case .decimal:
            guard Self.isDecimal(text) else { return nil }
            return text.hasPrefix("+") ? String(text.dropFirst()) : text
        case .double:
            guard let value = Self.isDecimal(text) ? Double(text) : nil, value.isFinite else { return nil }
            return "'\(value)'::double precision"
        case .float:
            guard let value = Self.isDecimal(text) ? Float(text) : nil, value.isFinite else { return nil }
            return "'\(value)'::real"
        case .date:
            guard let seconds = Self.isDecimal(text) ? Double(text) : nil else { return nil }
            // The seconds count from the beginning of 2001, which is 366 days after the beginning of 2000.
            let microseconds = ((seconds + 31_622_400) * 1_000_000).rounded()
            guard let whole = Int64(exactly: microseconds), let moment = PostgresTimestamp(microsecondsSince2000: whole)
            else { return nil }
            let isBeforeChrist = moment.description.hasSuffix(" BC")
            let plain = isBeforeChrist ? String(moment.description.dropLast(3)) : moment.description
            return "'\(plain)+00\(isBeforeChrist ? " BC" : "")'::timestamp with time zone"
        default: return nil
        }
    }

    /// `1.0` of an integer, as some tools write it.
    private func wholeFloat(_ text: String) -> Double? {
        guard Self.isDecimal(text), let value = Double(text), value.magnitude < 9_007_199_254_740_992 else {
            return nil
        }
        return value
    }

    /// Digits with a sign, a point and an exponent of at most three digits, not longer than PostgreSQL's own numbers.
    private static func isDecimal(_ text: String) -> Bool {
        guard text.utf8.count <= 400 else { return false }
        var rest = Substring(text).utf8
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(whole.count)
        var digits = whole.count
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = rest.prefix(while: Self.isDigit)
            rest = rest.dropFirst(fraction.count)
            digits += fraction.count
        }
        guard digits > 0 else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            guard (1...3).contains(rest.count) else { return false }
            rest = rest.dropFirst(rest.prefix(while: Self.isDigit).count)
        }
        return rest.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Whether a range is of lengths of texts, of values, or none at all.
    enum Range { case length, value, none }

    var range: Range {
        switch kind {
        case .string: .length
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: .value
        case .boolean, .binary, .uuid, .uri, .transformable, .composite: .none
        }
    }
}
