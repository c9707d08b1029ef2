/// How far a transaction is kept apart from others that run at the same time.
public enum IsolationLevel: String, Sendable, Hashable, CaseIterable {
    /// Each statement sees what was committed before it began.
    case readCommitted = "READ COMMITTED"
    /// All statements see what was committed before the first.
    case repeatableRead = "REPEATABLE READ"
    /// As if transactions ran one after another; some fail and have to be run again.
    case serializable = "SERIALIZABLE"
}

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
}
