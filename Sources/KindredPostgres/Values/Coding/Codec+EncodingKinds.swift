// Encoding of structured values, and of types known from the catalog or from the user.
extension Codec {
    /// Appends a value as a type of the given kind; nil is an unknown type.
    static func encode(
        _ value: PostgresValue,
        kind: TypeRegistry.Kind?,
        of type: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int
    ) throws -> PostgresFormat {
        switch (kind, value) {
        case (.domain(let base), _): return try encode(value, as: base, types: types, into: &bytes, depth: depth + 1)
        case (.textLike, .string(let text)):
            try text.appendBytes(to: &bytes)
            return .binary
        case (.versionedText, .string(let text)):
            bytes.append(1)
            try text.appendBytes(to: &bytes)
            return .binary
        case (.array(let element), .array(let array)) where element.isKnown || types?.isKnown(element) == true:
            return try binaryOrText(value, into: &bytes) {
                try append(array, of: element, types: types, into: &$0, depth: depth)
            }
        case (.range(let bound), .range(let range)):
            return try binaryOrText(value, into: &bytes) {
                try append(range, of: bound, types: types, into: &$0, depth: depth)
            }
        case (.multirange(let range), .multirange(let multirange)):
            guard case .range(let bound) = range.builtInKind ?? types?.kind(of: range) else {
                return try appendText(value, &bytes)
            }
            return try binaryOrText(value, into: &bytes) { bytes in
                bytes.appendBigEndian(Int32(clamping: multirange.ranges.count))
                for range in multirange.ranges {
                    let format = try append(
                        range, of: bound, types: types, into: &bytes, depth: depth, hasLength: true)
                    guard format == .binary else { return .text }
                }
                return .binary
            }
        case (.composite(let fields?), .composite(let composite)):
            try check(composite, has: fields, of: type)
            return try binaryOrText(value, into: &bytes) { bytes in
                bytes.appendBigEndian(Int32(clamping: fields.count))
                for (field, known) in zip(composite.fields, fields) {
                    bytes.appendBigEndian(known.type.rawValue)
                    let format = try appendElement(
                        field.value, as: known.type, types: types, into: &bytes, depth: depth)
                    guard format == .binary else { return .text }
                }
                return .binary
            }
        case (.hstore, .hstore(let store)):
            guard !store.hasNUL else {
                throw PostgresError(.invalidParameter, "The text has a NUL character, which PostgreSQL cannot store")
            }
            store.appendBinary(to: &bytes)
            return .binary
        case (.vector, .vector(let vector)):
            vector.appendBinary(to: &bytes)
            return .binary
        case (.custom(let codec), _):
            bytes += try codec.encode(value)
            return .binary
        case (_, .other(let raw)) where raw.dataType == type && (raw.format == .binary || !raw.bytes.contains(0)):
            bytes.append(contentsOf: raw.bytes)
            return raw.format
        case (.range, .string(let text)), (.multirange, .string(let text)), (.composite, .string(let text)),
            (.hstore, .string(let text)), (.vector, .string(let text)):
            // The server parses texts that the library cannot.
            guard let read = parts(of: text, type, types) else { return try appendText(value, &bytes) }
            return try encode(read, kind: kind, of: type, types: types, into: &bytes, depth: depth)
        case (.array(let element), .string) where !element.isKnown && types?.isKnown(element) != true:
            return try appendText(value, &bytes)
        case (nil, .array), (nil, .range), (nil, .multirange), (nil, .composite), (nil, .hstore), (nil, .vector),
            (.array, .array), (nil, .string):
            return try appendText(value, &bytes)
        default: throw mismatch(value, type)
        }
    }

    /// Parses a text as the server prints it; nil if it is invalid or of an unknown type.
    private static func parts(of text: String, _ type: PostgresDataType, _ types: TypeRegistry?) -> PostgresValue? {
        let read = try? Array(text.utf8).withBytes { try decode($0, type: type, format: .text, types: types) }
        if case .other? = read { return nil }
        return read
    }

    private static func append(
        _ array: PostgresArray,
        of element: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int
    ) throws -> PostgresFormat {
        bytes.appendBigEndian(Int32(array.dimensions.count))
        bytes.appendBigEndian(Int32(array.elements.contains(nil) ? 1 : 0))
        bytes.appendBigEndian(element.rawValue)
        for dimension in array.dimensions {
            bytes.appendBigEndian(Int32(clamping: dimension.count))
            bytes.appendBigEndian(Int32(clamping: dimension.lowerBound))
        }
        for value in array.elements {
            let format = try appendElement(value, as: element, types: types, into: &bytes, depth: depth)
            guard format == .binary else { return .text }
        }
        return .binary
    }

    private static func append(
        _ range: PostgresRange<PostgresValue>,
        of bound: PostgresDataType,
        types: TypeRegistry?,
        into bytes: inout [UInt8],
        depth: Int,
        hasLength: Bool = false
    ) throws -> PostgresFormat {
        let lengthAt = bytes.count
        if hasLength { bytes.appendBigEndian(0 as Int32) }
        var flags: RangeFlags = range.isEmpty ? .empty : []
        if range.lower.isInclusive { flags.insert(.lowerInclusive) }
        if range.upper.isInclusive { flags.insert(.upperInclusive) }
        if !range.isEmpty, range.lower.bound == nil { flags.insert(.lowerUnbounded) }
        if !range.isEmpty, range.upper.bound == nil { flags.insert(.upperUnbounded) }
        bytes.append(flags.rawValue)
        for value in [range.lower.bound, range.upper.bound] {
            guard let value else { continue }
            let format = try appendElement(value, as: bound, types: types, into: &bytes, depth: depth)
            guard format == .binary else { return .text }
        }
        if hasLength { bytes.replaceBigEndian(Int32(clamping: bytes.count - lengthAt - 4), at: lengthAt) }
        return .binary
    }

    /// Throws unless the value has exactly the type's fields.
    private static func check(
        _ composite: PostgresComposite, has fields: [TypeRegistry.Field], of type: PostgresDataType
    ) throws {
        let fits =
            composite.fields.count == fields.count
            && zip(composite.fields, fields).allSatisfy { $0.name == nil || $0.name == $1.name }
        guard fits else {
            throw PostgresError(
                .invalidParameter,
                "The composite \(type) has the fields \(fields.map { "\"\($0.name)\"" }.joined(separator: ", ")), in this order"
            )
        }
    }
}
