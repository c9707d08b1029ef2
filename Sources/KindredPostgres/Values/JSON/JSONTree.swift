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
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The name of its kind, for error messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .decimal, .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONTree {
    /// Whether it is a number of so many digits that the decoder may have dropped others behind them: a decimal holds 38.
    package var mayLackDigits: Bool {
        guard case .decimal(let value) = self else { return false }
        return value.significand >= Self.longSignificand
    }

    /// The least number of 38 digits.
    private static let longSignificand = Decimal(sign: .plus, exponent: 37, significand: 1)
}

extension JSONTree: Codable {
    /// Reads any document; the decoder limits its depth.
    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: JSONKey.self) {
            var members: [String: JSONTree] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONTree.self, forKey: key)
            }
            self = .object(members)
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONTree.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Decimal.self), value.isFinite {
            self = .decimal(value)
        } else {
            self = .double(try container.decode(Double.self))
        }
    }

    /// Writes the document.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, value) in members { try container.encode(value, forKey: JSONKey(key)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .null, .bool, .integer, .decimal, .double, .string:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .decimal(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .null, .array, .object: try container.encodeNil()
            }
        }
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
