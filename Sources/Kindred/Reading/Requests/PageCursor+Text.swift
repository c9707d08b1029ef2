import HarmlessText
import KindredPostgres
import KindredSchema

// The content of a cursor, see `CursorText`: schema, table, the number of sort keys, for each key its direction and its path (or
// its alternatives), and for each key its value: its type's OID and the text that PostgreSQL prints for it.
extension PageCursor {
    /// The cursor as a text of letters, digits, `-` and `_`, for an address or a JSON document.
    ///
    /// It holds the entity, the order and the values of the last object that it is sorted by: a client can read them,
    /// and can make a cursor of its own, but sees nothing with it except other pages of the same request. Do not log
    /// it.
    public var text: String { PageCursorForm(self).text.text }

    /// Reads a cursor from its text.
    ///
    /// Throws `KindredError` `.invalidCursor` for anything that is not the text of a cursor. Whether it fits the request is
    /// checked by `page(size:after:)`. Sends nothing.
    public init(_ text: some StringProtocol) throws {
        do {
            self = try PageCursorForm.read(text)
        } catch let damage as CursorText.Damage {
            throw KindredError(.invalidCursor, "The text is no page cursor: \(damage.reason)")
        }
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

/// The content of a cursor's text.
private struct PageCursorForm {
    /// The number of the format.
    static let version: UInt8 = 1
    /// The mark of a sort key that has alternatives in place of a path: each is a path, or no path and a value.
    static let alternatives = 8
    /// The longest text that is read.
    static let maximumSize = 1 << 20

    private(set) var text = CursorText(version: version)

    init(_ cursor: PageCursor) {
        text.append(cursor.entity.schema)
        text.append(cursor.entity.name)
        text.append(cursor.order.count)
        for term in cursor.order {
            let hasAlternatives = !term.alternatives.isEmpty
            text.append((term.ascending ? 1 : 0) + 2 * term.nulls.number + (hasAlternatives ? Self.alternatives : 0))
            guard hasAlternatives else {
                append(term.path)
                continue
            }
            text.append(term.alternatives.count)
            for alternative in term.alternatives {
                switch alternative {
                case .path(let path): append(path)
                case .value(let value):
                    append([])
                    append(value)
                // No key of the database is empty.
                case .members(let key): append(["", key.identity])
                }
            }
        }
        for value in cursor.values { append(value) }
    }

    private mutating func append(_ path: [String]) {
        text.append(path.count)
        for key in path { text.append(key) }
    }

    private mutating func append(_ value: PostgresValue?) {
        text.append(value == nil ? 0 : 1)
        guard let value else { return }
        // The numbers of a database's own types differ from one to the next; their values are texts.
        let type = value.naturalType
        text.append(Int(type.isKnown ? type.rawValue : 0))
        text.append(value.description)
    }

    static func read(_ text: some StringProtocol) throws -> PageCursor {
        var reader = try CursorText.Reader(text, version: version, maximumSize: maximumSize)
        let entity = QualifiedName(schema: try reader.text(), name: try reader.text())
        let order = try reader.list { reader in
            let flags = try reader.number()
            guard let nulls = NullOrder(number: (flags & ~alternatives) >> 1) else { throw CursorText.Damage() }
            if flags & alternatives != 0 {
                let alternatives = try reader.list { try $0.alternative() }
                guard !alternatives.isEmpty else { throw CursorText.Damage() }
                return SortTerm(alternatives, ascending: flags & 1 == 1, nulls: nulls)
            }
            let path = try reader.list { try $0.text() }
            guard !path.isEmpty else { throw CursorText.Damage() }
            return SortTerm(path: path, ascending: flags & 1 == 1, nulls: nulls)
        }
        let values = try order.map { _ in try reader.value() }
        guard reader.isAtEnd, !order.isEmpty else { throw CursorText.Damage() }
        return PageCursor(entity: entity, order: order, values: values)
    }
}

extension CursorText.Reader {
    fileprivate mutating func alternative() throws -> SortTerm.Alternative {
        let path = try list { try $0.text() }
        if path.count == 2, path[0].isEmpty {
            return .members(MemberSortKey(nil, label: "a value of members", identity: path[1]))
        }
        if !path.isEmpty { return .path(path) }
        guard let value = try value() else { throw CursorText.Damage() }
        return .value(value)
    }

    fileprivate mutating func value() throws -> PostgresValue? {
        switch try number() {
        case 0: return nil
        case 1:
            guard let type = UInt32(exactly: try number()) else { throw CursorText.Damage() }
            let text = try text()
            if type == 0 { return .string(text) }
            guard PostgresDataType(rawValue: type).isKnown,
                let value = try? PostgresValue(text: text, type: PostgresDataType(rawValue: type))
            else { throw CursorText.Damage() }
            return value
        default: throw CursorText.Damage()
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
