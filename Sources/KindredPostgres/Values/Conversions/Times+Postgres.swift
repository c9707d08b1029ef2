#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Date: PostgresEncodable, PostgresDecodable {
    /// A `timestamp with time zone`, to the nearest microsecond; throws beyond PostgreSQL's range.
    public var postgresValue: PostgresValue? {
        get throws {
            if let timestamp = PostgresTimestamp(self) { return .timestampTZ(timestamp) }
            throw PostgresError(.invalidParameter, "The date is out of the range of the type timestamp with time zone")
        }
    }
    /// `timestamp with time zone`.
    public static var postgresDataType: PostgresDataType { .timestamptz }

    /// Reads a `timestamp with time zone`, or a `timestamp`, which is taken as UTC.
    ///
    /// Throws for an infinity, and for microseconds that a `Date` cannot represent, as most are further than 272 years
    /// from 2001.
    public init(postgresValue value: PostgresValue) throws {
        let timestamp = try PostgresTimestamp(postgresValue: value)
        guard let date = Date(exactly: timestamp) else { throw Self.inexact(value) }
        self = date
    }
}

extension PostgresTimestamp: PostgresEncodable, PostgresDecodable {
    /// A `timestamp without time zone`; read as UTC where one with time zone is expected.
    public var postgresValue: PostgresValue? { .timestamp(self) }
    /// `timestamp without time zone`.
    public static var postgresDataType: PostgresDataType { .timestamp }

    /// Reads a timestamp, with or without time zone.
    public init(postgresValue value: PostgresValue) throws {
        switch value {
        case .timestamp(let timestamp), .timestampTZ(let timestamp): self = timestamp
        default: throw Self.mismatch(value)
        }
    }
}

extension PostgresDate: PostgresEncodable, PostgresDecodable {
    /// A `date`.
    public var postgresValue: PostgresValue? { .date(self) }
    /// `date`.
    public static var postgresDataType: PostgresDataType { .date }

    /// Reads a `date`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .date(let date) = value else { throw Self.mismatch(value) }
        self = date
    }
}

extension PostgresTime: PostgresEncodable, PostgresDecodable {
    /// A `time`.
    public var postgresValue: PostgresValue? { .time(self) }
    /// `time without time zone`.
    public static var postgresDataType: PostgresDataType { .time }

    /// Reads a `time`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .time(let time) = value else { throw Self.mismatch(value) }
        self = time
    }
}

extension PostgresTimeTZ: PostgresEncodable, PostgresDecodable {
    /// A `time with time zone`.
    public var postgresValue: PostgresValue? { .timeTZ(self) }
    /// `time with time zone`.
    public static var postgresDataType: PostgresDataType { .timetz }

    /// Reads a `time with time zone`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .timeTZ(let time) = value else { throw Self.mismatch(value) }
        self = time
    }
}

extension PostgresInterval: PostgresEncodable, PostgresDecodable {
    /// An `interval`.
    public var postgresValue: PostgresValue? { .interval(self) }
    /// `interval`.
    public static var postgresDataType: PostgresDataType { .interval }

    /// Reads an `interval`.
    public init(postgresValue value: PostgresValue) throws {
        guard case .interval(let interval) = value else { throw Self.mismatch(value) }
        self = interval
    }
}
