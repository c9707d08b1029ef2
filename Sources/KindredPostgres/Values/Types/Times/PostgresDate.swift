#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A `date`: a day of the Gregorian calendar from 4714-11-24 BC to 5874897-12-31, or an infinity.
public struct PostgresDate: Sendable, Hashable {
    /// Days since 2000-01-01.
    public let daysSince2000: Int32

    private static let validDays: ClosedRange<Int64> = -2_451_545...2_145_031_948

    /// After every other date.
    public static let infinity = PostgresDate(unchecked: .max)
    /// Before every other date.
    public static let negativeInfinity = PostgresDate(unchecked: .min)

    private init(unchecked: Int32) {
        daysSince2000 = unchecked
    }

    /// The day so many days after 2000-01-01; nil if PostgreSQL cannot hold it.
    public init?(daysSince2000 days: Int64) {
        guard Self.validDays.contains(days), let days = Int32(exactly: days) else { return nil }
        daysSince2000 = days
    }

    /// A day; nil if there is no such day or PostgreSQL cannot hold it.
    ///
    /// The year 0 is 1 BC.
    public init?(year: Int, month: Int, day: Int) {
        guard let days = CivilDate.days(year: Int64(year), month: month, day: day) else { return nil }
        self.init(daysSince2000: days)
    }

    /// The day that a moment falls on in a time zone; nil if PostgreSQL cannot hold it.
    public init?(_ date: Date, in timeZone: TimeZone) {
        let shifted = date.addingTimeInterval(Double(timeZone.secondsFromGMT(for: date)))
        guard let day = PostgresTimestamp(shifted)?.date else { return nil }
        self = day
    }

    /// Whether the date is a day, not an infinity.
    public var isFinite: Bool { self != .infinity && self != .negativeInfinity }

    /// Year, month and day; nil for an infinity.
    ///
    /// The year 0 is 1 BC.
    public var components: (year: Int, month: Int, day: Int)? {
        guard isFinite else { return nil }
        let (year, month, day) = CivilDate.civil(fromDays: Int64(daysSince2000))
        return (Int(year), month, day)
    }
}

extension PostgresDate: LosslessStringConvertible, Comparable {
    /// The day that a text such as `2024-02-29` or `0044-03-15 BC` names, or an infinity.
    public init?(_ text: String) {
        switch text {
        case "infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            var scanner = ValueScanner(text)
            guard let days = scanner.date() else { return nil }
            self.init(daysSince2000: days)
        }
    }

    /// The day as the server prints it: `2024-02-29`.
    public var description: String {
        guard isFinite else { return self == .infinity ? "infinity" : "-infinity" }
        let (date, era) = CivilDate.text(days: Int64(daysSince2000))
        return date + era
    }

    /// Whether the left day is earlier.
    public static func < (left: PostgresDate, right: PostgresDate) -> Bool {
        left.daysSince2000 < right.daysSince2000
    }
}

extension PostgresDate: NeutralValue {
    /// The 1st of January 1970.
    public static var neutralValue: PostgresDate { PostgresDate(unchecked: -10_957) }
}
