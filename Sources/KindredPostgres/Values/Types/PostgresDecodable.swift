/// A Swift type as which column values can be decoded: exactly, or with an error.
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
    /// Throws `PostgresError` `.decodingFailed` if the type cannot represent it exactly.
    init(postgresValue: PostgresValue) throws

    /// Reads a value from its encoded bytes.
    ///
    /// The default implementation decodes a `PostgresValue` first. A type may skip that step, and return nil for columns
    /// that it leaves to the default.
    static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Self?
}

extension PostgresDecodable {
    /// Leaves every column to ``init(postgresValue:)``.
    public static func decode(postgresBytes bytes: RawSpan, of column: PostgresCellType) throws -> Self? { nil }

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

/// The type and encoding of a column's values.
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

/// How a value is encoded on the wire.
public enum PostgresFormat: Sendable, Hashable {
    /// The server's printed form.
    case text
    /// The server's binary form.
    case binary
}
