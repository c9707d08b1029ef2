extension PostgresRange: PostgresEncodable where Bound: PostgresEncodable {
    /// A range; throws where a bound has no value that the server could hold.
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

    /// The type of ranges of the bounds' type; with integers the server's choice.
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
    /// A multirange; throws where a bound has no value that the server could hold.
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
