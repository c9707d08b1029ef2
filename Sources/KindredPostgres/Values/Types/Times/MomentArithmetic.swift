#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Arithmetic as PostgreSQL does it. Results beyond its range are nil: a number from a client ends no process.

extension PostgresDate {
    /// The day so many days later, or earlier for a negative number; nil beyond PostgreSQL's range.
    ///
    /// An infinity stays one.
    public func adding(days: Int) -> PostgresDate? {
        guard isFinite else { return self }
        let (sum, isTooLarge) = Int64(daysSince2000).addingReportingOverflow(Int64(days))
        return isTooLarge ? nil : PostgresDate(daysSince2000: sum)
    }

    /// The day so many months later, or earlier for a negative number: the last day of its month where that has no such day, as one
    /// month after 31 January.
    ///
    /// nil beyond PostgreSQL's range; an infinity stays one.
    public func adding(months: Int) -> PostgresDate? {
        guard isFinite else { return self }
        return CivilDate.adding(months: Int64(months), toDays: Int64(daysSince2000)).flatMap(PostgresDate.init)
    }

    /// The number of days from another day to this one, as `date - date` in SQL; nil for an infinity.
    public func days(since other: PostgresDate) -> Int? {
        guard isFinite, other.isFinite else { return nil }
        return Int(daysSince2000) - Int(other.daysSince2000)
    }

    /// The first moment of the day in a time zone; nil for an infinity.
    ///
    /// That is midnight, or the moment at which a clock that skips midnight goes on.
    public func start(in timeZone: TimeZone) -> Date? {
        guard isFinite, let midnight = PostgresTimestamp(date: self).flatMap(Date.init(exactly:)) else { return nil }
        func start(_ offset: Int) -> Date { midnight.addingTimeInterval(-Double(offset)) }
        let day: TimeInterval = 86_400
        // A zone is at most 26 hours from another, and at most one change of clocks is near.
        let offsets = [-2 * day, -day, 0, day, 2 * day].map {
            timeZone.secondsFromGMT(for: midnight.addingTimeInterval($0))
        }
        let starts = offsets.map(start).filter {
            timeZone.secondsFromGMT(for: $0) == Int(midnight.timeIntervalSince($0))
        }
        if let first = starts.min() { return first }
        // The clock skips midnight: the moment of its change, to the second.
        guard var early = offsets.max().map(start), var late = offsets.min().map(start) else { return nil }
        let before = timeZone.secondsFromGMT(for: early)
        while late.timeIntervalSince(early) > 1 {
            let middle = early.addingTimeInterval((late.timeIntervalSince(early) / 2).rounded(.down))
            if timeZone.secondsFromGMT(for: middle) == before { early = middle } else { late = middle }
        }
        return late
    }
}

extension PostgresTimestamp {
    /// The moment after an interval, as `timestamp + interval` in SQL: first the months, then the days, then the rest.
    ///
    /// Days have 24 hours, as they have without a time zone and in UTC. nil beyond PostgreSQL's range; an infinity stays one.
    public func adding(_ interval: PostgresInterval) -> PostgresTimestamp? {
        guard isFinite, let time else { return self }
        guard let moved = CivilDate.adding(months: Int64(interval.months), toDays: Int64(date.daysSince2000)),
            let month = PostgresDate(daysSince2000: moved), PostgresTimestamp(date: month, time: time) != nil,
            let day = month.adding(days: Int(interval.days)), let start = PostgresTimestamp(date: day, time: time)
        else { return nil }
        let (sum, isTooLarge) = start.microsecondsSince2000.addingReportingOverflow(interval.microseconds)
        return isTooLarge ? nil : PostgresTimestamp(microsecondsSince2000: sum)
    }

    /// The moment before an interval, as `timestamp - interval` in SQL.
    ///
    /// nil beyond PostgreSQL's range; an infinity stays one.
    public func subtracting(_ interval: PostgresInterval) -> PostgresTimestamp? {
        let (months, months2) = Int32(0).subtractingReportingOverflow(interval.months)
        let (days, days2) = Int32(0).subtractingReportingOverflow(interval.days)
        let (microseconds, microseconds2) = Int64(0).subtractingReportingOverflow(interval.microseconds)
        if months2 || days2 || microseconds2 { return isFinite ? nil : self }
        return adding(PostgresInterval(months: months, days: days, microseconds: microseconds))
    }

    /// The interval from another moment to this one, in days and a rest, as `timestamp - timestamp` in SQL; nil for an infinity, and
    /// beyond PostgreSQL's range.
    public func interval(since other: PostgresTimestamp) -> PostgresInterval? {
        guard isFinite, other.isFinite else { return nil }
        let (distance, isTooLarge) = microsecondsSince2000.subtractingReportingOverflow(other.microsecondsSince2000)
        let (days, rest) = distance.quotientAndRemainder(dividingBy: CivilDate.microsecondsPerDay)
        guard !isTooLarge, let days = Int32(exactly: days) else { return nil }
        return PostgresInterval(days: days, microseconds: rest)
    }
}

extension CivilDate {
    /// The day so many months later, at most the last of its month; nil far beyond PostgreSQL's range.
    fileprivate static func adding(months: Int64, toDays days: Int64) -> Int64? {
        let (year, month, day) = civil(fromDays: days)
        let (sum, isTooLarge) = (year * 12 + Int64(month) - 1).addingReportingOverflow(months)
        if isTooLarge { return nil }
        let newYear = sum.flooredDivision(by: 12)
        let newMonth = Int(sum - newYear * 12) + 1
        return (28...31).reversed().lazy.map { Swift.min($0, day) }
            .compactMap { Self.days(year: newYear, month: newMonth, day: $0) }.first
    }
}
