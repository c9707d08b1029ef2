import HarmlessText

/// A failure to connect, of a statement, or of a transaction.
///
/// ```swift
/// do {
///     try await client.query("INSERT INTO person (email) VALUES (\(email))")
/// } catch let error as PostgresError where error.sqlState == .uniqueViolation {
///     // error.server?.constraint names the constraint
/// }
/// ```
///
/// `description` is one line without control characters and without values of rows or parameters: safe to log.
/// `debugDescription` adds the server's message, which may quote values of rows, but never parameters or passwords.
public struct PostgresError: Error, Sendable {
    // Boxed: errors are rare, but values that may hold one are copied with every request.
    private let facts: Facts

    private final class Facts: Sendable {
        let code: Code
        let message: String
        let sqlState: SQLState?
        let server: ServerMessage?
        let statement: String?
        let underlying: [String]
        let transactionID: PostgresTransactionID?
        let mayHaveTakenEffect: Bool

        init(
            code: Code, message: String, sqlState: SQLState?, server: ServerMessage?, statement: String?,
            underlying: [String], transactionID: PostgresTransactionID?, mayHaveTakenEffect: Bool
        ) {
            self.code = code
            self.message = message
            self.sqlState = sqlState
            self.server = server
            self.statement = statement
            self.underlying = underlying
            self.transactionID = transactionID
            self.mayHaveTakenEffect = mayHaveTakenEffect
        }
    }

    package init(
        _ code: Code,
        _ message: String,
        sqlState: SQLState? = nil,
        server: ServerMessage? = nil,
        statement: String? = nil,
        underlying: [String] = [],
        transactionID: PostgresTransactionID? = nil,
        mayHaveTakenEffect: Bool? = nil
    ) {
        // Both may have names and texts of the server.
        facts = Facts(
            code: code, message: message.harmless, sqlState: sqlState ?? server?.sqlState, server: server,
            statement: statement, underlying: underlying.map(\.harmless), transactionID: transactionID,
            mayHaveTakenEffect: mayHaveTakenEffect ?? code.leavesDoubt)
    }

    /// The kind of failure.
    public var code: Code { facts.code }
    /// One sentence: the failure and its remedy, without values.
    public var message: String { facts.message }
    /// The server's error code, if the server reported the error.
    public var sqlState: SQLState? { facts.sqlState }
    /// The server's message.
    public var server: ServerMessage? { facts.server }
    /// The text of the failed statement, without its parameters.
    public var statement: String? { facts.statement }
    /// The causes, such as one for each address tried.
    public var underlying: [String] { facts.underlying }
    /// The transaction whose outcome is unknown, if it was tracked; pass it to `PostgresClient.resolveCommit`.
    public var transactionID: PostgresTransactionID? { facts.transactionID }

    /// Whether the failed action may have taken effect all the same, wholly or in part: trying it again could do it
    /// twice.
    ///
    /// `false` is certain, for every code: the statement was not sent, the server has refused or stopped it, it only reads, or
    /// its transaction is rolled back. Where the answer or the server's confirmation of a cancellation is missing, a statement
    /// of the library's own that reads has no effect; SQL of the program may call functions, so it counts as writing.
    public var mayHaveTakenEffect: Bool { facts.mayHaveTakenEffect }

    /// Whether the failed transaction may have committed.
    package var mayHaveCommitted: Bool { code == .commitUnknown || code == .transactionBroken }

    /// The error with another error as a cause, unless that has the same code.
    func joined(with other: any Error) -> PostgresError {
        if (other as? PostgresError)?.code == code { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server, statement: statement,
            underlying: underlying + ["\(other)"],
            transactionID: transactionID, mayHaveTakenEffect: mayHaveTakenEffect)
    }

    /// The error without the server's words about rows besides the refused row, which quote their values.
    package var withoutDetail: PostgresError {
        guard let server, server.detail != nil else { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server.withoutDetail, statement: statement,
            underlying: underlying, transactionID: transactionID, mayHaveTakenEffect: mayHaveTakenEffect)
    }

    /// The error with a statement's text, unless it has one.
    package func of(statement: String?) -> PostgresError {
        of(statement: statement, mayHaveTakenEffect: mayHaveTakenEffect)
    }

    /// The error of a statement, which has its text unless it has one.
    func of(statement: String?, mayHaveTakenEffect: Bool) -> PostgresError {
        let isKnown = self.statement != nil || statement == nil
        guard !isKnown || self.mayHaveTakenEffect != mayHaveTakenEffect else { return self }
        return PostgresError(
            code, message, sqlState: sqlState, server: server, statement: self.statement ?? statement,
            underlying: underlying, transactionID: transactionID, mayHaveTakenEffect: mayHaveTakenEffect)
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The message, the code and the names concerned; safe to log.
    public var description: String {
        var facts = [sqlState.map { "\(code) \($0)" } ?? "\(code)"]
        if let constraint = server?.constraint { facts.append("constraint \(constraint)") }
        if let table = server?.table { facts.append("table \(server?.schema.map { $0 + "." } ?? "")\(table)") }
        if let column = server?.column { facts.append("column \(column)") }
        return "\(message) [\(facts.joined(separator: ", "))]".harmless
    }

    /// Everything but the values of parameters, including the server's message and the statement's text.
    ///
    /// One fact a line; multi-line texts are indented.
    public var debugDescription: String {
        var lines = [description]
        if let server {
            lines.append("\(server.severity): \(server.message)")
            if let detail = server.detail { lines.append("DETAIL: \(detail)") }
            if let hint = server.hint { lines.append("HINT: \(hint)") }
            if let dataType = server.dataType { lines.append("DATA TYPE: \(dataType)") }
            if let context = server.context { lines.append("CONTEXT: \(context)") }
        }
        if let statement {
            lines.append("STATEMENT: \(statement)")
            if let position = server?.position { lines.append("POSITION: \(position)") }
        }
        lines += underlying.map { "CAUSE: \($0)" }
        return lines.map { $0.harmlessLines() }.joined(separator: "\n")
    }
}
