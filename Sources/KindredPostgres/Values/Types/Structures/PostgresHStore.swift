/// An `hstore`: texts by key, nil for NULL.
///
/// Keys and texts are compared by their bytes, as the server does: two spellings of "é" are two keys.
public struct PostgresHStore: Sendable {
    /// A key with its text, nil for NULL.
    public typealias Entry = (key: String, text: String?)

    /// The keys with their texts, in the server's order: shorter keys first, then by their bytes.
    public let entries: [Entry]

    /// A store of the given texts.
    public init(_ values: [String: String?]) {
        self.init(entries: values.map { ($0, $1) })
    }

    /// A store of the given entries; of entries with the same key the last counts.
    public init(entries: [Entry]) {
        func precedes(_ left: String, _ right: String) -> Bool {
            left.utf8.count == right.utf8.count
                ? left.utf8.lexicographicallyPrecedes(right.utf8) : left.utf8.count < right.utf8.count
        }
        // Sorting is stable.
        let sorted = entries.sorted { precedes($0.key, $1.key) }
        self.entries = sorted.indices.lazy.filter { place in
            place + 1 == sorted.count || sorted[place].key != sorted[place + 1].key
        }.map { sorted[$0] }
    }

    /// The texts by key; of keys that are equal in Swift, such as two spellings of "é", the last.
    public var values: [String: String?] {
        Dictionary(entries.lazy.map { ($0.key, $0.text) }) { _, last in last }
    }

    /// The text of a key; nil for NULL and for a missing key.
    public subscript(key: String) -> String? { entries.first { $0.key == key }?.text }
}

extension PostgresHStore: Hashable {
    /// Whether the stores have the same keys with the same texts, byte by byte.
    public static func == (left: PostgresHStore, right: PostgresHStore) -> Bool {
        left.entries.count == right.entries.count
            && zip(left.entries, right.entries).allSatisfy { one, other in
                one.key == other.key && one.text == other.text
            }
    }

    /// Hashes the keys.
    public func hash(into hasher: inout Hasher) {
        for entry in entries { hasher.combine(entry.key) }
    }
}

extension PostgresHStore: ExpressibleByDictionaryLiteral {
    /// The given texts; the last of duplicate keys counts.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init(entries: elements.map { ($0, $1) })
    }
}

extension PostgresHStore: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        // Each entry has at least two length prefixes.
        guard let count = reader.next(Int32.self), count >= 0, Int(count) <= reader.count / 8 else { return nil }
        var entries: [Entry] = []
        for _ in 0..<count {
            guard let length = reader.next(Int32.self), let key = reader.nextText(Int(length)),
                let field = reader.nextField()
            else { return nil }
            if let field {
                guard let text = String(validating: field, as: UTF8.self) else { return nil }
                entries.append((key, text))
            } else {
                entries.append((key, nil))
            }
        }
        self.init(entries: entries)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: entries.count))
        for (key, value) in entries {
            bytes.appendBigEndian(Int32(clamping: key.utf8.count))
            bytes += key.utf8
            bytes.appendBigEndian(value.map { Int32(clamping: $0.utf8.count) } ?? -1)
            if let value { bytes += value.utf8 }
        }
    }

    /// Whether a text has a NUL, which the server cannot store.
    var hasNUL: Bool {
        entries.contains { key, value in key.utf8.contains(0) || value?.utf8.contains(0) == true }
    }
}

extension PostgresHStore: LosslessStringConvertible {
    /// The store of a text such as `"a"=>"1", "b"=>NULL`, quoted as the server prints it.
    public init?(_ text: String) {
        var scanner = QuotedScanner(text, quote: "\"")
        var entries: [Entry] = []
        if !scanner.isAtEnd {
            repeat {
                guard let key = scanner.quoted(), scanner.skip("=>") else { return nil }
                if scanner.skip("NULL") {
                    entries.append((key, nil))
                } else {
                    guard let value = scanner.quoted() else { return nil }
                    entries.append((key, value))
                }
            } while scanner.skip(", ")
        }
        guard scanner.isAtEnd else { return nil }
        self.init(entries: entries)
    }

    /// The store as the server prints it, shorter keys first.
    public var description: String {
        func quoted(_ text: String) -> String { QuotedScanner.quoted(text, quote: "\"", doubled: false) }
        return entries.map { "\(quoted($0))=>\($1.map(quoted) ?? "NULL")" }.joined(separator: ", ")
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
