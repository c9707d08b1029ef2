extension PostgresInet: PostgresEncodable, PostgresDecodable {
    /// An `inet`, or a `cidr` where one is expected.
    public var postgresValue: PostgresValue? { .inet(self) }
    /// `inet`.
    public static var postgresDataType: PostgresDataType { .inet }

    /// Reads an `inet` or a `cidr`.
    public init(postgresValue value: PostgresValue) throws {
        if case .inet(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresMACAddress: PostgresEncodable, PostgresDecodable {
    /// A `macaddr` or a `macaddr8`, by its number of bytes.
    public var postgresValue: PostgresValue? { .macAddress(self) }
    /// `macaddr`.
    public static var postgresDataType: PostgresDataType { .macaddr }

    /// Reads a `macaddr` or a `macaddr8`.
    public init(postgresValue value: PostgresValue) throws {
        if case .macAddress(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresBits: PostgresEncodable, PostgresDecodable {
    /// A `bit varying`, or a `bit` where one is expected.
    public var postgresValue: PostgresValue? { .bits(self) }
    /// `bit varying`.
    public static var postgresDataType: PostgresDataType { .varbit }

    /// Reads a `bit` or a `bit varying`.
    public init(postgresValue value: PostgresValue) throws {
        if case .bits(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresMoney: PostgresEncodable, PostgresDecodable {
    /// A `money`.
    public var postgresValue: PostgresValue? { .money(self) }
    /// `money`.
    public static var postgresDataType: PostgresDataType { .money }

    /// Reads a `money`.
    public init(postgresValue value: PostgresValue) throws {
        if case .money(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}
