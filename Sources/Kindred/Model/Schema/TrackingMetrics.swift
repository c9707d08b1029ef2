/// Counters and gauges of what follows a database's changes in this process.
public struct TrackingMetrics: Sendable, Hashable {
    /// Subscribers of the reader: each sequence, all live requests together, all contexts together.
    public var subscribers = 0
    /// Readings of the outbox.
    public var readings = 0
    /// Records that were read.
    public var records = 0
    /// Records of the last reading.
    public var backlog = 0
    /// The age of the oldest record of the last reading, when it was read.
    public var oldestRecord: Duration = .zero
    /// Notifications that woke the reader.
    public var wakeUps = 0
    /// Steps that were run again, because the connection was lost or the server was not to be had.
    public var retries = 0
    /// Live requests that are evaluated; equal ones are one.
    public var liveRequests = 0
    /// Statements that contexts and live requests asked because of changes, besides the readings.
    public var statements = 0
    /// How often changes were told without naming rows, by reason.
    public var gaps: [String: Int] = [:]

    /// Nothing has been counted.
    public init() {}
}
