/// A `date`: a day of the Gregorian calendar from 4713 BC to 5874897 AD, or an infinity.
public struct PostgresDate: Sendable, Hashable {
    /// Days since 2000-01-01.
    public let daysSince2000: Int32

    static let validDays: ClosedRange<Int64> = -2_451_545...2_145_031_948

    /// After every other date.
    public static let infinity = PostgresDate(daysSince2000: .max)
    /// Before every other date.
    public static let negativeInfinity = PostgresDate(daysSince2000: .min)

    init(daysSince2000: Int32) {
        self.daysSince2000 = daysSince2000
    }

    init?(days: Int64) {
        guard Self.validDays.contains(days) else { return nil }
        daysSince2000 = Int32(days)
    }

    /// A day; nil if there is no such day or PostgreSQL cannot hold it.
    ///
    /// The year 0 is 1 BC.
    public init?(year: Int, month: Int, day: Int) {
        guard let days = CivilDate.days(year: Int64(year), month: month, day: day) else { return nil }
        self.init(days: days)
    }

    /// The day that a text such as `2024-02-29` or `0044-03-15 BC` names, or an infinity.
    public init?(_ text: String) {
        switch text {
        case "infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            var scanner = ValueScanner(text)
            guard let days = scanner.date(), scanner.isAtEnd else { return nil }
            self.init(days: days)
        }
    }

    /// Whether the date is a day, not an infinity.
    public var isFinite: Bool { self != .infinity && self != .negativeInfinity }
}

extension PostgresDate: CustomStringConvertible, Comparable {
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
