import HarmlessText

/// The server's number of a transaction; it tells the outcome after the connection was lost.
public struct PostgresTransactionID: Sendable, Hashable, CustomStringConvertible {
    /// The number, unique per server and timeline.
    public let number: UInt64
    /// The server's timeline, as in the names of its WAL files; a failover begins a new timeline.
    public let timeline: String

    /// The number and the timeline, such as `7423 on 00000001`; safe to log.
    public var description: String { "\(number) on \(timeline)".harmless }
}
