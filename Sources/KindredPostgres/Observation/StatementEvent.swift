/// A statement that was sent, and how it went; tasks whose look-ups share a statement are told of it each.
///
/// Never holds the values of its parameters.
public struct StatementEvent: Sendable {
    /// What a statement is for.
    public enum Kind: Sendable, Hashable {
        /// A statement of the caller or of an object.
        case statement
        /// BEGIN, COMMIT, ROLLBACK and savepoints.
        case transactionControl
    }

    /// The text, with `$1`, `$2`, … for the parameters.
    public let sql: String
    /// What it is for.
    public let kind: Kind
    /// From sending to the answer; statements that share a round trip share its time, and a look-up's waiting for others
    /// that it shares a statement with is part of it.
    public let duration: Duration
    /// Rows given or changed; nil if it failed.
    public let rows: Int?
    /// The error, if it failed.
    public let error: PostgresError?
    /// Where in the program the library was called for it; nil where that is a property or a loop, which cannot tell.
    public let place: SourcePlace?
}
