#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A `timestamp`, with or without time zone: microseconds since 2000-01-01, from 4713 BC to 294276 AD, or an infinity.
///
/// With time zone it is a moment, counted in UTC; without, it is what a clock on some wall shows.
public struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since midnight of 2000-01-01.
    public let microsecondsSince2000: Int64

    static let validMicroseconds: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

    /// After every other timestamp.
    public static let infinity = PostgresTimestamp(unchecked: .max)
    /// Before every other timestamp.
    public static let negativeInfinity = PostgresTimestamp(unchecked: .min)

    private init(unchecked: Int64) {
        microsecondsSince2000 = unchecked
    }

    /// A timestamp; nil beyond what PostgreSQL can hold.
    public init?(microsecondsSince2000: Int64) {
        guard Self.validMicroseconds.contains(microsecondsSince2000) else { return nil }
        self.microsecondsSince2000 = microsecondsSince2000
    }

    /// The moment of a date, to the nearest microsecond; nil beyond what PostgreSQL can hold.
    public init?(_ date: Date) {
        // Foundation counts seconds from 2001-01-01; the count of microseconds has to fit 64 bits.
        let microseconds =
            (date.timeIntervalSinceReferenceDate * 1_000_000).rounded(.toNearestOrEven) + 31_622_400_000_000
        guard let exact = Int64(exactly: microseconds) else { return nil }
        self.init(microsecondsSince2000: exact)
    }

    /// The timestamp that a text such as `2024-02-29 12:34:56.789` names; an offset such as `+02` is taken off.
    public init?(_ text: String) {
        switch text {
        case "infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            var scanner = ValueScanner(text)
            guard let microseconds = scanner.timestamp() else { return nil }
            self.init(microsecondsSince2000: microseconds)
        }
    }

    /// Whether the timestamp is none of the infinities.
    public var isFinite: Bool { self != .infinity && self != .negativeInfinity }

    /// Whether the left timestamp is earlier.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince2000 < right.microsecondsSince2000
    }

    var days: Int64 { microsecondsSince2000.flooredDivision(by: CivilDate.microsecondsPerDay) }

    var microsecondsOfDay: Int64 { microsecondsSince2000 - days * CivilDate.microsecondsPerDay }
}

extension PostgresTimestamp: CustomStringConvertible {
    /// The timestamp as the server prints it: `2024-02-29 12:34:56.789`.
    public var description: String {
        guard isFinite else { return self == .infinity ? "infinity" : "-infinity" }
        let (date, era) = CivilDate.text(days: days)
        return "\(date) \(CivilDate.text(microseconds: microsecondsOfDay))\(era)"
    }
}

extension Date {
    /// The moment of a timestamp with time zone; nil for an infinity.
    ///
    /// A date counts in doubles of seconds: microseconds are kept within some 285 years of 2001, and rounded beyond.
    public init?(_ timestamp: PostgresTimestamp) {
        guard timestamp.isFinite else { return nil }
        self.init(
            timeIntervalSinceReferenceDate: (Double(timestamp.microsecondsSince2000) - 31_622_400_000_000) / 1_000_000
        )
    }
}
