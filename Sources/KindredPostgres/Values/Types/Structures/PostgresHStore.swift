/// An `hstore`: texts by key, nil for NULL.
public struct PostgresHStore: Sendable, Hashable {
    /// The texts by key.
    public let values: [String: String?]

    /// A store of the given texts.
    public init(_ values: [String: String?]) {
        self.values = values
    }

    /// The text of a key; nil for NULL and for a missing key.
    public subscript(key: String) -> String? { values[key] ?? nil }
}

extension PostgresHStore: ExpressibleByDictionaryLiteral {
    /// The given texts; the last of duplicate keys counts.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init(Dictionary(elements) { _, last in last })
    }
}

extension PostgresHStore: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        // Each entry has at least two length prefixes.
        guard let count = reader.next(Int32.self), count >= 0, Int(count) <= reader.count / 8 else { return nil }
        var values: [String: String?] = [:]
        for _ in 0..<count {
            guard let length = reader.next(Int32.self), let key = reader.nextText(Int(length)),
                let field = reader.nextField()
            else { return nil }
            if let field {
                guard let text = String(validating: field, as: UTF8.self) else { return nil }
                values.updateValue(text, forKey: key)
            } else {
                values.updateValue(nil, forKey: key)
            }
        }
        self.init(values)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: values.count))
        for (key, value) in values {
            bytes.appendBigEndian(Int32(clamping: key.utf8.count))
            bytes += key.utf8
            bytes.appendBigEndian(value.map { Int32(clamping: $0.utf8.count) } ?? -1)
            if let value { bytes += value.utf8 }
        }
    }

    /// Whether a text has a NUL, which the server cannot store.
    var hasNUL: Bool {
        values.contains { key, value in key.utf8.contains(0) || value?.utf8.contains(0) == true }
    }
}

extension PostgresHStore: LosslessStringConvertible {
    /// The store of a text such as `"a"=>"1", "b"=>NULL`, quoted as the server prints it.
    public init?(_ text: String) {
        var scanner = QuotedScanner(text, quote: "\"")
        var values: [String: String?] = [:]
        if !scanner.isAtEnd {
            repeat {
                guard let key = scanner.quoted(), scanner.skip("=>") else { return nil }
                if scanner.skip("NULL") {
                    values.updateValue(nil, forKey: key)
                } else {
                    guard let value = scanner.quoted() else { return nil }
                    values.updateValue(value, forKey: key)
                }
            } while scanner.skip(", ")
        }
        guard scanner.isAtEnd else { return nil }
        self.init(values)
    }

    /// The store as the server prints it, shorter keys first.
    public var description: String {
        func quoted(_ text: String) -> String { QuotedScanner.quoted(text, quote: "\"", doubled: false) }
        return values.sorted { left, right in
            left.key.utf8.count == right.key.utf8.count
                ? left.key.utf8.lexicographicallyPrecedes(right.key.utf8) : left.key.utf8.count < right.key.utf8.count
        }.map { "\(quoted($0))=>\($1.map(quoted) ?? "NULL")" }.joined(separator: ", ")
    }
}

extension PostgresHStore: PostgresEncodable, PostgresDecodable {
    /// An `hstore`.
    public var postgresValue: PostgresValue? { .hstore(self) }

    /// Reads an `hstore`.
    public init(postgresValue value: PostgresValue) throws {
        if case .hstore(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}
