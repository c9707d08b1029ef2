/// An `interval`: months, days and microseconds, which PostgreSQL keeps apart because months and days vary in length.
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

    /// The interval that a text as the server prints it names: `1 year 2 mons -3 days 04:05:06.789`.
    public init?(_ text: String) {
        var scanner = ValueScanner(text)
        guard let interval = scanner.interval() else { return nil }
        self = interval
    }
}

extension PostgresInterval: CustomStringConvertible {
    /// The interval as the server prints it.
    public var description: String {
        var parts: [String] = []
        func add(_ value: Int32, _ unit: String, after isNegative: inout Bool) {
            guard value != 0 else { return }
            // A positive part after a negative one needs its sign.
            parts.append("\(isNegative && value > 0 ? "+" : "")\(value) \(unit)\(value == 1 ? "" : "s")")
            isNegative = value < 0
        }
        var isNegative = false
        add(months / 12, "year", after: &isNegative)
        add(months % 12, "mon", after: &isNegative)
        add(days, "day", after: &isNegative)
        if microseconds != 0 || parts.isEmpty {
            let sign = microseconds < 0 ? "-" : isNegative ? "+" : ""
            let size = microseconds.magnitude
            let whole = Int64(size / 3_600_000_000)
            let rest = CivilDate.text(microseconds: Int64(size % 3_600_000_000)).dropFirst(2)
            parts.append("\(sign)\(CivilDate.padded(whole, 2))\(rest)")
        }
        return parts.joined(separator: " ")
    }
}
