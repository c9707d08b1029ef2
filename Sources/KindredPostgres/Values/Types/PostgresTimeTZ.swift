/// A `time with time zone`: a time of day and its distance from Greenwich.
public struct PostgresTimeTZ: Sendable, Hashable {
    /// The time of day, there.
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
