extension PostgresRange: PostgresEncodable where Bound: PostgresEncodable {
    /// A range; throws if a bound has no PostgreSQL value.
    public var postgresValue: PostgresValue? {
        get throws {
            .range(
                try map { bound in
                    guard let value = try bound.postgresValue else {
                        throw PostgresError(.invalidParameter, "The bound of a range cannot be NULL")
                    }
                    return value
                })
        }
    }

    /// The range type of the bounds' type; for integers the server chooses.
    public static var postgresDataType: PostgresDataType { Bound.postgresDataType.rangeType ?? .unspecified }
}

extension PostgresRange: PostgresDecodable where Bound: PostgresDecodable {
    /// Reads a range whose bounds are values of the type.
    public init(postgresValue value: PostgresValue) throws {
        guard case .range(let range) = value else { throw Self.mismatch(value) }
        self = try range.map { try Bound(postgresValue: $0) }
    }
}

extension PostgresMultirange: PostgresEncodable where Bound: PostgresEncodable {
    /// A multirange; throws if a bound has no PostgreSQL value.
    public var postgresValue: PostgresValue? {
        get throws {
            let values = try ranges.map { try $0.postgresValue }
            return .multirange(
                PostgresMultirange<PostgresValue>(
                    values.compactMap { if case .range(let range) = $0 { range } else { nil } }))
        }
    }
}

extension PostgresMultirange: PostgresDecodable where Bound: PostgresDecodable {
    /// Reads a multirange whose bounds are values of the type.
    public init(postgresValue value: PostgresValue) throws {
        guard case .multirange(let multirange) = value else { throw Self.mismatch(value) }
        self.init(try multirange.ranges.map { range in try range.map { try Bound(postgresValue: $0) } })
    }
}
