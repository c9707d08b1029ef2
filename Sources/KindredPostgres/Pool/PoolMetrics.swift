/// What a pool holds at a moment, and what it has done so far.
public struct PoolMetrics: Sendable, Hashable {
    /// Connections that are open and unused.
    public var idle = 0
    /// Connections that running statements or a lease keep busy.
    public var inUse = 0
    /// Those among them that belong to a transaction or a lease.
    public var leased = 0
    /// Connections that were idle for long and are being tested.
    public var testing = 0
    /// Connections that are being opened.
    public var connecting = 0
    /// Tasks that wait for a connection.
    public var waiting = 0

    /// How often a connection was asked for so far.
    public var acquisitions = 0
    /// How often a task had to wait for one.
    public var waits = 0
    /// Tasks that waited too long so far.
    public var timeouts = 0
    /// Connections opened so far.
    public var opened = 0
    /// Attempts to connect that failed so far.
    public var failedAttempts = 0
    /// Connections that the client closed so far: because of idleness or age, or because it was closed itself.
    public var closed = 0
    /// Leases and transactions so far that took longer than the pool's `leaseWarning`.
    public var longLeases = 0
    /// Connections that ended by themselves so far; `opened - closed - lost` is `idle + inUse + testing` at any moment.
    public var lost = 0
}
