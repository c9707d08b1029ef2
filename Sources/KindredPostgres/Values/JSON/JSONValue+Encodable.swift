#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSONDocument {
    /// The most arrays and objects around a value that is encoded.
    ///
    /// Foundation's encoder writes 512. A view of 32 relationships with the program's own values around it leaves that many.
    package static let maximumEncodedDepth = 400
}

extension JSONValue {
    /// Writes the value, without recursion.
    package func encode(to encoder: any Encoder) throws {
        guard var container = OpenContainer(self, encoder) else {
            var container = encoder.singleValueContainer()
            switch EncodedScalar(self) {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .decimal(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .null, nil: try container.encodeNil()
            }
            return
        }
        var outer: [OpenContainer] = []
        while true {
            if let (value, encoder) = try container.encodeUpToNested() {
                guard let inner = OpenContainer(value, encoder) else { continue }
                outer.append(container)
                container = inner
            } else if let last = outer.popLast() {
                container = last
            } else {
                return
            }
        }
    }
}

/// An array or object that is being written.
private struct OpenContainer {
    private enum Target {
        case array(any UnkeyedEncodingContainer)
        case object(KeyedEncodingContainer<JSONKey>)
    }

    private var target: Target
    /// The elements or members that are not written yet.
    private var rest: JSONValue.Parts

    /// nil for a value without parts.
    init?(_ value: JSONValue, _ encoder: any Encoder) {
        guard let parts = value.parts else { return nil }
        rest = parts
        target = parts.isObject ? .object(encoder.container(keyedBy: JSONKey.self)) : .array(encoder.unkeyedContainer())
    }

    /// Writes values up to a value with parts, and returns that value with an encoder for it; nil at the end.
    mutating func encodeUpToNested() throws -> (JSONValue, any Encoder)? {
        switch target {
        case .array(var container):
            defer { target = .array(container) }
            while let (_, value) = rest.next() {
                switch EncodedScalar(value) {
                case .null: try container.encodeNil()
                case .bool(let value): try container.encode(value)
                case .integer(let value): try container.encode(value)
                case .double(let value): try container.encode(value)
                case .decimal(let value): try container.encode(value)
                case .text(let value): try container.encode(value)
                case nil: return (value, container.superEncoder())
                }
            }
        case .object(var container):
            defer { target = .object(container) }
            while let (name, value) = rest.next() {
                let key = JSONKey(name ?? "")
                switch EncodedScalar(value) {
                case .null: try container.encodeNil(forKey: key)
                case .bool(let value): try container.encode(value, forKey: key)
                case .integer(let value): try container.encode(value, forKey: key)
                case .double(let value): try container.encode(value, forKey: key)
                case .decimal(let value): try container.encode(value, forKey: key)
                case .text(let value): try container.encode(value, forKey: key)
                // Where an encoder makes one key of two, a nested container ends the process, but an encoder of its own
                // does not.
                case nil: return (value, container.superEncoder(forKey: key))
                }
            }
        }
        return nil
    }
}

/// A value without parts as encoders take it.
private enum EncodedScalar {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case text(String)

    /// The value; nil for an array or object.
    init?(_ value: JSONValue) {
        guard value.isScalar else { return nil }
        switch value.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .text(text)
        case .number(let text): self.init(number: text)
        case .array, .object: return nil
        }
    }

    /// The number of a JSON text, with 38 digits where its size allows that many; its text if no number of Swift holds it.
    private init(number text: String) {
        if let value = Int64(text), value != 0 || text != "-0" {
            self = .integer(value)
            return
        }
        let isExact = text.utf8.count <= Self.exactDigits
        if !isExact, text.utf8.count <= Self.longest, let value = Decimal(string: text), value.isFinite {
            self = .decimal(value)
            return
        }
        if let value = Double(text), value.isFinite, value != 0 || text.isZero {
            self = .double(value)
        } else {
            self = .text(text)
        }
    }

    /// As many digits as a `Double` keeps of any number.
    private static let exactDigits = 15
    /// Longer than a decimal is.
    private static let longest = 400
}

extension String {
    /// Whether a number has no digit but zeros before its exponent.
    fileprivate var isZero: Bool {
        utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.allSatisfy { $0 < UInt8(ascii: "1") }
    }
}
