/// A Swift value that can be bound as a parameter.
///
/// Types with a raw value, such as enums of strings, conform by saying so: `extension Mood: PostgresEncodable {}`.
public protocol PostgresEncodable: Sendable {
    /// The value as PostgreSQL sees it; nil for NULL.
    ///
    /// Throws `PostgresError` `.invalidParameter` where there is no exact one, such as for integers past 64 bits.
    var postgresValue: PostgresValue? { get throws }

    /// The type that values of this Swift type have where nothing else says so; it makes arrays without elements arrays
    /// of that type.
    static var postgresDataType: PostgresDataType { get }
}

extension PostgresEncodable {
    /// Leaves the type to each value, and to the server where there is none.
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
    /// Reads the raw value; one that is none of the type's is an error.
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
