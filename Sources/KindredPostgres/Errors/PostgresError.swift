/// A failure of the connection layer: of connecting, of a statement, of a transaction.
///
/// ```swift
/// do {
///     try await client.query("INSERT INTO person (email) VALUES (\(email))")
/// } catch let error as PostgresError where error.sqlState == .uniqueViolation {
///     // error.server?.constraint names the constraint
/// }
/// ```
///
/// `description` holds no value of any row or parameter and is safe to log. `debugDescription` adds what the server
/// said, which may quote values of rows, but never parameters or passwords.
public struct PostgresError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// One sentence that says what happened and what to do about it; without values.
    public let message: String
    /// The server's error code, where the server reported the error.
    public let sqlState: SQLState?
    /// What the server said.
    public let server: ServerMessage?
    /// The text of the statement that failed, without its parameters.
    public let statement: String?
    /// The reasons behind this error, such as one for each address that was tried.
    public let underlying: [String]
    /// The transaction whose fate is unknown, if it was tracked; `PostgresClient.resolveCommit` finds out what became of it.
    public let transactionID: PostgresTransactionID?

    package init(
        _ code: Code,
        _ message: String,
        sqlState: SQLState? = nil,
        server: ServerMessage? = nil,
        statement: String? = nil,
        underlying: [String] = [],
        transactionID: PostgresTransactionID? = nil
    ) {
        self.code = code
        self.message = message
        self.sqlState = sqlState ?? server?.sqlState
        self.server = server
        self.statement = statement
        self.underlying = underlying
        self.transactionID = transactionID
    }

    /// Returns the same error with the text of the statement it belongs to, unless it names one already.
    package func of(statement: String?) -> PostgresError {
        guard self.statement == nil, let statement else { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server, statement: statement, underlying: underlying,
            transactionID: transactionID)
    }
}
