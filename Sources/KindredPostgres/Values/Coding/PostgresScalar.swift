/// A type of values that Swift has none for, with the server's two forms.
protocol PostgresScalar: Hashable, Sendable, LosslessStringConvertible {
    /// Reads the binary form; nil for bytes that are no value. What is left in the reader is checked by the caller.
    init?(binary reader: inout ByteReader)

    /// Appends the binary form.
    func appendBinary(to bytes: inout [UInt8])
}

extension PostgresScalar {
    /// Reads the binary form, which fills all the bytes.
    init?(binary bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        self.init(binary: &reader)
        guard reader.isAtEnd else { return nil }
    }
}

extension PostgresDecodable where Self: LosslessStringConvertible {
    /// The value that a text names; columns of types that the library does not know come as text.
    static func named(by value: PostgresValue) throws -> Self {
        let text: String? =
            switch value {
            case .string(let text): text
            case .other(let raw): raw.text
            default: nil
            }
        guard let text else { throw mismatch(value) }
        guard let named = Self(text) else {
            throw PostgresError(.decodingFailed, "The text is no value of \(Self.self)")
        }
        return named
    }
}
