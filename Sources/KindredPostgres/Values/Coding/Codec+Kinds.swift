// Decoding of structured values, and of types known from the catalog or from the user.
extension Codec {
    /// The value of a type of the given kind; nil if a part's type is unknown.
    static func decode(
        _ bytes: ByteView,
        as kind: TypeRegistry.Kind,
        _ context: DecodingContext
    ) throws -> PostgresValue? {
        let type = context.type
        switch kind {
        case .textLike: return .string(try string(bytes))
        case .versionedText:
            guard context.format == .binary else { return .string(try string(bytes)) }
            guard bytes.first == 1 else { throw malformed(type) }
            return .string(try string(ByteView(rebasing: bytes.dropFirst())))
        case .domain(let base): return try context.decode(bytes, as: base)
        case .array(let element):
            guard context.isKnown(element) else { return nil }
            let decodeElement = { (bytes: ByteView) in try context.decode(bytes, as: element) }
            return switch context.format {
            case .binary: .array(try BinaryDecoder(bytes, type).array(of: element, context.types, decodeElement))
            case .text: .array(try ArrayTextReader.read(bytes, as: type, of: element, decode: decodeElement))
            }
        case .range(let bound):
            guard context.isKnown(bound) else { return nil }
            return .range(try range(bytes, of: bound, context))
        case .multirange(let range):
            guard case .range(let bound) = context.kind(of: range), context.isKnown(bound) else { return nil }
            return .multirange(try multirange(bytes, of: bound, context))
        case .composite(let fields): return try composite(bytes, fields: fields, context).map(PostgresValue.composite)
        case .hstore: return .hstore(try scalar(bytes, context))
        case .vector: return .vector(try scalar(bytes, context))
        case .custom(let codec):
            return try codec.decode(PostgresRawValue(dataType: type, format: context.format, bytes: bytes.array))
        }
    }

    private static func scalar<Scalar: PostgresScalar>(
        _ bytes: ByteView, _ context: DecodingContext
    ) throws -> Scalar {
        let scalar =
            switch context.format {
            case .binary: Scalar(binary: bytes)
            case .text: Scalar(try string(bytes))
            }
        guard let scalar else { throw malformed(context.type) }
        return scalar
    }

    private static func range(
        _ bytes: ByteView, of bound: PostgresDataType, _ context: DecodingContext
    ) throws -> PostgresRange<PostgresValue> {
        let range: PostgresRange<PostgresValue>?
        switch context.format {
        case .binary: range = try binaryRange(bytes, of: bound, context)
        case .text:
            var reader = PartReader(bytes)
            range = try textRange(&reader, of: bound, context)
            guard reader.isAtEnd else { throw malformed(context.type) }
        }
        guard let range else { throw malformed(context.type) }
        return range
    }

    private static func multirange(
        _ bytes: ByteView, of bound: PostgresDataType, _ context: DecodingContext
    ) throws -> PostgresMultirange<PostgresValue> {
        var ranges: [PostgresRange<PostgresValue>] = []
        switch context.format {
        case .binary:
            var reader = ByteReader(bytes)
            guard let count = reader.next(Int32.self), count >= 0 else { throw malformed(context.type) }
            for _ in 0..<count {
                guard case .some(.some(let part)) = reader.nextField(),
                    let range = try binaryRange(part, of: bound, context)
                else { throw malformed(context.type) }
                ranges.append(range)
            }
            guard reader.isAtEnd else { throw malformed(context.type) }
        case .text:
            var reader = PartReader(bytes)
            guard reader.skip("{") else { throw malformed(context.type) }
            if !reader.skip("}") {
                repeat {
                    guard let range = try textRange(&reader, of: bound, context) else { throw malformed(context.type) }
                    ranges.append(range)
                } while reader.skip(",")
                guard reader.skip("}") else { throw malformed(context.type) }
            }
            guard reader.isAtEnd else { throw malformed(context.type) }
        }
        return PostgresMultirange(ranges)
    }

    private static func binaryRange(
        _ bytes: ByteView, of bound: PostgresDataType, _ context: DecodingContext
    ) throws -> PostgresRange<PostgresValue>? {
        var reader = ByteReader(bytes)
        guard let flags = reader.next(UInt8.self).map(RangeFlags.init(rawValue:)) else { return nil }
        if flags.contains(.empty) { return reader.isAtEnd ? .empty : nil }
        func limit(
            isUnbounded: Bool, isInclusive: Bool
        ) throws -> PostgresRange<PostgresValue>.Limit? {
            if isUnbounded { return .unbounded }
            guard case .some(.some(let part)) = reader.nextField() else { return nil }
            let value = try context.decode(part, as: bound)
            return isInclusive ? .inclusive(value) : .exclusive(value)
        }
        guard
            let lower = try limit(
                isUnbounded: flags.contains(.lowerUnbounded), isInclusive: flags.contains(.lowerInclusive)),
            let upper = try limit(
                isUnbounded: flags.contains(.upperUnbounded), isInclusive: flags.contains(.upperInclusive)),
            reader.isAtEnd
        else { return nil }
        return PostgresRange(lower: lower, upper: upper)
    }

