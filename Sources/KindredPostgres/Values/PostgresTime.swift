/// A `time without time zone`: microseconds since midnight, 24:00:00 included.
public struct PostgresTime: Sendable, Hashable, Comparable {
    /// Microseconds since midnight.
    public let microseconds: Int64

    /// A time of day; nil beyond 24:00:00.
    public init?(microseconds: Int64) {
        guard (0...CivilDate.microsecondsPerDay).contains(microseconds) else { return nil }
        self.microseconds = microseconds
    }

    /// The time that a text such as `12:34:56.789` names.
    public init?(_ text: String) {
        var scanner = ValueScanner(text)
        guard let time = scanner.time(), scanner.isAtEnd else { return nil }
        self.init(microseconds: time)
    }

    /// Whether the left time is earlier.
    public static func < (left: PostgresTime, right: PostgresTime) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension PostgresTime: CustomStringConvertible {
    /// The time as the server prints it: `12:34:56.789`.
    public var description: String { CivilDate.text(microseconds: microseconds) }
}

/// A `time with time zone`: a time of day and its distance from Greenwich.
public struct PostgresTimeTZ: Sendable, Hashable {
    /// The time of day, there.
    public let time: PostgresTime
    /// Seconds east of Greenwich.
    public let secondsFromGMT: Int

    /// A time of day in a zone; nil if the zone is 16 hours or more away.
    public init?(time: PostgresTime, secondsFromGMT: Int) {
        guard abs(secondsFromGMT) < 16 * 3600 else { return nil }
        self.time = time
        self.secondsFromGMT = secondsFromGMT
    }

    /// The time that a text such as `12:34:56+02` names.
    public init?(_ text: String) {
        var scanner = ValueScanner(text)
        guard let time = scanner.time().flatMap(PostgresTime.init(microseconds:)), let offset = scanner.offset(),
            scanner.isAtEnd
        else { return nil }
        self.init(time: time, secondsFromGMT: offset)
    }
}

extension PostgresTimeTZ: CustomStringConvertible {
    /// The time as the server prints it: `12:34:56+02`.
    public var description: String { "\(time)\(CivilDate.text(offset: secondsFromGMT))" }
}
