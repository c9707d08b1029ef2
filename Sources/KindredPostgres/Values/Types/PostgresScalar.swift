/// A value type of PostgreSQL without a Swift counterpart, with the server's two forms.
protocol PostgresScalar: Hashable, Sendable, LosslessStringConvertible {
    /// Reads the binary form; nil for invalid bytes. The caller checks that the reader is at its end.
    init?(binary reader: inout ByteReader)

    /// Appends the binary form.
    func appendBinary(to bytes: inout [UInt8])
}

extension PostgresScalar {
    /// Reads the binary form, which fills all the bytes.
    init?(binary bytes: ByteView) {
        var reader = ByteReader(bytes)
        self.init(binary: &reader)
        guard reader.isAtEnd else { return nil }
    }
}

extension PostgresDecodable where Self: LosslessStringConvertible {
    /// Parses a text; columns of types unknown to the library arrive as text.
    static func named(by value: PostgresValue) throws -> Self {
        let text: String? =
            switch value {
            case .string(let text): text
            case .other(let raw): raw.text
            default: nil
            }
        guard let text else { throw mismatch(value) }
        guard let named = Self(text) else {
            throw PostgresError(.decodingFailed, "The text is not a valid \(Self.self)")
        }
        return named
    }
}
