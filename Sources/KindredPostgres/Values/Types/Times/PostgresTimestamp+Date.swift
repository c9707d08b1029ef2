#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Seconds from 2000-01-01, where PostgreSQL begins to count, to 2001-01-01, where Foundation does.
private let epochDistance: Int64 = 31_622_400

extension PostgresTimestamp {
    /// The moment of a date, to the nearest microsecond; nil beyond PostgreSQL's range.
    public init?(_ date: Date) {
        // Converts whole seconds and the fraction separately: as microseconds they need more bits than a double has.
        let whole = date.timeIntervalSinceReferenceDate.rounded(.down)
        let fraction = ((date.timeIntervalSinceReferenceDate - whole) * 1_000_000).rounded(.toNearestOrEven)
        guard let seconds = Int64(exactly: whole), let fraction = Int64(exactly: fraction) else { return nil }
        let (shifted, isTooLarge) = seconds.addingReportingOverflow(epochDistance)
        let (microseconds, isTooLargeAgain) = shifted.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooLargeAtLast) = microseconds.addingReportingOverflow(fraction)
        guard !isTooLarge, !isTooLargeAgain, !isTooLargeAtLast else { return nil }
        self.init(microsecondsSince2000: sum)
    }

    /// The moment of a date, to the nearest microsecond; beyond PostgreSQL's range the infinity on its side.
    ///
    /// A date that is not a number gives `infinity`.
    public init(clamping date: Date) {
        self = PostgresTimestamp(date) ?? (date.timeIntervalSinceReferenceDate < 0 ? .negativeInfinity : .infinity)
    }

    /// The present moment, in UTC.
    public static var now: PostgresTimestamp { PostgresTimestamp(clamping: .now) }
}

extension PostgresDate {
    /// The present day in UTC.
    ///
    /// `PostgresDate(.now, in: timeZone)` is the day in another time zone.
    public static var today: PostgresDate { PostgresTimestamp.now.date }
}

extension Date {
    /// The moment of a timestamp with time zone; nil for an infinity, and if a date cannot represent the microseconds.
    ///
    /// A date is a double of seconds: exact for every microsecond within 272 years of 2001, and for some beyond.
    public init?(exactly timestamp: PostgresTimestamp) {
        guard timestamp.isFinite else { return nil }
        let seconds = timestamp.microsecondsSince2000.flooredDivision(by: 1_000_000)
        let fraction = timestamp.microsecondsSince2000 - seconds * 1_000_000
        let date = Date(timeIntervalSinceReferenceDate: Double(seconds - epochDistance) + Double(fraction) / 1_000_000)
        guard PostgresTimestamp(date) == timestamp else { return nil }
        self = date
    }
}
