/// A Swift type that values of columns can be read as: exactly, or not at all.
///
/// ```swift
/// struct Percent: PostgresDecodable {
///     let value: Int
///     init(postgresValue: PostgresValue) throws { value = try Int(postgresValue: postgresValue) }
/// }
/// ```
public protocol PostgresDecodable: Sendable {
    /// Reads a value.
    ///
    /// Throws `PostgresError` `.decodingFailed` where it is none of this type exactly.
    init(postgresValue: PostgresValue) throws

    /// Reads a value from its encoded bytes.
    ///
    /// Has a default that reads a `PostgresValue` first. A type may do without that step, and give nil for a column
    /// that it leaves to the default.
    static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Self?
}

extension PostgresDecodable {
    /// Leaves every column to ``init(postgresValue:)``.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Self? { nil }

    /// Reads a value in either way.
    static func read(_ bytes: UnsafeRawBufferPointer, _ column: PostgresCellType) throws -> Self {
        if let value = try decode(postgresBytes: bytes.bytes, of: column) { return value }
        let value = try Codec.decode(bytes, type: column.dataType, format: column.format, types: column.types)
        return try Self(postgresValue: value)
    }

    static func mismatch(_ value: PostgresValue) -> PostgresError {
        PostgresError(.decodingFailed, "A value that is \(value.kindName) cannot be read as \(Self.self)")
    }

    static func inexact(_ value: PostgresValue) -> PostgresError {
        PostgresError(
            .decodingFailed,
            "A value that is \(value.kindName) is beyond the range or precision of \(Self.self)"
        )
    }
}

/// What the values of a column are and how they are encoded.
public struct PostgresCellType: Sendable {
    /// The data type.
    public let dataType: PostgresDataType
    /// The encoding.
    public let format: PostgresFormat
    let types: TypeRegistry?

    package init(dataType: PostgresDataType, format: PostgresFormat, types: TypeRegistry? = nil) {
        self.dataType = dataType
        self.format = format
        self.types = types
    }
}

extension PostgresValue: PostgresDecodable {
    /// The value itself.
    public init(postgresValue: PostgresValue) { self = postgresValue }
}
