/// Whether a transaction's closure is run again when the server gave up on it.
public struct RetryPolicy: Sendable, Hashable {
    /// How often the closure is run at most.
    public let attempts: Int

    /// Once.
    public static let none = RetryPolicy(attempts: 1)

    /// Up to so many times, after a serialization failure or a deadlock, with growing random pauses in between.
    public static func attempts(_ count: Int) -> RetryPolicy {
        RetryPolicy(attempts: max(1, count))
    }

    /// How long to wait before another attempt: full jitter, 5 ms doubling up to a quarter of a second.
    package static func pause(after attempt: Int) -> Duration {
        .milliseconds(Double.random(in: 0...min(250, 5 * Double(1 << min(attempt, 10)))))
    }

    /// Whether the server gave up on a transaction only because of others that ran at the same time.
    package static func mayRetry(_ error: any Error) -> Bool {
        if (error as? PostgresError)?.mayHaveCommitted == true { return false }
        guard let state = (error as? any SQLStateError)?.sqlState else { return false }
        return state == .serializationFailure || state == .deadlockDetected
    }
}

/// An error that a SQLSTATE caused, of this layer or of one above it.
package protocol SQLStateError: Error {
    var sqlState: SQLState? { get }
}

extension PostgresError: SQLStateError {}
