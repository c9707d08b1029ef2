/// A value of a type that the library does not know, as it came from the server.
public struct PostgresRawValue: Sendable, Hashable {
    /// The value's type.
    public let dataType: PostgresDataType
    /// How the bytes are encoded.
    public let format: PostgresFormat
    /// The bytes.
    public let bytes: [UInt8]

    package init(dataType: PostgresDataType, format: PostgresFormat, bytes: [UInt8]) {
        self.dataType = dataType
        self.format = format
        self.bytes = bytes
    }

    /// The value as text, where it came as text that is valid UTF-8.
    public var text: String? {
        format == .text ? String(validating: bytes, as: UTF8.self) : nil
    }
}

extension PostgresRawValue: CustomStringConvertible {
    /// The text, or the bytes in hexadecimal.
    public var description: String { text ?? Codec.hex(bytes) }
}
