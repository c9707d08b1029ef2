/// Reads and writes values in the server's two formats.
///
/// Reading never trusts the bytes: lengths are checked, and nothing is allocated that the message does not hold.
package enum Codec {
    /// Reads a value.
    ///
    /// Throws `PostgresError` `.decodingFailed` for bytes that are no value of the type.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer,
        type: PostgresDataType,
        format: PostgresFormat,
        types: TypeRegistry? = nil
    ) throws -> PostgresValue {
        let value: PostgresValue?
        if type.isKnown {
            switch format {
            case .binary: value = try BinaryDecoder(bytes).value(of: type, types)
            case .text: value = try TextDecoder.value(try string(bytes), of: type, types)
            }
        } else {
            switch (types?.kind(of: type), format) {
            case (.textLike, _): value = .string(try string(bytes))
            case (.array, .binary): value = try BinaryDecoder(bytes).array(types).map(PostgresValue.array)
            case (.array(let element), .text):
                value = try TextDecoder.array(try string(bytes), element, types).map(PostgresValue.array)
            case (.domain(let base), _): value = try decode(bytes, type: base, format: format, types: types)
            case (nil, _): value = .other(PostgresRawValue(dataType: type, format: format, bytes: Array(bytes)))
            }
        }
        guard let value else { throw PostgresError(.decodingFailed, "The server sent what is no value of \(type)") }
        return value
    }

    /// Reads text, which libpq passes on unchecked.
    static func string(_ bytes: UnsafeRawBufferPointer) throws -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        throw PostgresError(.decodingFailed, "The server sent text that is not valid UTF-8")
    }

    /// Bytes as the server prints them: `\x0aff`.
    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.reduce(into: "\\x") { text, byte in
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte >> 4)]))
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte & 15)]))
        }
    }

    /// A floating-point number as the server prints it.
    static func text(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "Infinity" : "-Infinity" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
