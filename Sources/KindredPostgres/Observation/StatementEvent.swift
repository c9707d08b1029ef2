/// A statement and its outcome.
///
/// Never holds values of parameters.
public struct StatementEvent: Sendable {
    /// The purpose of a statement.
    public enum Kind: Sendable, Hashable {
        /// A statement of the caller or of an object.
        case statement
        /// BEGIN, COMMIT, ROLLBACK and savepoints.
        case transactionControl
    }

    /// The text, with `$1`, `$2`, … for the parameters.
    public let sql: String
    /// Its purpose.
    public let kind: Kind
    /// From sending to the answer.
    ///
    /// Statements that share a round trip share its time; the time of a shared look-up includes its wait for other
    /// statements.
    public let duration: Duration
    /// The number of rows returned or changed; nil if it failed.
    public let rows: Int?
    /// The error, if it failed.
    public let error: PostgresError?
    /// The calling place in the program; nil for properties and loops, which cannot tell.
    public let place: SourcePlace?
}
