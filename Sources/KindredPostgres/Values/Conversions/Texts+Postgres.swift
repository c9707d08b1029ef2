#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension String: PostgresEncodable, PostgresDecodable {
    /// A text.
    public var postgresValue: PostgresValue? { .string(self) }
    /// `text`.
    public static var postgresDataType: PostgresDataType { .text }

    /// Reads a text, and the text of a JSON document, of a value without a Swift type (such as an address or a point), and
    /// of a value of a type unknown to the library.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .string(let text): self = text
        case .json(let json): self = json.text
        case .other(let raw):
            guard let text = raw.text else { throw Self.mismatch(value) }
            self = text
        case .inet, .macAddress, .bits, .point, .line, .lineSegment, .box, .path, .polygon, .circle, .tsVector,
            .tsQuery, .hstore, .vector, .range, .multirange, .composite:
            self = value.description
        default: throw Self.mismatch(value)
        }
    }

    /// Reads the types whose forms are their text.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> String? {
        switch column.dataType {
        case .text, .varchar: try bytes.withBytes { try Codec.string($0) }
        default: nil
        }
    }
}

extension Substring: PostgresEncodable {
    /// A text.
    public var postgresValue: PostgresValue? { .string(String(self)) }
    /// `text`.
    public static var postgresDataType: PostgresDataType { .text }
}

extension PostgresJSON: PostgresEncodable, PostgresDecodable {
    /// A `jsonb`.
    public var postgresValue: PostgresValue? { .json(self) }
    /// `jsonb`.
    public static var postgresDataType: PostgresDataType { .jsonb }

    /// Reads a `json` or `jsonb`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .json(let json) = value else { throw Self.mismatch(value) }
        self = json
    }
}

extension UUID: PostgresEncodable, PostgresDecodable {
    /// A `uuid`.
    public var postgresValue: PostgresValue? { .uuid(self) }
    /// `uuid`.
    public static var postgresDataType: PostgresDataType { .uuid }

    /// Reads a `uuid`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .uuid(let uuid) = value else { throw Self.mismatch(value) }
        self = uuid
    }

    /// Reads the binary form.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> UUID? {
        guard column.dataType == .uuid, column.format == .binary, bytes.byteCount == 16 else { return nil }
        return bytes.withBytes(\.uuid)
    }
}

extension Data: PostgresEncodable, PostgresDecodable {
    /// A `bytea`.
    public var postgresValue: PostgresValue? { .bytes(Array(self)) }
    /// `bytea`.
    public static var postgresDataType: PostgresDataType { .bytea }

    /// Reads a `bytea`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .bytes(let bytes) = value else { throw Self.mismatch(value) }
        self = Data(bytes)
    }
}

extension PostgresTSVector: PostgresEncodable, PostgresDecodable {
    /// A `tsvector`.
    public var postgresValue: PostgresValue? { .tsVector(self) }
    /// `tsvector`.
    public static var postgresDataType: PostgresDataType { .tsvector }

    /// Reads a `tsvector`.
    public init(postgresValue value: PostgresValue) throws {
        if case .tsVector(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresTSQuery: PostgresEncodable, PostgresDecodable {
    /// A `tsquery`.
    public var postgresValue: PostgresValue? { .tsQuery(self) }
    /// `tsquery`.
    public static var postgresDataType: PostgresDataType { .tsquery }

    /// Reads a `tsquery`.
    public init(postgresValue value: PostgresValue) throws {
        if case .tsQuery(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}
