/// The number of times a transaction's closure runs after serialization failures, deadlocks, connections that were lost
/// before COMMIT was sent, and servers that take no writes where the address leads to another server.
///
/// In all these cases nothing of the attempt took effect. After a lost connection, as in a failover, the next attempt
/// has another connection, for which it waits as every call does. A closure whose attempt may have been committed is
/// never run again.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of runs.
    public let attempts: Int
    /// Whether a lost connection ends the attempts, as it ends a single statement's.
    private(set) var needsServer = false

    /// The policy of a call that is a transaction of its own: after a deadlock or a serialization failure, which have rolled back
    /// all of it, it runs again, six times at most: each of several writers that were under way before it may cost it an attempt.
    package static let ofCall: RetryPolicy = {
        var policy = RetryPolicy(attempts: 7)
        policy.needsServer = true
        return policy
    }()

    private init(attempts: Int) { self.attempts = attempts }

    /// Once.
    public static let none = RetryPolicy(attempts: 1)

    /// Up to so many runs, with growing random pauses between them.
    public static func attempts(_ count: Int) -> RetryPolicy {
        RetryPolicy(attempts: max(1, count))
    }

    /// The pause before another attempt: exponential backoff with full jitter, from 5 to 250 milliseconds.
    static func pause(after attempt: Int) -> Duration {
        .milliseconds(Double.random(in: 0...min(250, 5 * Double(1 << min(attempt, 10)))))
    }

    /// Whether a concurrent transaction caused the failure, or a connection that was lost before COMMIT was sent, so that a
    /// retry may succeed.
    ///
    /// - Parameter canReconnect: whether a retry has another connection.
    static func mayRetry(_ error: any Error, canReconnect: Bool) -> Bool {
        if let error = error as? PostgresError {
            if error.mayHaveCommitted { return false }
            if error.code == .connectionLost { return canReconnect && !error.mayHaveTakenEffect }
        }
        guard let state = (error as? any SQLStateError)?.sqlState else { return false }
        return state == .serializationFailure || state == .deadlockDetected
    }
}

/// An error with a SQLSTATE, of this layer or one above.
package protocol SQLStateError: Error {
    var sqlState: SQLState? { get }
}

extension PostgresError: SQLStateError {}
