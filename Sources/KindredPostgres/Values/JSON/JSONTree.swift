#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A JSON document in its parts.
package indirect enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with a fraction or of more than 64 bits, exactly if it has fewer than 38 digits.
    case decimal(Decimal)
    /// Any other number.
    case double(Double)
    /// A number by its text, as a client sent it: see `ClientJSON`.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The name of its kind, for error messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .decimal, .double, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONTree {
    /// Whether it is a number of so many digits that the decoder may have dropped others behind them: a decimal holds 38.
    package var mayLackDigits: Bool {
        // A number beyond the decimals, of which a decoder kept 17 digits.
        if case .double = self { return true }
        guard case .decimal(let value) = self else { return false }
        return value.significand >= Self.longSignificand
    }

    /// The least number of 38 digits.
    private static let longSignificand = Decimal(sign: .plus, exponent: 37, significand: 1)
}

extension JSONTree: Codable {
    /// Reads any document; the decoder limits its depth.
    package init(from decoder: any Decoder) throws { self = try Self.read(JSONTree.self, from: decoder) }

    /// Writes the document.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, value) in members { try container.encode(value, forKey: JSONKey(key)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .null, .bool, .integer, .decimal, .double, .number, .string:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .decimal(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .number(let text): try container.encode(Double(text) ?? .nan)
            case .string(let value): try container.encode(value)
            case .null, .array, .object: try container.encodeNil()
            }
        }
    }
}

/// A document whose numbers are read in one way.
protocol JSONDocument: Decodable {
    var tree: JSONTree { get }

    static func number(in container: any SingleValueDecodingContainer) throws -> JSONTree
}

extension JSONTree: JSONDocument {
    var tree: JSONTree { self }

    static func number(in container: any SingleValueDecodingContainer) throws -> JSONTree {
        if let value = try? container.decode(Int64.self) {
            .integer(value)
        } else if let value = try? container.decode(Decimal.self), value.isFinite {
            .decimal(value)
        } else {
            .double(try container.decode(Double.self))
        }
    }

    static func read<Document: JSONDocument>(_ type: Document.Type, from decoder: any Decoder) throws -> JSONTree {
        if let container = try? decoder.container(keyedBy: JSONKey.self) {
            var members: [String: JSONTree] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(type, forKey: key).tree }
            return .object(members)
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !container.isAtEnd { elements.append(try container.decode(type).tree) }
            return .array(elements)
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        return try type.number(in: container)
    }
}

/// Any key of a JSON object.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init?(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