    private static func textRange(
        _ reader: inout PartReader, of bound: PostgresDataType, _ context: DecodingContext
    ) throws -> PostgresRange<PostgresValue>? {
        if reader.skip("empty") { return .empty }
        let isLowerInclusive = reader.skip("[")
        guard isLowerInclusive || reader.skip("("), let lower = reader.part(until: ","), reader.skip(","),
            let upper = reader.part(until: ")]")
        else { return nil }
        let isUpperInclusive = reader.skip("]")
        guard isUpperInclusive || reader.skip(")") else { return nil }
        func limit(_ part: [UInt8]?, isInclusive: Bool) throws -> PostgresRange<PostgresValue>.Limit {
            guard let part else { return .unbounded }
            let value = try part.withBytes { try context.decode($0, as: bound) }
            return isInclusive ? .inclusive(value) : .exclusive(value)
        }
        return PostgresRange(
            lower: try limit(lower, isInclusive: isLowerInclusive),
            upper: try limit(upper, isInclusive: isUpperInclusive))
    }

    /// Decodes a composite; nil if it is in text form and a field's type is unknown.
    private static func composite(
        _ bytes: ByteView, fields known: [TypeRegistry.Field]?, _ context: DecodingContext
    ) throws -> PostgresComposite? {
        var fields: [PostgresComposite.Field] = []
        switch context.format {
        case .binary:
            var reader = ByteReader(bytes)
            guard let count = reader.next(Int32.self), count >= 0 else { throw malformed(context.type) }
            // The bytes tell the fields' types, even if the type was altered after the catalog was read; the fields have
            // no names then.
            var types: [PostgresDataType] = []
            for _ in 0..<count {
                guard let type = reader.next(UInt32.self), let part = reader.nextField() else {
                    throw malformed(context.type)
                }
                types.append(PostgresDataType(rawValue: type))
                let value = try part.map { [type = types[types.count - 1]] in try context.decode($0, as: type) }
                fields.append(PostgresComposite.Field(name: nil, value: value))
            }
            guard reader.isAtEnd else { throw malformed(context.type) }
            guard known != nil, let named = context.types?.fields(of: context.type, types) else { break }
            fields = zip(named, fields).map { PostgresComposite.Field(name: $0.name, value: $1.value) }
        case .text:
            guard let known, known.allSatisfy({ context.isKnown($0.type) }) else { return nil }
            var reader = PartReader(bytes)
            guard reader.skip("(") else { throw malformed(context.type) }
            for (position, field) in known.enumerated() {
                guard position == 0 || reader.skip(","), let part = reader.part(until: ",)") else {
                    throw malformed(context.type)
                }
                let value = try part?.withBytes { try context.decode($0, as: field.type) }
                fields.append(PostgresComposite.Field(name: field.name, value: value))
            }
            guard reader.skip(")"), reader.isAtEnd else { throw malformed(context.type) }
        }
        return PostgresComposite(fields: fields, dataType: context.type)
    }
}

/// The context for decoding a structured value.
struct DecodingContext {
    let type: PostgresDataType
    let format: PostgresFormat
    let types: TypeRegistry?
    let depth: Int

    /// Reads a part.
    func decode(_ bytes: ByteView, as part: PostgresDataType) throws -> PostgresValue {
        try Codec.decode(bytes, type: part, format: format, types: types, depth: depth + 1)
    }

    func isKnown(_ type: PostgresDataType) -> Bool { type.isKnown || types?.isKnown(type) == true }

    func kind(of type: PostgresDataType) -> TypeRegistry.Kind? { type.builtInKind ?? types?.kind(of: type) }
}

/// The flags in the first byte of a range.
struct RangeFlags: OptionSet {
    let rawValue: UInt8

    static let empty = RangeFlags(rawValue: 0x01)
    static let lowerInclusive = RangeFlags(rawValue: 0x02)
    static let upperInclusive = RangeFlags(rawValue: 0x04)
    static let lowerUnbounded = RangeFlags(rawValue: 0x08)
    static let upperUnbounded = RangeFlags(rawValue: 0x10)
}
