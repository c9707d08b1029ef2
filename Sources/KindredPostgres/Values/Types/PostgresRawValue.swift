/// An undecoded value of a type unknown to the library.
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

    /// The value as text; nil unless it is in text form and valid UTF-8.
    public var text: String? {
        format == .text ? String(validating: bytes, as: UTF8.self) : nil
    }
}

extension PostgresRawValue: CustomStringConvertible {
    /// The text, or the bytes in hexadecimal.
    public var description: String { text ?? HexText.text(bytes) }
}
