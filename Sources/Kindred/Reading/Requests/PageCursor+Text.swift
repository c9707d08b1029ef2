import HarmlessText
import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The text of a cursor is base64 for addresses (RFC 4648, section 5) without padding, over these bytes: the format's number,
// schema, table, the number of sort keys, for each key its direction and its path (or its alternatives), for each key its value, and a checksum.
// Texts and lists have their length before them. A value is its type's OID and the text that PostgreSQL prints for it.
extension PageCursor {
    /// The cursor as a text of letters, digits, `-` and `_`, for an address or a JSON document.
    ///
    /// It holds the entity, the order and the values of the last object that it is sorted by: a client can read them,
    /// and can make a cursor of its own, but sees nothing with it except other pages of the same request. Do not log
    /// it.
    public var text: String { Base64Text.encode(PageCursorForm(self).bytes) }

    /// Reads a cursor from its text.
    ///
    /// Throws `KindredError` `.invalidCursor` for anything that is not the text of a cursor. Whether it fits the request is
    /// checked by `page(size:after:)`. Sends nothing.
    public init(_ text: some StringProtocol) throws {
        guard text.utf8.count <= PageCursorForm.maximumSize, let bytes = Base64Text.decode(text) else {
            throw Self.invalid("it is not in the form of one")
        }
        self = try PageCursorForm.read(bytes)
    }

    static func invalid(_ reason: String) -> KindredError {
        KindredError(.invalidCursor, "The text is no page cursor: \(reason)")
    }
}

extension PageCursor: Codable {
    /// Reads the text.
    ///
    /// Throws `DecodingError` `.dataCorrupted` for anything that is not the text of a cursor.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(String.self))
        } catch let error as KindredError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension PageCursor: CustomStringConvertible {
    /// The entity and the keys of the order, without values; safe to log.
    ///
    /// ``text`` is the form that can be read again.
    public var description: String {
        let keys = order.map { $0.label + ($0.ascending ? "" : " descending") }
        return "a place in \(entity) by \(keys.joined(separator: ", "))".harmless
    }
}

/// The bytes of a cursor.
private struct PageCursorForm {
    /// The number of the format.
    static let version: UInt8 = 1
    /// The mark of a sort key that has alternatives in place of a path: each is a path, or no path and a value.
    static let alternatives = 8
    /// The longest text that is read.
    static let maximumSize = 1 << 20

    private(set) var bytes: [UInt8] = [version]

    init(_ cursor: PageCursor) {
        append(cursor.entity.schema)
        append(cursor.entity.name)
        append(cursor.order.count)
        for term in cursor.order {
            let hasAlternatives = !term.alternatives.isEmpty
            append((term.ascending ? 1 : 0) + 2 * term.nulls.number + (hasAlternatives ? Self.alternatives : 0))
            guard hasAlternatives else {
                append(term.path)
                continue
            }
            append(term.alternatives.count)
            for alternative in term.alternatives {
                switch alternative {
                case .path(let path): append(path)
                case .value(let value):
                    append([])
                    append(value)
                }
            }
        }
        for value in cursor.values { append(value) }
        let sum = Self.checksum(bytes[...])
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(sum >> UInt32(shift) & 0xFF)) }
    }

    private mutating func append(_ path: [String]) {
        append(path.count)
        for key in path { append(key) }
    }

    private mutating func append(_ value: PostgresValue?) {
        append(value == nil ? 0 : 1)
        guard let value else { return }
        // The numbers of a database's own types differ from one to the next; their values are texts.
        let type = value.naturalType
        append(Int(type.isKnown ? type.rawValue : 0))
        append(value.description)
    }

    private mutating func append(_ number: Int) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest & 0x7F))
    }

    private mutating func append(_ text: String) {
        append(text.utf8.count)
        bytes += text.utf8
    }

    /// FNV-1a: finds cut-off and mistyped texts; it is no signature.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    static func read(_ bytes: [UInt8]) throws -> PageCursor {
        guard let first = bytes.first else { throw PageCursor.invalid("it is empty") }
        guard first == version else { throw PageCursor.invalid("it is of another version of the library") }
        let (content, sum) = (bytes.dropLast(4), bytes.suffix(4))
        guard bytes.count > 5, checksum(content) == sum.reduce(0, { $0 << 8 | UInt32($1) }) else {
            throw PageCursor.invalid("it has been changed or cut off")
        }
        var reader = PageCursorReader(content.dropFirst())
        let entity = QualifiedName(schema: try reader.text(), name: try reader.text())
        let order = try reader.list { reader in
            let flags = try reader.number()
            guard let nulls = NullOrder(number: (flags & ~alternatives) >> 1) else { throw PageCursorReader.damage }
            if flags & alternatives != 0 {
                let alternatives = try reader.list { try $0.alternative() }
                guard !alternatives.isEmpty else { throw PageCursorReader.damage }
                return SortTerm(alternatives, ascending: flags & 1 == 1, nulls: nulls)
            }
            let path = try reader.list { try $0.text() }
            guard !path.isEmpty else { throw PageCursorReader.damage }
            return SortTerm(path: path, ascending: flags & 1 == 1, nulls: nulls)
        }
        let values = try order.map { _ in try reader.value() }
        guard reader.isAtEnd, !order.isEmpty else { throw PageCursorReader.damage }
        return PageCursor(entity: entity, order: order, values: values)
    }
}

/// Reads the bytes of a cursor; every length is checked against the bytes left.
private struct PageCursorReader {
    private var rest: ArraySlice<UInt8>

    static var damage: KindredError { PageCursor.invalid("its parts are damaged") }

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() throws -> Int {
        var value = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = rest.popFirst() else { throw Self.damage }
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Self.damage
    }

    mutating func text() throws -> String {
        let count = try number()
        guard count <= rest.count, let text = String(validating: rest.prefix(count), as: UTF8.self) else {
            throw Self.damage
        }
        rest = rest.dropFirst(count)
        return text
    }

    mutating func list<Element>(_ element: (inout PageCursorReader) throws -> Element) throws -> [Element] {
        let count = try number()
        // Each element takes a byte at least.
        guard count <= rest.count else { throw Self.damage }
        return try (0..<count).map { _ in try element(&self) }
    }

    mutating func alternative() throws -> SortTerm.Alternative {
        let path = try list { try $0.text() }
        if !path.isEmpty { return .path(path) }
        guard let value = try value() else { throw Self.damage }
        return .value(value)
    }

    mutating func value() throws -> PostgresValue? {
        switch try number() {
        case 0: return nil
        case 1:
            guard let type = UInt32(exactly: try number()) else { throw Self.damage }
            let text = try text()
            if type == 0 { return .string(text) }
            guard PostgresDataType(rawValue: type).isKnown,
                let value = try? PostgresValue(text: text, type: PostgresDataType(rawValue: type))
            else { throw Self.damage }
            return value
        default: throw Self.damage
        }
    }
}

extension NullOrder {
    fileprivate var number: Int {
        switch self {
        case .standard: 0
        case .first: 1
        case .last: 2
        }
    }

    fileprivate init?(number: Int) {
        switch number {
        case 0: self = .standard
        case 1: self = .first
        case 2: self = .last
        default: return nil
        }
    }
}

/// Base64 for addresses, without padding.
private enum Base64Text {
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The bytes; nil for a text that ``encode(_:)`` does not give for them.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding) else { return nil }
        let bytes = [UInt8](data)
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }
}
