/// A `time without time zone`: microseconds since midnight, 24:00:00 included.
public struct PostgresTime: Sendable, Hashable, Comparable {
    /// Microseconds since midnight.
    public let microseconds: Int64

    /// A time of day; nil beyond 24:00:00.
    public init?(microseconds: Int64) {
        guard (0...CivilDate.microsecondsPerDay).contains(microseconds) else { return nil }
        self.microseconds = microseconds
    }

    /// A time of day, up to 24:00:00; nil if there is no such time.
    public init?(hour: Int, minute: Int, second: Int = 0, microsecond: Int = 0) {
        guard (0...24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<1_000_000).contains(microsecond)
        else { return nil }
        self.init(microseconds: Int64((hour * 60 + minute) * 60 + second) * 1_000_000 + Int64(microsecond))
    }

    /// The beginning of a day, 00:00:00.
    public static let midnight = PostgresTime()

    private init() {
        microseconds = 0
    }

    /// Hour, minute, second and microsecond.
    public var components: (hour: Int, minute: Int, second: Int, microsecond: Int) {
        let seconds = Int(microseconds / 1_000_000)
        return (seconds / 3600, seconds / 60 % 60, seconds % 60, Int(microseconds % 1_000_000))
    }

    /// Whether the left time is earlier.
    public static func < (left: PostgresTime, right: PostgresTime) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension PostgresTime: LosslessStringConvertible {
    /// The time that a text such as `12:34:56.789` names.
    public init?(_ text: String) {
        var scanner = ValueScanner(text)
        guard let time = scanner.time(), scanner.isAtEnd else { return nil }
        self.init(microseconds: time)
    }

    /// The time as the server prints it: `12:34:56.789`.
    public var description: String { CivilDate.text(microseconds: microseconds) }
}

/// A `time with time zone`: a time of day and an offset from UTC.
public struct PostgresTimeTZ: Sendable, Hashable {
    /// The local time of day.
    public let time: PostgresTime
    private let east: Int32

    /// Seconds east of Greenwich.
    public var secondsFromGMT: Int { Int(east) }

    /// A time of day in a zone; nil if the zone is 16 hours or more away.
    public init?(time: PostgresTime, secondsFromGMT: Int) {
        guard (-57_599...57_599).contains(secondsFromGMT), let east = Int32(exactly: secondsFromGMT) else { return nil }
        self.time = time
        self.east = east
    }
}

extension PostgresTimeTZ: LosslessStringConvertible {
    /// The time that a text such as `12:34:56+02` names.
    public init?(_ text: String) {
        var scanner = ValueScanner(text)
        guard let time = scanner.time().flatMap(PostgresTime.init(microseconds:)), let offset = scanner.offset(),
            scanner.isAtEnd
        else { return nil }
        self.init(time: time, secondsFromGMT: offset)
    }

    /// The time as the server prints it: `12:34:56+02`.
    public var description: String { "\(time)\(CivilDate.text(offset: secondsFromGMT))" }
}

extension PostgresTimeTZ: NeutralValue {
    /// Midnight in Greenwich.
    public static var neutralValue: PostgresTimeTZ { PostgresTimeTZ() }

    private init() { (time, east) = (.midnight, 0) }
}
