/// The connection had ended before the request was sent; another connection can take it.
struct ConnectionGone: Error {
    /// The reason, if known.
    var reason: PostgresError?

    /// The error for a caller that cannot use another connection.
    func lost(_ statement: String?) -> PostgresError {
        if reason?.code == .closed { return PostgresError(.closed, "The client was closed", statement: statement) }
        guard let reason, reason.code == .connectionLost, reason.server != nil else {
            return PostgresError(.connectionLost, "The connection has ended", statement: statement)
        }
        return reason.of(statement: statement)
    }
}

extension PostgresError {
    /// The error of a transaction that a statement inside has ended.
    static func transactionBroken(_ cause: PostgresError? = nil) -> PostgresError {
        PostgresError(
            .transactionBroken,
            """
            A statement inside the transaction has ended it, as COMMIT or ROLLBACK in a procedure may: what was written \
            before may be stored or not; look at the rows
            """,
            underlying: cause.map { [$0.description] } ?? [])
    }
}
