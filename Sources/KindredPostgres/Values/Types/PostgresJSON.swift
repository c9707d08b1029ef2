#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A JSON document, stored as its text.
///
/// Two documents are equal if their texts are. The server normalises `jsonb`, so a text may come back with other
/// spaces and another order of keys.
public struct PostgresJSON: Sendable {
    /// The document's text.
    public let text: String

    /// A document with the given text, which the server checks.
    public init(text: String) {
        self.text = text
    }

    /// A document that holds a value.
    ///
    /// Throws `PostgresError` `.invalidParameter` if the value cannot be encoded.
    public init(encoding value: some Encodable, with encoder: JSONEncoder = JSONEncoder()) throws {
        guard let data = try? encoder.encode(value), let text = String(validating: data, as: UTF8.self) else {
            throw PostgresError(.invalidParameter, "The value cannot be encoded as JSON")
        }
        self.text = text
    }

    /// Decodes the document.
    ///
    /// Throws `PostgresError` `.decodingFailed` if the document does not fit the type.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch let error as DecodingError {
            // The error's own text may quote the document.
            throw PostgresError(.decodingFailed, "The JSON document does not decode as \(type)\(error.place)")
        }
    }
}

extension PostgresJSON: Hashable, CustomStringConvertible {
    /// Whether the texts are the same, byte by byte.
    public static func == (left: PostgresJSON, right: PostgresJSON) -> Bool {
        left.text == right.text
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }

    /// The document's text.
    public var description: String { text }
}

extension DecodingError {
    /// The error's place in the document.
    fileprivate var place: String {
        let path: [any CodingKey] =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            case .keyNotFound(let key, let context): context.codingPath + [key]
            @unknown default: []
            }
        return path.isEmpty ? "" : ": it does not fit at \(path.map(\.stringValue).joined(separator: "."))"
    }
}
