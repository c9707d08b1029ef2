/// How the values of a type that the library does not know are read and written.
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
/// Results come in binary form unless a column's type has no codec, or several statements are sent together: then they
/// come as text, so that a codec that is asked for text should read that too. A Swift type of one's own conforms to
/// ``PostgresDecodable`` and ``PostgresEncodable`` by the value that the codec gives and takes.
public struct PostgresCodec: Sendable {
    let decode: @Sendable (PostgresRawValue) throws -> PostgresValue
    let encode: @Sendable (PostgresValue) throws -> [UInt8]

    /// A codec.
    ///
    /// - Parameters:
    ///   - decode: reads a value in either format. What it throws reaches who asked for the value.
    ///   - encode: gives the binary form of a value. What it throws reaches who sends the statement, before it is sent.
    public init(
        decode: @escaping @Sendable (PostgresRawValue) throws -> PostgresValue,
        encode: @escaping @Sendable (PostgresValue) throws -> [UInt8]
    ) {
        self.decode = decode
        self.encode = encode
    }
}
