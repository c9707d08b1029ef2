/// Decodes and encodes the values of a type unknown to the library.
///
/// ```swift
/// // A type of an extension whose binary form is four bytes.
/// let codec = PostgresCodec { raw in
///     guard raw.format == .binary, raw.bytes.count == 4 else { throw InvalidColor() }
///     return .bytes(raw.bytes)
/// } encode: { value in
///     guard case .bytes(let bytes) = value else { throw InvalidColor() }
///     return bytes
/// }
/// try await client.register(codec, forTypeNamed: "color")
/// ```
///
/// Results are in binary form unless a column's type has no codec, or several statements are sent together; then they
/// are text, so a codec should decode both. A Swift type of your own conforms to ``PostgresDecodable`` and
/// ``PostgresEncodable`` by the codec's value.
public struct PostgresCodec: Sendable {
    let decode: @Sendable (PostgresRawValue) throws -> PostgresValue
    let encode: @Sendable (PostgresValue) throws -> [UInt8]

    /// A codec.
    ///
    /// - Parameters:
    ///   - decode: decodes a value in either format. Its errors are thrown to the reader of the value.
    ///   - encode: returns the binary form of a value. Its errors are thrown before the statement is sent.
    public init(
        decode: @escaping @Sendable (PostgresRawValue) throws -> PostgresValue,
        encode: @escaping @Sendable (PostgresValue) throws -> [UInt8]
    ) {
        self.decode = decode
        self.encode = encode
    }
}
