/// How far a transaction is kept apart from others that run at the same time.
public enum IsolationLevel: String, Sendable, Hashable, CaseIterable {
    /// Each statement sees what was committed before it began.
    case readCommitted = "READ COMMITTED"
    /// All statements see what was committed before the first.
    case repeatableRead = "REPEATABLE READ"
    /// As if transactions ran one after another; some fail and have to be run again.
    case serializable = "SERIALIZABLE"
}
