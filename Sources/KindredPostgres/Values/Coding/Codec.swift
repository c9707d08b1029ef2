/// Decodes and encodes values in the server's two formats.
///
/// Decoding never trusts the bytes: it checks every length, allocates in proportion to the bytes received, and follows
/// chains of types only up to a limit.
package enum Codec {
    /// Decodes a value.
    ///
    /// Throws `PostgresError` `.decodingFailed` for bytes that are not a valid value of the type.
    package static func decode(
        _ bytes: ByteView,
        type: PostgresDataType,
        format: PostgresFormat,
        types: TypeRegistry? = nil
    ) throws -> PostgresValue {
        try decode(bytes, type: type, format: format, types: types, depth: 0)
    }

    static func decode(
        _ bytes: ByteView,
        type: PostgresDataType,
        format: PostgresFormat,
        types: TypeRegistry?,
        depth: Int
    ) throws -> PostgresValue {
        let scalar =
            switch format {
            case .binary: try BinaryDecoder(bytes, type).scalar()
            case .text: try TextDecoder.scalar(bytes, type)
            }
        if let scalar { return scalar }
        guard depth < TypeRegistry.maximumDepth else { throw malformed(type) }
        let context = DecodingContext(type: type, format: format, types: types, depth: depth)
        if let kind = context.kind(of: type), let value = try decode(bytes, as: kind, context) { return value }
        return .other(PostgresRawValue(dataType: type, format: format, bytes: bytes.array))
    }

    /// Decodes text, which libpq does not validate.
    static func string(_ bytes: ByteView) throws -> String {
        // `String(decoding:)` repairs invalid text, which then differs from the bytes. `String(validating:as:)` costs more: it
        // looks up the metadata of generic types each time.
        let text = String(decoding: bytes, as: UTF8.self)
        if text.withBytes({ $0.isEqual(to: bytes) }) { return text }
        throw PostgresError(.decodingFailed, "The server sent text that is not valid UTF-8")
    }

    /// Whether bytes are valid UTF-8.
    static func isText(_ bytes: ByteView) -> Bool {
        isASCII(bytes) || (try? string(bytes)) != nil
    }

    /// Checks ASCII eight bytes at a time: every text of every row is checked here.
    private static func isASCII(_ bytes: ByteView) -> Bool {
        let (count, last) = (bytes.count, bytes.count - 8)
        var (position, bits) = (0, UInt64(0))
        while position <= last {
            bits |= bytes.load(at: position, as: UInt64.self)
            position += 8
        }
        if last >= 0, position < count {
            // Some of these bytes have been looked at; that costs less than each one alone.
            bits |= bytes.load(at: last, as: UInt64.self)
        } else {
            while position < count {
                bits |= UInt64(bytes[position])
                position += 1
            }
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    static func malformed(_ type: PostgresDataType) -> PostgresError {
        PostgresError(.decodingFailed, "The server sent bytes that are not a valid value of the type \(type)")
    }
}

extension PostgresDecodable {
    /// Reads a value in either way.
    static func read(_ bytes: ByteView, _ column: PostgresCellType) throws -> Self {
        if let value = try bytes.withSpan({ try decode(postgresBytes: $0, of: column) }) { return value }
        let value = try Codec.decode(bytes, type: column.dataType, format: column.format, types: column.types)
        return try Self(postgresValue: value)
    }
}
