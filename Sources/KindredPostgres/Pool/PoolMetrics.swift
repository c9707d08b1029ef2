/// A pool's gauges and counters.
public struct PoolMetrics: Sendable, Hashable {
    /// Open, unused connections.
    public var idle = 0
    /// Connections that run statements or are leased.
    public var inUse = 0
    /// Connections in use by a transaction or lease.
    public var leased = 0
    /// Connections tested after a long idle time.
    public var testing = 0
    /// Connections being opened.
    public var connecting = 0
    /// Waiting tasks.
    public var waiting = 0

    /// Requests for a connection.
    public var acquisitions = 0
    /// Requests that had to wait.
    public var waits = 0
    /// Requests that timed out.
    public var timeouts = 0
    /// Requests that had to wait for one of the connections that `maximumConnectionsPerTenant` leaves to their tenant.
    public var tenantWaits = 0
    /// The number of these waits that timed out.
    public var tenantTimeouts = 0
    /// Connections opened.
    public var opened = 0
    /// Failed attempts to connect.
    public var failedAttempts = 0
    /// Connections that the client closed: idle, old, or at its own end.
    public var closed = 0
    /// Transactions, and calls that are transactions of their own, that were run again: after a deadlock, a serialization
    /// failure, or a connection that was lost before COMMIT was sent; and statements that a server refused because it takes no
    /// writes, which were sent to another server.
    public var retries = 0
    /// Leases and transactions longer than the pool's `leaseWarning`.
    public var longLeases = 0
    /// Connections that ended otherwise; `opened - closed - lost` is always `idle + inUse + testing`.
    public var lost = 0
}
