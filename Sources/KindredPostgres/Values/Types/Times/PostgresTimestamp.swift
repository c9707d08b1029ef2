/// A `timestamp`, with or without time zone: microseconds since 2000-01-01, from 4714-11-24 BC to the end of 294276,
/// or an infinity.
///
/// With time zone it is a moment in UTC; without, it is a wall-clock time.
public struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since midnight of 2000-01-01.
    public let microsecondsSince2000: Int64

    private static let validMicroseconds: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

    /// After every other timestamp.
    public static let infinity = PostgresTimestamp(unchecked: .max)
    /// Before every other timestamp.
    public static let negativeInfinity = PostgresTimestamp(unchecked: .min)

    private init(unchecked: Int64) {
        microsecondsSince2000 = unchecked
    }

    /// A timestamp; nil beyond PostgreSQL's range.
    public init?(microsecondsSince2000: Int64) {
        guard Self.validMicroseconds.contains(microsecondsSince2000) else { return nil }
        self.microsecondsSince2000 = microsecondsSince2000
    }

    /// A time of a day; nil beyond PostgreSQL's range.
    ///
    /// An infinite date gives an infinite timestamp.
    public init?(date: PostgresDate, time: PostgresTime = .midnight) {
        switch date {
        case .infinity: self = .infinity
        case .negativeInfinity: self = .negativeInfinity
        default:
            let (start, isTooLarge) = Int64(date.daysSince2000)
                .multipliedReportingOverflow(by: CivilDate.microsecondsPerDay)
            let (sum, isTooLargeAgain) = start.addingReportingOverflow(time.microseconds)
            guard !isTooLarge, !isTooLargeAgain else { return nil }
            self.init(microsecondsSince2000: sum)
        }
    }

    /// Whether the timestamp is not an infinity.
    public var isFinite: Bool { self != .infinity && self != .negativeInfinity }

    /// The day; with time zone the day in UTC.
    public var date: PostgresDate {
        // Dates cover every day of the timestamps.
        if isFinite, let date = PostgresDate(daysSince2000: days) { return date }
        return self == .infinity ? .infinity : .negativeInfinity
    }

    /// The time of the day, in UTC if with time zone; nil for an infinity.
    public var time: PostgresTime? {
        guard isFinite else { return nil }
        return PostgresTime(microseconds: microsecondsSince2000 - days * CivilDate.microsecondsPerDay)
    }

    private var days: Int64 { microsecondsSince2000.flooredDivision(by: CivilDate.microsecondsPerDay) }

    /// Whether the left timestamp is earlier.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince2000 < right.microsecondsSince2000
    }
}

extension PostgresTimestamp: LosslessStringConvertible {
    /// The timestamp that a text such as `2024-02-29 12:34:56.789` names; an offset such as `+02` is converted to UTC.
    public init?(_ text: String) {
        self.init(text, mayHaveOffset: true)
    }

    /// Parses a timestamp; an offset is allowed only with time zone.
    init?(_ text: String, mayHaveOffset: Bool) {
        switch text {
        case "infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            var scanner = ValueScanner(text)
            guard let (microseconds, hasOffset) = scanner.timestamp(), mayHaveOffset || !hasOffset else { return nil }
            self.init(microsecondsSince2000: microseconds)
        }
    }

    /// The timestamp as the server prints it: `2024-02-29 12:34:56.789`.
    public var description: String { text(zone: "") }

    /// The timestamp as the server prints it with a time zone.
    func text(zone: String) -> String {
        guard let time else { return self == .infinity ? "infinity" : "-infinity" }
        let (date, era) = CivilDate.text(days: days)
        return "\(date) \(time)\(zone)\(era)"
    }
}

extension PostgresTimestamp: NeutralValue {
    /// The beginning of 1970.
    public static var neutralValue: PostgresTimestamp { PostgresTimestamp(unchecked: -946_684_800_000_000) }
}
