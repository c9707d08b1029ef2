import HarmlessText

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
/// `description` holds no value of any row or parameter, is one line without control characters, and is safe to log.
/// `debugDescription` adds what the server said, which may quote values of rows, but never parameters or passwords.
public struct PostgresError: Error, Sendable {
    // Behind one reference: errors are rare, but places that may hold one are copied with every request.
    private let facts: Facts

    private final class Facts: Sendable {
        let code: Code
        let message: String
        let sqlState: SQLState?
        let server: ServerMessage?
        let statement: String?
        let underlying: [String]
        let transactionID: PostgresTransactionID?

        init(
            _ code: Code, _ message: String, _ sqlState: SQLState?, _ server: ServerMessage?, _ statement: String?,
            _ underlying: [String], _ transactionID: PostgresTransactionID?
        ) {
            self.code = code
            self.message = message
            self.sqlState = sqlState
            self.server = server
            self.statement = statement
            self.underlying = underlying
            self.transactionID = transactionID
        }
    }

    package init(
        _ code: Code,
        _ message: String,
        sqlState: SQLState? = nil,
        server: ServerMessage? = nil,
        statement: String? = nil,
        underlying: [String] = [],
        transactionID: PostgresTransactionID? = nil
    ) {
        // Names and words of the server are in both.
        facts = Facts(
            code, message.harmless, sqlState ?? server?.sqlState, server, statement, underlying.map(\.harmless),
            transactionID)
    }

    /// What went wrong.
    public var code: Code { facts.code }
    /// One sentence that says what happened and what to do about it; without values.
    public var message: String { facts.message }
    /// The server's error code, where the server reported the error.
    public var sqlState: SQLState? { facts.sqlState }
    /// What the server said.
    public var server: ServerMessage? { facts.server }
    /// The text of the statement that failed, without its parameters.
    public var statement: String? { facts.statement }
    /// The reasons behind this error, such as one for each address that was tried.
    public var underlying: [String] { facts.underlying }
    /// The transaction whose fate is unknown, if it was tracked; `PostgresClient.resolveCommit` finds out what became of it.
    public var transactionID: PostgresTransactionID? { facts.transactionID }

    /// Whether the database may have what the failed transaction wrote.
    package var mayHaveCommitted: Bool { code == .commitUnknown || code == .transactionBroken }

    /// Returns the same error with another one behind it, unless that is of the same kind.
    func joined(with other: any Error) -> PostgresError {
        if (other as? PostgresError)?.code == code { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server, statement: statement,
            underlying: underlying + ["\(other)"],
            transactionID: transactionID)
    }

    /// Returns the same error with the text of the statement it belongs to, unless it names one already.
    package func of(statement: String?) -> PostgresError {
        guard self.statement == nil, let statement else { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server, statement: statement, underlying: underlying,
            transactionID: transactionID)
    }
}
