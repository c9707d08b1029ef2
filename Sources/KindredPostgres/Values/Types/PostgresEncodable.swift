/// A Swift value that can be bound as a parameter.
///
/// Types with a raw value, such as enums of strings, conform by declaration alone: `extension Mood: PostgresEncodable {}`.
public protocol PostgresEncodable: Sendable {
    /// The PostgreSQL value; nil for NULL.
    ///
    /// Throws `PostgresError` `.invalidParameter` if none is exact, as for integers beyond 64 bits.
    var postgresValue: PostgresValue? { get throws }

    /// The default type of values of this Swift type; empty arrays get their element type from it.
    static var postgresDataType: PostgresDataType { get }
}

extension PostgresEncodable {
    /// Each value has its own type; the server infers it for NULL.
    public static var postgresDataType: PostgresDataType { .unspecified }
}

extension PostgresEncodable where Self: RawRepresentable, RawValue: PostgresEncodable {
    /// The raw value.
    public var postgresValue: PostgresValue? {
        get throws { try rawValue.postgresValue }
    }

    /// The raw value's type.
    public static var postgresDataType: PostgresDataType { RawValue.postgresDataType }
}

extension PostgresDecodable where Self: RawRepresentable, RawValue: PostgresDecodable {
    /// Decodes the raw value; throws for a raw value without a case.
    public init(postgresValue value: PostgresValue) throws {
        guard let known = Self(rawValue: try RawValue(postgresValue: value)) else { throw Self.mismatch(value) }
        self = known
    }
}

extension PostgresValue: PostgresEncodable {
    /// The value itself.
    public var postgresValue: PostgresValue? { self }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The wrapped value, or NULL.
    public var postgresValue: PostgresValue? {
        get throws { try self?.postgresValue }
    }

    /// The wrapped type's.
    public static var postgresDataType: PostgresDataType { Wrapped.postgresDataType }
}
