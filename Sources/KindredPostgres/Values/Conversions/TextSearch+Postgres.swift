extension PostgresTSVector: PostgresEncodable, PostgresDecodable {
    /// A `tsvector`.
    public var postgresValue: PostgresValue? { .tsVector(self) }
    /// `tsvector`.
    public static var postgresDataType: PostgresDataType { .tsvector }

    /// Reads a `tsvector`.
    public init(postgresValue value: PostgresValue) throws {
        if case .tsVector(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresTSQuery: PostgresEncodable, PostgresDecodable {
    /// A `tsquery`.
    public var postgresValue: PostgresValue? { .tsQuery(self) }
    /// `tsquery`.
    public static var postgresDataType: PostgresDataType { .tsquery }

    /// Reads a `tsquery`.
    public init(postgresValue value: PostgresValue) throws {
        if case .tsQuery(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}
