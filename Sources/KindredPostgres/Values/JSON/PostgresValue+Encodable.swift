#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PostgresValue: Encodable {
    /// Writes the value as JSON has it, the same with every encoder and whatever the encoder's strategies for dates and data.
    ///
    /// - `boolean` and whole numbers as they are. `real` and `double precision` as numbers, `"NaN"`, `"Infinity"` and
    ///   `"-Infinity"` as strings.
    /// - `numeric` as a string, `"0.10"`: JSON's readers take numbers for doubles, and money must not become a double.
    /// - `timestamp with time zone` in ISO 8601, in UTC with up to six digits of a second: `"2024-02-29T12:34:56.789Z"`;
    ///   `timestamp` the same without `Z`. Infinities, years before 1 and after 9999 as PostgreSQL prints them.
    /// - `bytea` as base64. `uuid` in small letters. `json` and `jsonb` as the document that they are; a number in it that no
    ///   number of Swift holds, such as `1e400`, as a string. One nested deeper than 400 is an `EncodingError` with its path.
    /// - Arrays as arrays, of several dimensions one in the other, without their lower bounds. `vector` as an array of numbers,
    ///   `hstore` and composites as objects; a composite whose fields have no names as an array.
    /// - All else as the string that PostgreSQL prints: `date`, `time`, `interval`, `inet`, `money`, ranges, geometry.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let array): try array.encodeNested(to: encoder)
        case .vector(let vector):
            var container = encoder.unkeyedContainer()
            for element in vector.elements { try container.encode(PostgresValue.float(element)) }
        case .hstore(let store):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, text) in store.entries { try container.encode(text, forKey: JSONKey(key)) }
        case .composite(let composite): try composite.encodeFields(to: encoder)
        case .json(let json): try json.document(at: encoder.codingPath).root.encode(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            switch scalar {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .float(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            }
        }
    }

    /// Writes the value, or null, at a key: faster than the container's own method, which looks up the type of each
    /// value.
    package static func encode(
        _ value: PostgresValue?, to container: inout KeyedEncodingContainer<JSONKey>, forKey key: JSONKey
    ) throws {
        switch value {
        case nil: try container.encodeNil(forKey: key)
        case .array, .vector, .hstore, .composite, .json: try container.encode(value, forKey: key)
        case let value?:
            switch value.scalar {
            case .bool(let value): try container.encode(value, forKey: key)
            case .integer(let value): try container.encode(value, forKey: key)
            case .float(let value): try container.encode(value, forKey: key)
            case .double(let value): try container.encode(value, forKey: key)
            case .text(let value): try container.encode(value, forKey: key)
            }
        }
    }

    /// A value without parts as JSON has it.
    private enum Scalar {
        case bool(Bool)
        case integer(Int64)
        case float(Float)
        case double(Double)
        case text(String)
    }

    private var scalar: Scalar {
        switch self {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .float(let value) where value.isFinite: .float(value)
        case .double(let value) where value.isFinite: .double(value)
        case .string(let value): .text(value)
        case .bytes(let bytes): .text(Data(bytes).base64EncodedString())
        case .timestamp(let value): .text(value.isoText(zone: ""))
        case .timestampTZ(let value): .text(value.isoText(zone: "Z"))
        default: .text(description)
        }
    }
}

extension PostgresTimestamp {
    /// The timestamp as ISO 8601 writes it; as PostgreSQL prints it where ISO 8601 has no such year.
    fileprivate func isoText(zone: String) -> String {
        let text = text(zone: zone)
        // Four digits of a year, and nothing behind the zone.
        let isPlain = text.utf8.dropFirst(10).first == UInt8(ascii: " ") && !text.hasSuffix(" BC")
        return isPlain ? text.replacing(" ", with: "T", maxReplacements: 1) : self.text(zone: zone.isEmpty ? "" : "+00")
    }
}

extension PostgresArray {
    /// Writes the elements, each dimension as arrays within the dimension before.
    fileprivate func encodeNested(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        var rest = elements[...]
        try encode(dimensions[...], &rest, into: &container)
    }

    private func encode(
        _ dimensions: ArraySlice<Dimension>, _ rest: inout ArraySlice<PostgresValue?>,
        into container: inout some UnkeyedEncodingContainer
    ) throws {
        guard let first = dimensions.first else { return }
        for _ in 0..<first.count {
            if dimensions.count == 1 {
                try container.encode(rest.popFirst() ?? nil)
            } else {
                var inner = container.nestedUnkeyedContainer()
                try encode(dimensions.dropFirst(), &rest, into: &inner)
            }
        }
    }
}

extension PostgresComposite {
    fileprivate func encodeFields(to encoder: any Encoder) throws {
        guard fields.allSatisfy({ $0.name != nil }) else {
            var container = encoder.unkeyedContainer()
            for field in fields { try container.encode(field.value) }
            return
        }
        var container = encoder.container(keyedBy: JSONKey.self)
        for field in fields { try container.encode(field.value, forKey: JSONKey(field.name ?? "")) }
    }
}

extension PostgresJSON {
    /// The document in its parts.
    ///
    /// Throws `EncodingError` for a text that is no JSON, or deeper than encoders write.
    fileprivate func document(at path: [any CodingKey]) throws -> JSONDocument {
        let reason: String
        do {
            let document = try JSONDocument(Array(text.utf8))
            if document.depth <= JSONDocument.maximumEncodedDepth { return document }
            reason = "it is nested deeper than \(JSONDocument.maximumEncodedDepth)"
        } catch {
            reason = error.sentence
        }
        throw EncodingError.invalidValue(
            // Without the document, which the error would show.
            "json",
            EncodingError.Context(
                codingPath: path, debugDescription: "A JSON document of the database cannot be written: \(reason)"))
    }
}
