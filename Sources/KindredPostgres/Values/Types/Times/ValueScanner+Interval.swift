extension ValueScanner {
    /// The whole of `1 year 2 mons -3 days +04:05:06.789`, `2 weeks 1 hour` or `P1Y2M3DT4H5M6.789S`.
    mutating func interval() -> PostgresInterval? {
        var sum = IntervalSum()
        return (skip("P") ? isoParts(&sum) : parts(&sum)) ? sum.interval : nil
    }

    /// Numbers with their units, separated by spaces; the last may be a time.
    private mutating func parts(_ sum: inout IntervalSum) -> Bool {
        repeat {
            let sign: Int64 = skip("-") ? -1 : skip("+") ? 1 : 1
            guard let value = number(digits: 1...18) else { return false }
            if skip(":") {
                guard let minutes = number(digits: 2...2), minutes < 60 else { return false }
                var (seconds, fraction): (Int64, Int64) = (0, 0)
                if skip(":") {
                    guard let read = number(digits: 2...2), read < 60, let part = self.fraction() else { return false }
                    (seconds, fraction) = (read, part)
                }
                guard sum.add(sign * value, .hour), sum.add(sign * minutes, .minute), sum.add(sign * seconds, .second),
                    sum.add(sign * fraction, .microsecond)
                else { return false }
            } else {
                guard let fraction = fraction() else { return false }
                _ = skip(" ")
                guard let unit = word().flatMap(IntervalUnit.init(name:)), fraction == 0 || unit == .second,
                    sum.add(sign * value, unit), fraction == 0 || sum.add(sign * fraction, .microsecond)
                else { return false }
            }
        } while skip(" ")
        return isAtEnd
    }

    /// Reads the parts after the P of an ISO 8601 duration.
    private mutating func isoParts(_ sum: inout IntervalSum) -> Bool {
        var isTime = false
        repeat {
            if !isTime && skip("T") { isTime = true }
            let sign: Int64 = skip("-") ? -1 : 1
            guard let value = number(digits: 1...18), let fraction = fraction(), let designator = next,
                let unit = IntervalUnit(designator: designator, isTime: isTime), skip(Unicode.Scalar(designator)),
                fraction == 0 || unit == .second, sum.add(sign * value, unit),
                fraction == 0 || sum.add(sign * fraction, .microsecond)
            else { return false }
        } while !isAtEnd
        return true
    }
}

private enum IntervalUnit: Int {
    case year, month, week, day, hour, minute, second, millisecond, microsecond

    init?(name: String) {
        switch name.lowercased() {
        case "year", "years": self = .year
        case "mon", "mons", "month", "months": self = .month
        case "week", "weeks": self = .week
        case "day", "days": self = .day
        case "hour", "hours": self = .hour
        case "min", "mins", "minute", "minutes": self = .minute
        case "sec", "secs", "second", "seconds": self = .second
        case "ms", "millisecond", "milliseconds": self = .millisecond
        case "us", "microsecond", "microseconds": self = .microsecond
        default: return nil
        }
    }

    init?(designator: UInt8, isTime: Bool) {
        switch (designator, isTime) {
        case (UInt8(ascii: "Y"), false): self = .year
        case (UInt8(ascii: "M"), false): self = .month
        case (UInt8(ascii: "W"), false): self = .week
        case (UInt8(ascii: "D"), false): self = .day
        case (UInt8(ascii: "H"), true): self = .hour
        case (UInt8(ascii: "M"), true): self = .minute
        case (UInt8(ascii: "S"), true): self = .second
        default: return nil
        }
    }
}

/// Adds up the parts of an interval; each unit comes once.
private struct IntervalSum {
    private var months: Int64 = 0
    private var days: Int64 = 0
    private var microseconds: Int64 = 0
    private var seen: Set<IntervalUnit> = []

    var interval: PostgresInterval? {
        guard let months = Int32(exactly: months), let days = Int32(exactly: days) else { return nil }
        return PostgresInterval(months: months, days: days, microseconds: microseconds)
    }

    /// Returns false if the unit was there before or the sum is beyond 64 bits.
    mutating func add(_ value: Int64, _ unit: IntervalUnit) -> Bool {
        guard seen.insert(unit).inserted else { return false }
        return switch unit {
        case .year: add(value, times: 12, to: \.months)
        case .month: add(value, times: 1, to: \.months)
        case .week: add(value, times: 7, to: \.days)
        case .day: add(value, times: 1, to: \.days)
        case .hour: add(value, times: 3_600_000_000, to: \.microseconds)
        case .minute: add(value, times: 60_000_000, to: \.microseconds)
        case .second: add(value, times: 1_000_000, to: \.microseconds)
        case .millisecond: add(value, times: 1_000, to: \.microseconds)
        case .microsecond: add(value, times: 1, to: \.microseconds)
        }
    }

    private mutating func add(_ value: Int64, times factor: Int64, to part: WritableKeyPath<Self, Int64>) -> Bool {
        let (product, isTooLarge) = value.multipliedReportingOverflow(by: factor)
        let (sum, isTooLargeAgain) = self[keyPath: part].addingReportingOverflow(product)
        self[keyPath: part] = sum
        return !isTooLarge && !isTooLargeAgain
    }
}
