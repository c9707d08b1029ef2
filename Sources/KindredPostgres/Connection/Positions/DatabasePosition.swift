/// A place in the write-ahead log of a database: a server must have replayed the log to there to show earlier writes.
///
/// Where the engine tells no positions it is the time of a write, and reads go to the primary for the time that
/// ``PostgresConfiguration/replicaDelay`` sets.
///
/// A token for the next request, in a cookie or header, as its text: a context that is made with it reads nothing older.
///
/// ```swift
/// let token = context.position.map(String.init)
/// let next = database.makeContext(reading: .automatic, after: token.flatMap { DatabasePosition($0) })
/// ```
public struct DatabasePosition: Sendable, Hashable {
    /// The identifier that the database's cluster got when it was made, and that its replicas have too; 0 for a time.
    public let system: UInt64
    /// The timeline of the log, 0 for a time; a failover begins a new timeline.
    public let timeline: UInt32
    /// The number of bytes of the log before the place, or the time in milliseconds since 1970.
    public let location: UInt64

    /// A position of a cluster.
    ///
    /// - Parameters:
    ///   - system: the cluster's identifier.
    ///   - timeline: the timeline of the log.
    ///   - location: the number of bytes of the log before the place.
    public init(system: UInt64, timeline: UInt32, location: UInt64) {
        self.system = system
        self.timeline = timeline
        self.location = location
    }

    /// Whether both are in one log, so that their locations can be compared.
    package func isComparable(with other: DatabasePosition) -> Bool {
        system == other.system && timeline == other.timeline
    }
}

extension DatabasePosition {
    /// The time of a write just now.
    static var now: DatabasePosition {
        DatabasePosition(system: 0, timeline: 0, location: SystemCalls.milliseconds)
    }

    /// Whether it is a time.
    package var isTime: Bool { system == 0 }

    /// How long ago the write was, zero for a time to come; nil for a place in a log.
    var age: Duration? {
        guard isTime else { return nil }
        let now = SystemCalls.milliseconds
        return .milliseconds(Int64(clamping: now - min(now, location)))
    }
}

extension DatabasePosition: LosslessStringConvertible {
    /// Reads the text of a position; nil for any other text, which may come from a client.
    ///
    /// - Parameter text: three hexadecimal numbers in lower case, as `description` writes them.
    public init?(_ text: String) {
        // Three numbers of 16, 8 and 16 digits at most: a longer text is not looked at.
        guard text.utf8.count <= 42 else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let system = Self.number(parts[0], digits: 16),
            let timeline = Self.number(parts[1], digits: 8).flatMap({ UInt32(exactly: $0) }),
            let location = Self.number(parts[2], digits: 16)
        else { return nil }
        self.init(system: system, timeline: timeline, location: location)
    }

    /// The position as a text without characters that cookies, headers or addresses would have to escape.
    public var description: String {
        [system, UInt64(timeline), location].map { String($0, radix: 16) }.joined(separator: "-")
    }

    /// A number in the one form in which it is written.
    private static func number(_ digits: Substring.UTF8View, digits limit: Int) -> UInt64? {
        guard (1...limit).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else {
            return nil
        }
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

extension DatabasePosition: Codable {
    /// Reads the text.
    ///
    /// Throws `DecodingError` for a text that is no position.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let position = DatabasePosition(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is no position")
        }
        self = position
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension DatabasePosition {
    /// The location that the server writes as `16/B374D848`; nil for any other text.
    package static func location(_ text: String) -> UInt64? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let high = UInt32(parts[0], radix: 16), let low = UInt32(parts[1], radix: 16) else {
            return nil
        }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// The location as the server reads it.
    package static func text(of location: UInt64) -> String {
        "\(String(location >> 32, radix: 16))/\(String(location & 0xffff_ffff, radix: 16))"
    }
}
