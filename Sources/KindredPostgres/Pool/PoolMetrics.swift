/// What a pool holds at a moment, and what it has done so far.
public struct PoolMetrics: Sendable, Hashable {
    /// Connections that are open and unused.
    public var idle = 0
    /// Connections that a lease or running statements keep busy.
    public var inUse = 0
    /// Connections that are being opened.
    public var connecting = 0
    /// Tasks that wait for a connection.
    public var waiting = 0
    /// Connections opened so far.
    public var opened = 0
    /// Connections closed so far, or lost.
    public var closed = 0
    /// Attempts to connect that failed so far.
    public var failedAttempts = 0
    /// Tasks that waited too long so far.
    public var timeouts = 0
}
