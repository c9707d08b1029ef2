/// An `interval`: months, days and microseconds, which PostgreSQL keeps apart because months and days vary in length.
///
/// Two intervals are equal if their three parts are; PostgreSQL itself compares them as if every month had 30 days and
/// every day 24 hours.
public struct PostgresInterval: Sendable, Hashable {
    /// Months.
    public let months: Int32
    /// Days.
    public let days: Int32
    /// Microseconds.
    public let microseconds: Int64

    /// An interval of the three parts.
    public init(months: Int32 = 0, days: Int32 = 0, microseconds: Int64 = 0) {
        self.months = months
        self.days = days
        self.microseconds = microseconds
    }

    /// Longer than every other interval; an ordinary one to servers before PostgreSQL 17.
    public static let infinity = PostgresInterval(months: .max, days: .max, microseconds: .max)
    /// Less than every other interval; an ordinary one to servers before PostgreSQL 17.
    public static let negativeInfinity = PostgresInterval(months: .min, days: .min, microseconds: .min)

    /// A duration; nil if it is not a number of microseconds that fits 64 bits.
    public init?(exactly duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooLargeAgain) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard attoseconds % 1_000_000_000_000 == 0, !isTooLarge, !isTooLargeAgain else { return nil }
        self.init(microseconds: sum)
    }
}

extension Duration {
    /// The interval as a duration; nil if it has months or days, whose length varies.
    public init?(exactly interval: PostgresInterval) {
        guard interval.months == 0, interval.days == 0 else { return nil }
        self = .microseconds(interval.microseconds)
    }
}

extension PostgresInterval: LosslessStringConvertible {
    /// The interval that a text such as `1 year 2 mons -3 days 04:05:06.789` or `2 weeks` names.
    public init?(_ text: String) {
        switch text {
        case "infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            var scanner = ValueScanner(text)
            guard let interval = scanner.interval() else { return nil }
            self = interval
        }
    }

    /// The interval as the server prints it.
    public var description: String {
        if self == .infinity { return "infinity" }
        if self == .negativeInfinity { return "-infinity" }
        var parts: [String] = []
        var isNegative = false
        func add(_ value: Int32, _ unit: String) {
            guard value != 0 else { return }
            // A positive part after a negative one needs its sign.
            parts.append("\(isNegative && value > 0 ? "+" : "")\(value) \(unit)\(value == 1 ? "" : "s")")
            isNegative = value < 0
        }
        add(months / 12, "year")
        add(months % 12, "mon")
        add(days, "day")
        if microseconds != 0 || parts.isEmpty {
            let sign = microseconds < 0 ? "-" : isNegative ? "+" : ""
            let hours = microseconds.magnitude / 3_600_000_000
            let rest = CivilDate.text(microseconds: Int64(microseconds.magnitude % 3_600_000_000)).dropFirst(2)
            parts.append("\(sign)\(CivilDate.padded(Int64(hours), 2))\(rest)")
        }
        return parts.joined(separator: " ")
    }
}
