extension PostgresPoint: PostgresEncodable, PostgresDecodable {
    /// A `point`.
    public var postgresValue: PostgresValue? { .point(self) }
    /// `point`.
    public static var postgresDataType: PostgresDataType { .point }

    /// Reads a `point`.
    public init(postgresValue value: PostgresValue) throws {
        if case .point(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresLine: PostgresEncodable, PostgresDecodable {
    /// A `line`.
    public var postgresValue: PostgresValue? { .line(self) }
    /// `line`.
    public static var postgresDataType: PostgresDataType { .line }

    /// Reads a `line`.
    public init(postgresValue value: PostgresValue) throws {
        if case .line(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresLineSegment: PostgresEncodable, PostgresDecodable {
    /// An `lseg`.
    public var postgresValue: PostgresValue? { .lineSegment(self) }
    /// `lseg`.
    public static var postgresDataType: PostgresDataType { .lseg }

    /// Reads an `lseg`.
    public init(postgresValue value: PostgresValue) throws {
        if case .lineSegment(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresBox: PostgresEncodable, PostgresDecodable {
    /// A `box`.
    public var postgresValue: PostgresValue? { .box(self) }
    /// `box`.
    public static var postgresDataType: PostgresDataType { .box }

    /// Reads a `box`.
    public init(postgresValue value: PostgresValue) throws {
        if case .box(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresPath: PostgresEncodable, PostgresDecodable {
    /// A `path`.
    public var postgresValue: PostgresValue? { .path(self) }
    /// `path`.
    public static var postgresDataType: PostgresDataType { .path }

    /// Reads a `path`.
    public init(postgresValue value: PostgresValue) throws {
        if case .path(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresPolygon: PostgresEncodable, PostgresDecodable {
    /// A `polygon`.
    public var postgresValue: PostgresValue? { .polygon(self) }
    /// `polygon`.
    public static var postgresDataType: PostgresDataType { .polygon }

    /// Reads a `polygon`.
    public init(postgresValue value: PostgresValue) throws {
        if case .polygon(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}

extension PostgresCircle: PostgresEncodable, PostgresDecodable {
    /// A `circle`.
    public var postgresValue: PostgresValue? { .circle(self) }
    /// `circle`.
    public static var postgresDataType: PostgresDataType { .circle }

    /// Reads a `circle`.
    public init(postgresValue value: PostgresValue) throws {
        if case .circle(let own) = value { self = own } else { self = try Self.named(by: value) }
    }
}
